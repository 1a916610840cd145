"""What Scrapy imports and a crawl like ours hardly ever uses is loaded when somebody does.

It is Twisted's reactor, with TLS and all of cryptography, its threads and timers, its web server for the names of
status codes, a guesser of encodings: a quarter of the start.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

from sitemap_crawler.late_certificates import import_aiohttp

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import FrameType

POSTPONED: Mapping[str, tuple[str, ...]] = {
    "http.cookiejar": (),
    "twisted.internet.asyncioreactor": (),
    "twisted.internet.task": ("Cooperator", "LoopingCall", "deferLater"),
    "twisted.internet.threads": ("deferToThread",),
    "twisted.web.http": (),
    "charset_normalizer": ("from_bytes",),
    "webbrowser": ("open",),
    "scrapy.resolver": ("dnscache",),
    "scrapy.utils.versions": ("get_versions",),
}
"""Modules, and what Scrapy takes from each by name, to call it or look into it some day. Its own are last: to find them
imports Scrapy, which is to find the others in their places."""


class _Postponed(ModuleType):
    """A module that is executed when something in it is asked for.

    importlib's LazyLoader knows no stand-ins, and with Python 3.11 the import statement itself makes it load. Only
    Scrapy gets stand-ins: who else asks may want to derive a class.
    """

    def __getattr__(self, name: str) -> Any:
        if name == "__path__":
            # An import statement asks whether it is a package.
            raise AttributeError(name)
        if name in POSTPONED[self.__name__] and _scrapy_asks(sys._getframe(1)):
            return _StandIn(self, name)
        _load(self)
        return getattr(self, name)


def _load(module: ModuleType) -> None:
    spec = module.__spec__
    if isinstance(module, _Postponed) and spec is not None and spec.loader is not None:
        module.__class__ = ModuleType  # type: ignore[assignment]
        spec.loader.exec_module(module)


def _scrapy_asks(frame: FrameType | None) -> bool:
    name = ""
    while frame is not None and (name := frame.f_globals.get("__name__", "")).startswith("importlib."):
        # Of a package the import statement asks by a function.
        frame = frame.f_back
    return name.partition(".")[0] == "scrapy"


class _StandIn:
    """Is called, and has the attributes, as what it stands for."""

    def __init__(self, module: ModuleType, name: str) -> None:
        self._module, self._name = module, name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._itself()(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._itself(), name)

    def _itself(self) -> Any:
        _load(self._module)
        return getattr(self._module, self._name)


def postpone() -> None:
    """To be called before Scrapy is imported, by a command that is going to crawl; what is imported already stays."""
    for name in POSTPONED:
        if name not in sys.modules:
            _put_in_place(name)
    import_aiohttp()


def _put_in_place(name: str) -> None:
    spec = find_spec(name)
    if spec is None:
        return
    module = module_from_spec(spec)
    module.__class__ = _Postponed
    sys.modules[name] = module
    package, _, attribute = name.rpartition(".")
    if package:
        setattr(sys.modules[package], attribute, module)
