"""`sitemap-crawler write` with a clock: `python benchmarks/timed_write.py STATE OUTPUT`.

Prints the seconds of the writer, from the decided inventory to published files, and the number of listed URLs as JSON.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from pathlib import Path

from sitemap_crawler.publish.conclude import write
from sitemap_crawler.publish.publisher import Publisher

# As the command does.
gc.disable()
spent = 0.0
publish = Publisher.publish


def timed(self: Publisher) -> None:
    global spent
    started = time.perf_counter()
    publish(self)
    spent += time.perf_counter() - started


Publisher.publish = timed
report = write(Path(sys.argv[1]), {"output": sys.argv[2]}, config=None)
print(json.dumps({"seconds": spent, "listed": report.listed, "outcome": report.outcome}))
