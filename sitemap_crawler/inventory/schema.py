"""The tables of the inventory, and the version of the schema, by which a release recognises the files it can read."""

from __future__ import annotations

from enum import IntEnum, StrEnum

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

SCHEMA_VERSION = 15

metadata = MetaData()
# Only a column declared INTEGER is SQLite's row id, which takes no bytes of its own.
RowId = BigInteger().with_variant(Integer(), "sqlite")
# Texts that are sorted or compared by their bytes, as SQLite does. The order of PostgreSQL depends on the database.
SortedText = Text().with_variant(Text(collation="C"), "postgresql")


def _sorted_string(length: int) -> String:
    return String(length).with_variant(String(length, collation="C"), "postgresql")


class UrlState(IntEnum):
    """The state of a URL in the current run."""

    KNOWN = 0
    """Recorded but not fetched: out of scope, excluded by a rule, too deep, or an orphan."""
    ADMITTED = 3
    """To be requested in this run while `frontier` has a row of it; without a row it was requested, with any result."""
    NOT_DUE = 4
    """Excluded for the same reason so often that only some runs revisit it."""
    # Refused for a trap, in this run and in later ones.
    FACETS = Trap.FACETS
    ENDLESS = Trap.ENDLESS
    SESSION = Trap.SESSION
    NESTING = Trap.NESTING
    REPEATS = Trap.REPEATS
    SAME = Trap.SAME
    EXHAUSTED = Trap.EXHAUSTED


TRAPPED = tuple(map(int, Trap))
"""States of the URLs that are refused for a trap."""


meta = Table(
    "meta",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)


class MetaObject(StrEnum):
    """Names of the rows of `meta` whose values are JSON objects. All other values are numbers."""

    SERVICE_PAUSES = "service_pauses"
    """Times before which services must not be asked, see `submissions`."""
    TRAP_COUNTS = "trap-counts"
    """Counts of pages of a run. With them a run that is killed again and again ends, too."""
    TRAPS = "traps"
    """The learnt traps."""
    TRAPS_BEFORE = "traps-before"
    """The groups of URLs that earlier runs have refused, the shapes of the URLs that were left out, and the samples."""
    WORKING_TIME = "working_time"
    """The working time and other totals of the processes of the latest run, see `runs`."""


runs = Table(
    "runs",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("requested_url", Text, nullable=False),
    # Start page of the run. It differs from the requested one if that redirects to its https or www variant.
    Column("start_url", Text, nullable=False),
    Column("sitemap_url", Text, nullable=False),
    Column("started", Float, nullable=False),
    Column("finished", Float),
    Column("outcome", String(32)),
    Column("ended_by", String(64)),
    # Whether every known URL has its state for this run.
    Column("planned", Boolean, nullable=False, server_default=false()),
    # The options that affect decisions and files, for `write` and `explain`. Secrets are not among them.
    Column("options", JSON),
    # The numbers and the message of the run's report, see `inventory/results.py`; NULL of runs of earlier releases.
    Column("totals", JSON(none_as_null=True)),
    # For the processes of a run on a server: see `inventory/processes.py`. NULL in an SQLite file.
    Column("phase", String(16)),
    # Version of the program and signature of the options. All processes of a run have the same.
    Column("version", Text),
    # Number of URLs that the processes have leased. Only runs with --max-pages count them.
    Column("leased", RowId),
)

urls = Table(
    "urls",
    metadata,
    Column("id", RowId, primary_key=True),
    # 64 bits of BLAKE2b of the URL, as an index of whole URLs would double the file. Two of a million URLs collide with
    # a probability of 3 in 10^8.
    Column("key", BigInteger, nullable=False, unique=True),
    Column("url", SortedText, nullable=False),
    Column("state", SmallInteger, nullable=False),
    Column("depth", Integer, nullable=False),
    Column("referrer", RowId),
    Column("first_seen", RowId, nullable=False),
    Column("named", RowId),
    Column("unlinked_since", RowId),
    Column("inlinks", Integer),
)
"""The known URLs. Three columns are numbers of runs.

`first_seen`: the run that discovered the URL.
`named`: the latest run in which a foreign sitemap named it.
`unlinked_since`: the first finished run since which nothing leads to it; NULL while something does.

A URL that only sitemaps name has no referrer. `inlinks` is the number of other pages that link to the URL, counted when
a crawl ends; NULL of URLs that no walk over the links has reached, such as those of other hosts.
"""

