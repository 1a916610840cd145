"""Write what the program prints today into the examples of README.md and docs/.

`python -m tests.support.write_examples`, in the checkout.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.support.documents import blocks, documents, examples
from tests.support.example_site import WWW
from tests.support.program import Program
from tests.support.terminal import PROGRAM, Terminal, first_crawl_is_silent
from tests.support.webserver import WebServer


def main() -> None:
    for document in documents():
        shown = blocks(document, "console")
        if shown:
            with WebServer() as site, tempfile.TemporaryDirectory() as directory:
                terminal = Terminal(Program(Path(directory)), site)
                if first_crawl_is_silent(examples(shown[0])):
                    terminal.run(f"{PROGRAM} crawl -q {WWW}/")
                text = document.read_text(encoding="utf-8")
                for block in shown:
                    printed = [
                        f"$ {example.command}\n{terminal.printed(example.command)}" for example in examples(block)
                    ]
                    text = text.replace(f"```console\n{block.text}```", f"```console\n{''.join(printed)}```")
                document.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
