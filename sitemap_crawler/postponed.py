"""What Scrapy imports and a crawl like ours hardly ever uses is loaded when somebody does.

It is Twisted's reactor, with TLS and all of cryptography, its web server for the names of status codes, a guesser of
encodings: a quarter of the start.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

from sitemap_crawler.late_certificates import import_aiohttp

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

POSTPONED: Mapping[str, tuple[str, ...]] = {
    "http.cookiejar": (),
    "twisted.internet.asyncioreactor": (),
    "twisted.web.http": (),
    "charset_normalizer": ("from_bytes",),
    "scrapy.utils.versions": ("get_versions",),
}
"""Modules, and what others take from each by name, to call it some day. Scrapy's are last: to find them imports Scrapy,
which is to find the others in their places."""


class _Postponed(ModuleType):
    """A module that is executed when something in it is asked for.

    importlib's LazyLoader knows no stand-ins, and with Python 3.11 the import statement itself makes it load.
    """

    def __getattr__(self, name: str) -> Any:
        if name == "__path__":
            # An import statement asks whether it is a package.
            raise AttributeError(name)
        if name in POSTPONED[self.__name__]:
            return _stand_in(self, name)
        _load(self)
        return getattr(self, name)


def _load(module: ModuleType) -> None:
    spec = module.__spec__
    if isinstance(module, _Postponed) and spec is not None and spec.loader is not None:
        module.__class__ = ModuleType  # type: ignore[assignment]
        spec.loader.exec_module(module)


def _stand_in(module: ModuleType, name: str) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        _load(module)
        return getattr(module, name)(*args, **kwargs)

    return call


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