# The URLs that wait to be requested in the run, or that a process has leased and not stored an observation of.
frontier = Table(
    "frontier",
    metadata,
    Column("url_id", RowId, primary_key=True, autoincrement=False),
    # As in `urls`. Of one turn, the URLs with the fewest clicks are leased first.
    Column("depth", Integer, nullable=False),
    # The process that has leased the URL; NULL while it waits.
    Column("owner", BigInteger),
    # Number of processes that ended while they had leased the URL, without a sign of life.
    Column("deaths", SmallInteger, nullable=False, server_default="0"),
    # URLs of a later turn wait for those of an earlier one, see `traps/turns.py`.
    Column("turn", SmallInteger, nullable=False, server_default="0"),
)

frontier_due = Index(
    "frontier_due", frontier.c.turn, frontier.c.depth, frontier.c.url_id, sqlite_where=frontier.c.owner.is_(None)
)

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
    # Milliseconds from the request to the end of its answer. A 304 keeps the time of the answer that it confirms. NULL
    # without an answer, and in observations of earlier releases.
    Column("elapsed", Integer),
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
    # The validators of a conditional request. `readers` names the code and options that made the observation: other
    # readers do not use it.
    Column("etag", Text),
    Column("modified_header", Text),
    # Hash of the headers that decide on indexing. A 304 with other headers confirms nothing.
    Column("header_mark", LargeBinary),
    Column("readers", Text),
    Column("not_modified", Boolean, nullable=False, server_default=false()),
    # Set if the last requests failed with a transient error. The answer is that of the observation before it.
    Column("failed_status", SmallInteger),
    Column("failed_error", Text),
    Column("failed_since", RowId),
    # [[code, URL id], ...]: the language versions that the page names, each code once; NULL if there are none. The
    # column stands before the blobs, so that SQLite does not read them for it.
    Column("alternates", JSON(none_as_null=True)),
    # Delta-coded ids of the URLs in scope that the page links to.
    Column("links", LargeBinary),
    # {"images": [...], "image_texts": {...}, "videos": [...], "article": {...}}; NULL if there are none.
    Column("extras", JSON(none_as_null=True)),
    # Facts for warnings and hints, by kind; NULL on nearly all pages.
    Column("notes", JSON(none_as_null=True)),
    # RenderState, and the other fields of PageRendering; NULL without --render. Only crawls that render read them.
    Column("rendered", SmallInteger),
    Column("rendering", JSON(none_as_null=True)),
)

# The pages whose canonical is another URL. A change of that URL may decide on them.
Index(
    "observations_canonical",
    observations.c.canonical,
    sqlite_where=observations.c.canonical != observations.c.url_id,
)

decisions = Table(
    "decisions",
    metadata,
    Column("url_id", RowId, primary_key=True),
    Column("decision", String(16), nullable=False),
    Column("reason", _sorted_string(32), nullable=False),
    Column("evidence", Text),
    Column("lastmod", Float),
    Column("lastmod_source", String(32)),
    Column("lastmod_day", Boolean, nullable=False, server_default=false()),
    # The run since which the reason is the same.
    Column("since", RowId, nullable=False),
    # The reason before that run. NULL of URLs whose reason never changed, or changed under an earlier release.
    Column("before", String(32)),
)

# The warnings of the latest concluded run in the order of its report, at most MAX_WARNINGS of each kind. The counts of
# all are in `runs.totals`. Inventories of earlier releases lack it.
warnings = Table(
    "warnings",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("run", RowId, nullable=False),
    Column("kind", String(32), nullable=False),
    Column("url", Text, nullable=False),
    Column("message", Text, nullable=False),
)

# Sets of language versions that all name each other. `codes` are those of the page, separated by blanks.
clusters = Table(
    "clusters",
    metadata,
    Column("url_id", RowId, primary_key=True),
    Column("cluster", RowId, nullable=False, index=True),
    Column("codes", Text, nullable=False),
)

