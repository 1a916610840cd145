"""The tables of the inventory, and the version by which a later release knows how to migrate a file or to refuse it."""

from __future__ import annotations

from enum import IntEnum

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    String,
    Table,
    Text,
    false,
)

from sitemap_crawler.traps.detector import Trap

SCHEMA_VERSION = 4

metadata = MetaData()
# SQLite makes only a column declared INTEGER its row id, which costs no bytes of its own.
RowId = BigInteger().with_variant(Integer(), "sqlite")


class UrlState(IntEnum):
    """Where a URL stands in the current run."""

    KNOWN = 0
    """Recorded, not to be fetched: out of scope, excluded by a rule, too deep, an orphan."""
    QUEUED = 1
    LEASED = 2
    """Handed to the crawler, no answer stored yet; queued again when the run is continued."""
    FETCHED = 3
    """Asked for in this run, whatever came of it."""
    NOT_DUE = 4
    """Excluded for the same reason so often that it is revisited now and then only."""
    FACETS = Trap.FACETS
    ENDLESS = Trap.ENDLESS
    SESSION = Trap.SESSION
    NESTING = Trap.NESTING
    """Refused for a trap, in this run and in later ones."""


TRAPPED = tuple(map(int, Trap))


meta = Table(
    "meta",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("requested_url", Text, nullable=False),
    # Where the run goes on from: another than the requested one when that redirects to its https or www variant.
    Column("start_url", Text, nullable=False),
    Column("sitemap_url", Text, nullable=False),
    Column("started", Float, nullable=False),
    Column("finished", Float),
    Column("outcome", String(32)),
    Column("ended_by", String(64)),
    # Whether every known URL has its state for this run.
    Column("planned", Boolean, nullable=False, server_default=false()),
    # What shapes decisions and files, by option name, so that `write` and `explain` need not be told again; no secrets.
    Column("options", JSON),
)

urls = Table(
    "urls",
    metadata,
    Column("id", RowId, primary_key=True),
    # 64 bits of BLAKE2b of the URL: an index over whole URLs would double the file. Two of a million URLs collide with
    # a probability of 3 in 10^8.
    Column("key", BigInteger, nullable=False, unique=True),
    Column("url", Text, nullable=False),
    Column("state", SmallInteger, nullable=False),
    Column("depth", Integer, nullable=False),
    Column("referrer", RowId),
    Column("first_seen", RowId, nullable=False),
    Column("named", RowId),
    Column("unlinked_since", RowId),
)
"""Three run numbers: `first_seen` is the run in which the URL was discovered, `named` the latest in which a sitemap
that is not ours named it, `unlinked_since` the first of the finished runs in which nothing led to it, NULL while
something does. What only a sitemap names has no referrer."""

Index("urls_queue", urls.c.depth, urls.c.id, sqlite_where=urls.c.state == int(UrlState.QUEUED))

observations = Table(
    "observations",
    metadata,
    Column("url_id", RowId, primary_key=True),
    Column("run", RowId, nullable=False),
    Column("fetched", Float, nullable=False),
    Column("status", SmallInteger),
    Column("error", Text),
    Column("blocked_by", Text),
    Column("content_type", Text),
    Column("body_bytes", BigInteger, nullable=False),
    Column("body_hash", LargeBinary),
    Column("location", RowId),
    Column("refresh", RowId),
    Column("canonical", RowId),
    Column("noindex", Boolean, nullable=False),
    Column("nofollow", Boolean, nullable=False),
    Column("unavailable_after", Float),
    Column("directives", Text),
    Column("lastmod", Float),
    Column("lastmod_source", String(32)),
    # Whether the date came without a time of day.
    Column("lastmod_day", Boolean, nullable=False, server_default=false()),
    Column("fingerprint", LargeBinary),
    Column("title", Text),
    # What a conditional request is made of, and which readers made this observation: others' work is not kept.
    Column("etag", Text),
    Column("modified_header", Text),
    # Stands for the headers that decide on indexing: a 304 may bring others, and then confirms nothing.
    Column("header_mark", LargeBinary),
    Column("readers", Text),
    Column("not_modified", Boolean, nullable=False, server_default=false()),
    # The last tries failed, for a reason that may pass: everything else here is what was seen before.
    Column("failed_status", SmallInteger),
    Column("failed_error", Text),
    Column("failed_since", RowId),
    # [[code, URL id], ...]: the language versions that the page names, each code once; absent when it names none. It
    # stands before the blobs, so that a look at it alone does not read them.
    Column("alternates", JSON(none_as_null=True)),
    # Delta-coded ids of the URLs in scope that the page links to.
    Column("links", LargeBinary),
    # {"images": [...], "image_texts": {...}, "videos": [...], "article": {...}}; absent when there is nothing to say.
    Column("extras", JSON(none_as_null=True)),
    # Facts for warnings and hints, by kind; absent on nearly all pages.
    Column("notes", JSON(none_as_null=True)),
)

