"""The property of Search Console and the site of Bing Webmaster Tools that a sitemap belongs to."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sitemap_crawler.exceptions import OptionError, ServiceRefusedError
from sitemap_crawler.urls.normalise import Resolver
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sitemap_crawler.config.search_engines import SearchEngineOptions
    from sitemap_crawler.search_engines.bing import BingSite
    from sitemap_crawler.search_engines.google import Property
    from sitemap_crawler.search_engines.published_files import PublishedSite

DOMAIN_PREFIX = "sc-domain:"
"""First characters of the name of a property that covers all subdomains and schemes of a domain."""
MAX_NAMED = 5
"""Maximum number of properties that a message names."""
NOT_COVERED = "not-covered"
"""Reason of the error that no property or site of the account has a URL."""
_UNVERIFIED = "unverified"


def covers(property_name: str, url: str) -> bool:
    """Return whether a property covers a normalised URL. The name may have international characters."""
    if property_name.lower().startswith(DOMAIN_PREFIX):
        domain = _domain(property_name)
        host = urlsplit(url).hostname or ""
        return bool(domain) and (host == domain or host.endswith(f".{domain}"))
    prefix = _prefix(property_name)
    return prefix is not None and url.startswith(prefix)


@lru_cache(maxsize=2_048)
def _domain(property_name: str) -> str | None:
    home = Resolver(()).normalise(f"https://{property_name[len(DOMAIN_PREFIX) :]}/")
    return urlsplit(home or "").hostname


@lru_cache(maxsize=2_048)
def _prefix(property_name: str) -> str | None:
    return Resolver(()).normalise(property_name)


def google_property(
    given: str | None,
    properties: Callable[[], Sequence[Property]],
    url: str,
    *,
    account: str,
    submitting: bool,
    checking: bool = False,
) -> str:
    """Return the property that covers the URL of a sitemap or page: the given one, else the most specific one.

    A prefix of the URL is more specific than a domain. To submit, the account must own the property or have full
    permission; to read, any user may. With `checking` the account is asked for a given property, too. Raises
    ServiceRefusedError with the properties that there are.
    """
    wanted = given if given is not None and covers(given, url) else None
    if wanted is not None and not checking:
        return wanted
    known = properties()
    usable = [each for each in known if each.may_submit or not (submitting or each.permission == _UNVERIFIED)]
    name = _most_specific((each.name for each in usable if wanted in (None, each.name)), url)
    if name is not None:
        return name
    names = _named([f"{each.name} ({each.permission})" for each in known])
    rights = "an owner or full user" if submitting else "a user"
    what = f"property of Search Console for {url}" if wanted is None else f"usable property {wanted}"
    remedy = "or give google_property" if wanted is None else "or correct google_property"
    raise ServiceRefusedError(
        f"the account {account} has no {what}; it has {names}",
        advice=f"make {account} {rights} of the property, {remedy}",
        reason=NOT_COVERED,
    )


def bing_site(given: str | None, sites: Callable[[], Sequence[BingSite]], url: str, *, checking: bool = False) -> str:
    """Return the site that the URL of a sitemap is in: the given one, else the longest verified one.

    With `checking` the account is asked for a given site, too. Raises ServiceRefusedError with the sites that there
    are.
    """
    wanted = given if given is not None and covers(given, url) else None
    if wanted is not None and not checking:
        return wanted
    known = sites()
    name = _most_specific((each.url for each in known if each.is_verified and wanted in (None, each.url)), url)
    if name is not None:
        return name
    names = _named([f"{each.url}{'' if each.is_verified else ' (not verified)'}" for each in known])
    what = f"site of Bing Webmaster Tools for {url}" if wanted is None else f"site {wanted} in Bing Webmaster Tools"
    remedy = "or give bing_site" if wanted is None else "or correct bing_site"
    raise ServiceRefusedError(
        f"the account has no verified {what}; it has {names}",
        advice=f"add the site to Bing Webmaster Tools and verify it there, {remedy}",
        reason=NOT_COVERED,
    )


def check_given_names(options: SearchEngineOptions, site: PublishedSite) -> None:
    """Raise OptionError if a given property, site or place of a key file belongs to none of the published files."""
    published = [file.url for files in site.hosts for file in files.entries]
    for option in ("google_property", "bing_site"):
        name = getattr(options, option)
        if name is not None and not any(covers(name, url) for url in published):
            raise OptionError(
                f"{option} {printable(name)} does not cover {printable(published[0])}: correct it, or leave it out and "
                "the account is searched"
            )
    hosts = {files.host for files in site.hosts}
    for url in options.indexnow_key_location:
        if urlsplit(url).netloc not in hosts:
            raise OptionError(
                f"indexnow_key_location {printable(url)} is of another host than the published files: give a URL of "
                f"{printable(', '.join(sorted(hosts)))}"
            )


def _most_specific(names: Iterable[str], url: str) -> str | None:
    covering = [name for name in names if covers(name, url)]
    return max(covering, key=lambda name: (not name.lower().startswith(DOMAIN_PREFIX), len(name), name), default=None)


def _named(names: list[str]) -> str:
    if not names:
        return "none"
    more = f" and {len(names) - MAX_NAMED:,} others" if len(names) > MAX_NAMED else ""
    return f"{', '.join(names[:MAX_NAMED])}{more}"
