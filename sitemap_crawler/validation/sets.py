"""Rules of a set of files: duplicates and twins, one-sided language versions, dates of the sitemaps in an index.

All URLs of a set are compared by 64-bit hashes. Only where a hash occurs twice, the files are read again and the URLs
themselves are compared. So the memory does not grow with the set, and no finding depends on a hash alone.
"""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.validation import protocol
from sitemap_crawler.validation.findings import Collector, Issue, issue
from sitemap_crawler.validation.keys import Spelling, hash_of, key_of, pair_hash, spelling_of
from sitemap_crawler.validation.listing import listings, listings_with_keys
from sitemap_crawler.validation.values import Url, moved, parse_url, w3c_datetime

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from sitemap_crawler.validation.findings import Kind
    from sitemap_crawler.validation.listing import Listing
    from sitemap_crawler.validation.reading.reader import Node
    from sitemap_crawler.validation.reading.spool import Numbers
    from sitemap_crawler.validation.results import Child, FileTask
    from sitemap_crawler.validation.statistics import Dated

MAX_HASHES = 400_000
"""Maximum number of hashes that are compared at once, at about 60 bytes each."""
MAX_COMPARED = 50_000
"""Maximum number of URLs that are compared at once, at about 500 bytes each."""
_ZONES = timedelta(hours=14)
"""Greatest difference between a day in some time zone and the same day in UTC."""


_KINDS = ("slash-twin", "www-twin", "scheme-twin")


class CheckedFile(NamedTuple):
    """A file of a set, after its own check."""

    task: FileTask
    kind: Kind
    group: str
    """Name of a set of files in which a URL must be unique."""
    position: int
    """Position of its hashes in the collections of the set."""


class _Place(NamedTuple):
    """A listing of a URL."""

    file: str
    line: int
    spelling: Spelling


def find_duplicates(files: Sequence[CheckedFile], keys: Numbers, findings: Collector) -> int:
    """Report URLs that are listed twice, and twins. Return the number of entries whose page an earlier entry lists."""
    groups: dict[str, list[CheckedFile]] = {}
    for file in files:
        groups.setdefault(file.group, []).append(file)
    count = 0
    for group in groups.values():
        for repeated in _repeated(group, keys):
            holders = [file for file in group if not repeated.isdisjoint(keys[file.position])]
            duplicates = _compare(holders, repeated, findings)
            count += duplicates if group[0].kind != "sitemapindex" else 0
    return count


def _repeated(files: Sequence[CheckedFile], keys: Numbers) -> Iterator[set[int]]:
    """Yield hashes that occur more than once, a limited number at once."""
    parts = 1 + sum(keys.count(file.position) for file in files) // MAX_HASHES
    for part in range(parts):
        chosen = [_part(keys[file.position], parts, part) for file in files]
        seen: set[int] = set().union(*chosen)
        if len(seen) == sum(map(len, chosen)):
            continue
        seen.clear()
        repeated: set[int] = set()
        for numbers in chosen:
            repeated.update(seen.intersection(numbers))
            seen.update(numbers)
            repeated.update(number for number, count in Counter(numbers).items() if count > 1)
        del seen
        yield from _batches(repeated, MAX_COMPARED)


def _part(numbers: Collection[int], parts: int, part: int) -> Collection[int]:
    """Return one of so many parts of the numbers."""
    return numbers if parts == 1 else [number for number in numbers if number % parts == part]


def _batches(numbers: Iterable[int], size: int) -> Iterator[set[int]]:
    iterator = iter(numbers)
    while batch := set(islice(iterator, size)):
        yield batch


def _compare(files: Iterable[CheckedFile], hashes: set[int], findings: Collector) -> int:
    """Compare the URLs whose keys have some hashes. Return the number of entries whose page an earlier entry lists."""
    known: dict[str, list[_Place]] = {}
    duplicates = 0
    for file in files:
        name = file.task.name
        for listing in listings_with_keys(file.task.path, file.kind, hashes):
            url = parse_url(listing.loc)
            if not isinstance(url, Url):
                continue
            key = key_of(url)
            if hash_of(key) not in hashes:
                continue
            places, spelling = known.setdefault(key, []), spelling_of(url)
            same = next((place for place in places if place.spelling == spelling), None)
            if same:
                duplicates += 1
                where = _where(same, name)
                findings.add(
                    name, issue("duplicate-loc", f"the URL is listed before, {where}", listing.line), listing.loc
                )
                continue
            if places:
                findings.add(name, _twin(places, _Place(name, listing.line, spelling)), listing.loc)
            places.append(_Place(name, listing.line, spelling))
    return duplicates


def _twin(places: Iterable[_Place], place: _Place) -> Issue:
    """Return the issue of a twin of the URLs at some places: of the most similar one."""
    candidates = [(_differences(other, place), other) for other in places]
    differences, nearest = min(candidates, key=lambda candidate: (len(candidate[0]), _KINDS.index(candidate[0][-1][0])))
    names = " and ".join(name for _, name in differences)
    message = f"the URL differs only by {names} from one that is listed before, {_where(nearest, place.file)}"
    return issue(differences[-1][0], message, place.line)