decisions = Table(
    "decisions",
    metadata,
    Column("url_id", RowId, primary_key=True),
    Column("decision", String(16), nullable=False),
    Column("reason", String(32), nullable=False),
    Column("evidence", Text),
    Column("lastmod", Float),
    Column("lastmod_source", String(32)),
    Column("lastmod_day", Boolean, nullable=False, server_default=false()),
    # The run since which the reason is this one.
    Column("since", RowId, nullable=False),
)

# Sets of language versions that all name each other: which one a page is in, and its codes there, separated by blanks.
clusters = Table(
    "clusters",
    metadata,
    Column("url_id", RowId, primary_key=True),
    Column("cluster", RowId, nullable=False, index=True),
    Column("codes", Text, nullable=False),
)

# The language versions of a page that a foreign sitemap names, besides those that the page names.
named_alternates = Table(
    "named_alternates",
    metadata,
    Column("url_id", RowId, primary_key=True),
    # The run that read it, and the sitemap by the key that `urls` has.
    Column("run", RowId, nullable=False),
    Column("sitemap", BigInteger, nullable=False, index=True),
    # [[code, URL id], ...], each code once
    Column("alternates", JSON, nullable=False),
)

# What each publication added, changed and removed.
changes = Table(
    "changes",
    metadata,
    # Publications are counted: `write` publishes a run once more.
    Column("publication", RowId, primary_key=True),
    Column("url_id", RowId, primary_key=True),
    Column("run", RowId, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("before", Float),
    Column("after", Float),
)

# The sitemaps that a run reads for the URLs that they name: what is not done yet, and what was wrong with each.
seeds = Table(
    "seeds",
    metadata,
    Column("run", RowId, primary_key=True),
    Column("url", Text, primary_key=True),
    Column("named_by", Text, nullable=False),
    Column("level", SmallInteger, nullable=False),
    Column("done", Boolean, nullable=False),
    Column("problem", Text),
    # Whether it could not be had for a reason that may pass.
    Column("passing", Boolean, nullable=False, server_default=false()),
)

# The robots.txt of each scheme, host and port that has one, and the agent that it was read for.
robots = Table(
    "robots",
    metadata,
    Column("origin", Text, primary_key=True),
    Column("run", RowId, nullable=False),
    Column("agent", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),
)

# URLs of the site that were met in nofollow links, by the key of `urls`: no rows there, as nobody vouches for them.
nofollowed = Table(
    "nofollowed",
    metadata,
    Column("key", BigInteger, primary_key=True, autoincrement=False),
    Column("referrer", RowId, nullable=False),
)

# Images that are left out, as nearly all pages have them.
template_images = Table("template_images", metadata, Column("url", Text, primary_key=True))

# The pages of the last published set.
listings = Table(
    "listings",
    metadata,
    Column("url_id", RowId, primary_key=True),
    Column("lastmod", Float),
)

published = Table(
    "published",
    metadata,
    Column("directory", Text, primary_key=True),
    Column("entry", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("url", Text, nullable=False),
    Column("urls", Integer, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("modified", Float, nullable=False),
    # The first URL of the file: a shard holds those from here to the first one of the next.
    Column("first", Text, nullable=False),
    # A group of pages in files of their own; of a file of another format its ending, such as `.txt`.
    Column("section", String(40), nullable=False, server_default=""),
    # The signature of the rules that gave the pages their sections.
    Column("rules", Text, nullable=False, server_default=""),
)