# The language versions of a page that a foreign sitemap names, in addition to those that the page names.
named_alternates = Table(
    "named_alternates",
    metadata,
    Column("url_id", RowId, primary_key=True),
    # The run that read the sitemap, and the sitemap's key as in `urls`.
    Column("run", RowId, nullable=False),
    Column("sitemap", BigInteger, nullable=False, index=True),
    # [[code, URL id], ...], each code once.
    Column("alternates", JSON, nullable=False),
)

# The dates of pages that foreign sitemaps and feeds of the latest run state. Inventories of earlier releases lack it.
named_dates = Table(
    "named_dates",
    metadata,
    Column("url_id", RowId, primary_key=True),
    # The run that read the sitemap, and the sitemap's key as in `urls`.
    Column("run", RowId, nullable=False),
    Column("sitemap", BigInteger, nullable=False),
    Column("source", String(32), nullable=False),
    Column("lastmod", Float, nullable=False),
    Column("lastmod_day", Boolean, nullable=False),
)

# The URLs that the lists and access logs of the owner name, with the values that the lists supply. Their dates are in
# `named_dates`. Inventories of earlier releases lack it.
supplied = Table(
    "supplied",
    metadata,
    Column("url_id", RowId, primary_key=True),
    # The latest run in which a list or log named the URL.
    Column("run", RowId, nullable=False),
    # Whether a list names the URL; otherwise only an access log does.
    Column("listed", Boolean, nullable=False),
    # Number of requests in the access logs; NULL if no log names the URL.
    Column("visits", BigInteger),
    Column("section", _sorted_string(40)),
    # {"images": [...], "videos": [...]}; NULL if there are none.
    Column("extras", JSON(none_as_null=True)),
)

# The URLs that the owner has added one by one (`update add`), with the time, until `update remove` removes them.
# Inventories of earlier releases lack it.
added_urls = Table(
    "added_urls",
    metadata,
    Column("url_id", RowId, primary_key=True),
    Column("added", Float, nullable=False),
)

