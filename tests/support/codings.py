"""Compression by the content codings that the Python version in use may lack."""

from __future__ import annotations

import sys
import zlib

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = ["deflated", "zstd"]


def deflated(body: bytes) -> bytes:
    """Compress to raw deflate, without the zlib header that RFC 9110 asks for; some servers send it so."""
    compressor = zlib.compressobj(wbits=-15)
    return compressor.compress(body) + compressor.flush()
