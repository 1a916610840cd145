"""What a tree costs beside its parse."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

FAULTS = """
import resource
from sitemap_crawler.extract.document import parse_document
from sitemap_crawler.urls.normalise import Resolver

def parse(times):
    for _ in range(times):
        parse_document(body, url="https://example.com/", content_type="text/html", resolver=resolver)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

body, resolver = b"<p class=x>text <a href=y>z</a></p>" * 2_000, Resolver()
before = parse(5)
print(parse(20) - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="no other C library can be told")
def test_the_next_tree_takes_the_memory_of_the_last() -> None:
    """Each page of memory that the kernel has to give anew is a fault; without our settings these are thousands."""
    done = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 100