# The pages that each publication added, changed and removed.
changes = Table(
    "changes",
    metadata,
    # Number of the publication. One run has several if `write` publishes it again.
    Column("publication", RowId, primary_key=True),
    Column("url_id", RowId, primary_key=True),
    Column("run", RowId, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("before", Float),
    Column("after", Float),
)

# The sitemaps that a run reads for the URLs they name, and the problems of each.
seeds = Table(
    "seeds",
    metadata,
    Column("run", RowId, primary_key=True),
    Column("url", SortedText, primary_key=True),
    Column("named_by", Text, nullable=False),
    Column("level", SmallInteger, nullable=False),
    Column("done", Boolean, nullable=False),
    Column("problem", Text),
    # Whether the sitemap could not be read because of a transient error.
    Column("passing", Boolean, nullable=False, server_default=false()),
)

# The robots.txt of each scheme, host and port that has one, and the user agent that it was read for.
robots = Table(
    "robots",
    metadata,
    Column("origin", SortedText, primary_key=True),
    Column("run", RowId, nullable=False),
    Column("agent", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),
)

# URLs of the site in nofollow links, by the key of `urls`. They have no rows there, as no page vouches for them.
nofollowed = Table(
    "nofollowed",
    metadata,
    Column("key", BigInteger, primary_key=True, autoincrement=False),
    Column("referrer", RowId, nullable=False),
)

# What renderings have shown of pages with the same shape of their URL and the same scripts: TemplateCounts of
# `crawl/rendering/policy.py`, and the latest run with such a page.
page_templates = Table(
    "page_templates",
    metadata,
    Column("key", BigInteger, primary_key=True, autoincrement=False),
    Column("run", RowId, nullable=False),
    Column("shape", BigInteger, nullable=False),
    Column("rendered", Integer, nullable=False),
    Column("useful", Integer, nullable=False),
    Column("idle", Integer, nullable=False),
    Column("failed", Integer, nullable=False),
    Column("passed", Integer, nullable=False),
)

# Numbers of the renderings of the latest run, see `inventory/renderings.py`.
rendering_counts = Table(
    "rendering_counts",
    metadata,
    Column("run", RowId, primary_key=True, autoincrement=False),
    Column("name", SortedText, primary_key=True),
    Column("count", BigInteger, nullable=False),
)

# The texts of pages that were compared with others: hashes and weights, see `extract/content/blocks.py`.
page_texts = Table(
    "page_texts",
    metadata,
    Column("url_id", RowId, primary_key=True, autoincrement=False),
    # The run that has read the page, which may be earlier than that of the observation.
    Column("run", RowId, nullable=False),
    Column("texts", LargeBinary, nullable=False),
    # The texts are those of the observation with the same fingerprint.
    Column("fingerprint", LargeBinary),
)

# Images that are left out because nearly all pages have them.
template_images = Table("template_images", metadata, Column("url", SortedText, primary_key=True))

# The pages of the last published set.
listings = Table(
    "listings",
    metadata,
    Column("url_id", RowId, primary_key=True),
    Column("lastmod", Float),
)

# The files of each published set: the set of the entry file `entry` in `directory`.
published = Table(
    "published",
    metadata,
    Column("directory", SortedText, primary_key=True),
    Column("entry", SortedText, primary_key=True),
    Column("name", SortedText, primary_key=True),
    Column("url", SortedText, nullable=False),
    Column("urls", Integer, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("modified", Float, nullable=False),
    # First URL of the file. A shard holds the URLs from this one up to the first one of the next shard.
    Column("first", SortedText, nullable=False),
    # Section of the pages; for a file of another format its ending, such as `.txt`.
    Column("section", _sorted_string(40), nullable=False, server_default=""),
    # Signature of the rules that gave the pages their sections.
    Column("rules", Text, nullable=False, server_default=""),
)

# What was sent to search engines, and their answers. Each row is written before its request and completed after the
# answer. A row that stays `sending` belongs to a process that was killed in between. Inventories of earlier releases
# lack this table and those below.
submissions = Table(
    "submissions",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("at", Float, nullable=False),
    Column("service", String(16), nullable=False),
    # Host of the endpoint of the service, and host of the site.
    Column("endpoint", Text, nullable=False),
    Column("host", Text, nullable=False),
    # URL of the entry file; for `urls` the text "batch".
    Column("target", Text, nullable=False),
    Column("kind", String(16), nullable=False),
    # Number of the publication that was sent, as in `changes`.
    Column("publication", RowId, nullable=False),
    # Hash of the entry file; NULL for `urls`.
    Column("sha256", String(64)),
    Column("urls", Integer, nullable=False),
    Column("http_status", SmallInteger),
    Column("reason", Text),
    Column("message", Text),
    Column("outcome", String(16), nullable=False),
    Column("request_id", Text),
)

# The URLs of each submission of kind `urls`.
submitted_urls = Table(
    "submitted_urls",
    metadata,
    Column("url_id", RowId, primary_key=True, autoincrement=False),
    Column("submission", RowId, primary_key=True, autoincrement=False),
    Column("kind", String(16), nullable=False),
)

# The last publication whose changes a service has got: all, or none at first use.
submission_marks = Table(
    "submission_marks",
    metadata,
    Column("service", String(16), primary_key=True),
    Column("endpoint", Text, primary_key=True),
    Column("host", Text, primary_key=True),
    Column("publication", RowId, nullable=False),
)

# What a service says of a sitemap. There is one row for each change of its answer.
engine_sitemaps = Table(
    "engine_sitemaps",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("service", _sorted_string(16), nullable=False),
    # Property or site of the account.
    Column("property", SortedText, nullable=False),
    Column("url", SortedText, nullable=False),
    # When the service first and last gave this answer.
    Column("since", Float, nullable=False),
    Column("asked", Float, nullable=False),
    Column("answer", JSON, nullable=False),
)

# What Google says of a page: the newest answer of URL Inspection.
inspections = Table(
    "inspections",
    metadata,
    Column("url_id", RowId, primary_key=True),
    Column("property", Text, nullable=False),
    Column("at", Float, nullable=False),
    Column("verdict", SortedText),
    Column("coverage_state", SortedText),
    Column("robots", SortedText),
    Column("indexing", SortedText),
    Column("fetch", SortedText),
    Column("last_crawl", Float),
    Column("google_canonical", Text),
    Column("user_canonical", Text),
)

# Number of inspections of each day, which begins at midnight in California.
engine_quota = Table(
    "engine_quota",
    metadata,
    Column("service", String(16), primary_key=True),
    Column("property", Text, primary_key=True),
    Column("day", String(10), primary_key=True),
    Column("used", Integer, nullable=False),
)