def _differences(place: _Place, other: _Place) -> list[tuple[str, str]]:
    """Return rule and name of each difference, the greatest one last."""
    one, two = place.spelling, other.spelling
    differences = []
    if one.has_slash != two.has_slash:
        differences.append(("slash-twin", "a slash at the end of its path"))
    if one.has_www != two.has_www:
        differences.append(("www-twin", "www."))
    if one.scheme != two.scheme:
        differences.append(("scheme-twin", "http or https"))
    return differences


def _where(place: _Place, file: str) -> str:
    return f"in line {place.line}" if place.file == file else f"in {place.file}, line {place.line}"


def find_one_sided_alternates(files: Sequence[CheckedFile], keys: Numbers, pairs: Numbers, findings: Collector) -> None:
    """Report alternates that are listed in the set and do not name the page that names them."""
    naming = [file for file in files if pairs.count(file.position)]
    parts = 1 + sum(pairs.count(file.position) for file in naming) // MAX_HASHES
    for part in range(parts):
        unanswered = _unanswered(naming, pairs, parts, part)
        for batch in _batches(unanswered, MAX_COMPARED):
            targets = {unanswered[pair] for pair in batch}
            holders = [file for file in files if not targets.isdisjoint(keys[file.position])]
            known = _known(holders, keys, targets)
            one_sided = {pair for pair in batch if unanswered[pair] in known}
            claims = [(file, own) for file in naming if (own := one_sided.intersection(pairs[file.position][::3]))]
            listed = _listed(holders, known) if claims else set()
            for file, own in claims:
                _report_one_sided(file, own, listed, findings)


def _known(files: Iterable[CheckedFile], keys: Numbers, wanted: set[int]) -> set[int]:
    """Return the hashes of a set that are among the keys of some files."""
    known: set[int] = set()
    for file in files:
        known |= wanted.intersection(keys[file.position])
    return known


def _unanswered(files: Sequence[CheckedFile], pairs: Numbers, parts: int, part: int) -> dict[int, int]:
    """Return hashes of a page and its alternate, if the alternate does not name the page, with that of its key."""
    stated: set[int] = set()
    for file in files:
        stated.update(pair for pair in pairs[file.position][::3] if pair % parts == part)
    unanswered: dict[int, int] = {}
    for file in files:
        numbers = pairs[file.position]
        unanswered |= {
            pair: target
            for pair, answer, target in zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True)
            if answer % parts == part and answer not in stated
        }
    return unanswered


def _listed(files: Iterable[CheckedFile], keys: set[int]) -> set[int]:
    """Return hashes of the URLs that are listed and whose keys have some hashes."""
    listed = set()
    for file in files:
        for listing in listings_with_keys(file.task.path, file.kind, keys):
            url = parse_url(listing.loc)
            if isinstance(url, Url) and hash_of(key_of(url)) in keys:
                listed.add(hash_of(str(url)))
    return listed


def _report_one_sided(file: CheckedFile, claims: set[int], listed: set[int], findings: Collector) -> None:
    """Report one-sided alternates of a file. Those that nobody would see are only counted."""
    name, rule = file.task.name, "alternate-not-reciprocal"
    for listing, page, link, target in _alternates(file):
        claim = pair_hash(str(page), str(target))
        if claim not in claims:
            continue
        claims.discard(claim)
        if hash_of(str(target)) not in listed:
            continue
        if findings.needs(name, rule):
            message = f"the alternate {target} is listed and does not name this page"
            findings.add(name, issue(rule, message, link.line), listing.loc)
        else:
            findings.count(name, rule, listing.loc)


def _alternates(file: CheckedFile) -> Iterator[tuple[Listing, Url, Node, Url]]:
    """Yield the alternates of a file: entry, page, element and target."""
    for listing in listings(file.task.path, file.kind):
        page = parse_url(listing.loc)
        if listing.node is None or not isinstance(page, Url):
            continue
        for link in listing.node.children:
            if link.namespace == protocol.XHTML and link.attributes.get("hreflang"):
                target = parse_url(link.attributes.get("href", ""))
                if isinstance(target, Url):
                    yield listing, page, link, target


def index_date_issue(child: Child, newest: Dated | None) -> Issue | None:
    """Return the issue of a sitemap whose lastmod in the index is older than its newest entry."""
    moment = w3c_datetime(child.lastmod)
    if moment.time is None or newest is None:
        return None
    entry = w3c_datetime(newest.text)
    if entry.time is None:
        return None
    # A day without a time begins and ends in some time zone.
    latest = moved(moment.time, moment.period + (_ZONES if moment.period else timedelta(0)))
    if moved(entry.time, -_ZONES if entry.period else timedelta(0)) <= latest:
        return None
    message = f"the lastmod {child.lastmod} is older than the newest entry of the sitemap, {newest.text}"
    return issue("index-lastmod-old", message, child.line)
