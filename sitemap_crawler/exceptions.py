"""The exceptions of the package and the exit codes that they stand for.

::

    SitemapCrawlerError                  exit code 1
    ├── InputError                       2
    │   ├── OptionError · ValueError
    │   │   └── FileConflictError
    │   ├── ScopeError · ValueError
    │   ├── SectionError · ValueError
    │   ├── PatternError · ValueError
    │   ├── ListColumnsError · ValueError
    │   ├── EntryNameError · ValueError
    │   ├── AccessError · ValueError
    │   ├── ProxyError · ValueError
    │   ├── SpellingError · ValueError
    │   ├── LocateError
    │   ├── UnknownRunError
    │   ├── JoinError
    │   └── TargetError
    ├── InventoryError                   1
    │   ├── DamagedInventoryError        1
    │   ├── NotAnInventoryError          2
    │   │   └── OtherVersionError
    │   │       └── OldVersionError
    │   ├── OtherSiteError               2
    │   ├── InventoryBusyError           4
    │   └── UntrustedInventoryError      1
    ├── OutputError                      1
    │   ├── DirectoryLockedError         1
    │   ├── PageTemplateError            1
    │   └── UntrustedLinkError
    ├── NotPublishedError                3
    │   ├── PublicationRefusedError
    │   ├── NothingToPublishError
    │   ├── ForeignFilesError
    │   └── IndexOverflowError
    ├── SubmissionRefusedError           3
    ├── NotFinishedError                 4
    │   ├── RetryLaterError
    │   ├── NothingToJoinError
    │   └── CrawlStoppedError
    ├── ServiceError                     1
    │   ├── ServiceRefusedError          1
    │   ├── CredentialsError             2
    │   └── ServiceLaterError            4
    │       └── ServiceUnavailableError
    ├── NotLocalError                    1
    ├── PatternTimeoutError              1
    ├── UnreadableError                  1
    ├── AddressError · OSError           1
    ├── CodingError · ValueError         1
    ├── GzipError · ValueError           1
    ├── NestingError · ValueError        1
    └── WorkerError                      1
        ├── WorkerStartError
        ├── WorkerDiedError
        └── WorkFailedError

The text of an exception is one line for the user: what failed, on what, because of what, what to do. LocateError may
add a list of inventories. Classes that also derive from ValueError are raised where pydantic validates options.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

DONE, FAILED, USAGE, REFUSED, INTERRUPTED = range(5)
"""Exit codes of the commands, as README.md describes them."""


class SitemapCrawlerError(Exception):
    """Base class of all exceptions of the package."""

    exit_code: ClassVar[int] = FAILED
    """Exit code of the command that the exception ends."""


class InputError(SitemapCrawlerError):
    """An argument, option, environment variable or file given by the user cannot be used."""

    exit_code = USAGE


class OptionError(InputError, ValueError):
    """An option has an unknown name or an unusable value. `option` names the option with the value, if it is one."""

    def __init__(self, message: str, *, option: str | None = None) -> None:
        super().__init__(message)
        self.option = option


class FileConflictError(OptionError):
    """Two files of a run, or of two sites, have the same place."""


class ScopeError(InputError, ValueError):
    """A start URL or sitemap URL gives no scope."""


class SectionError(InputError, ValueError):
    """A rule for a section cannot be used."""


class PatternError(InputError, ValueError):
    """A regular expression given by the user cannot be used."""


class ListColumnsError(InputError, ValueError):
    """The columns of a list of URLs are not found. The message is what is wrong with the list, as `has …`."""


class EntryNameError(InputError, ValueError):
    """The sitemap's URL gives no usable file name."""


class AccessError(InputError, ValueError):
    """A header or login cannot be used. The message repeats no value of either."""


class ProxyError(InputError, ValueError):
    """An environment variable names no usable proxy. The message repeats no password."""


class SpellingError(InputError, ValueError):
    """A text given as a URL is none."""


class LocateError(InputError):
    """No inventory matches the request, or several do."""


class UnknownRunError(InputError):
    """A run does not exist, or its changes are no longer stored. The message names the runs that can be given."""


class JoinError(InputError):
    """This process cannot take part in the crawl of the others."""


class TargetError(InputError):
    """The target of `validate` cannot be validated at all."""


class InventoryError(SitemapCrawlerError):
    """The inventory cannot be read or written."""


class DamagedInventoryError(InventoryError):
    """The inventory holds a value that no release wrote. The message names table and row."""


class NotAnInventoryError(InventoryError):
    """The file is no inventory that this release can read."""

    exit_code = USAGE


class OtherVersionError(NotAnInventoryError):
    """The inventory has the schema of another release."""


class OldVersionError(OtherVersionError):
    """The inventory has the schema of an earlier release. A command that writes it migrates it first."""

    def __init__(self, message: str, *, location: Any) -> None:
        super().__init__(message)
        self.location = location


class OtherSiteError(InventoryError):
    """The inventory holds another site."""

    exit_code = USAGE


class InventoryBusyError(InventoryError):
    """Another run has locked the inventory."""

    exit_code = INTERRUPTED


class UntrustedInventoryError(InventoryError):
    """Another user can have put a file in the place of the inventory, or next to it where SQLite reads it."""


class OutputError(SitemapCrawlerError):
    """The output directory cannot be written."""


class DirectoryLockedError(OutputError):
    """Another process has kept the output directory locked for too long."""


class PageTemplateError(OutputError):
    """The template of the page list cannot be used. Before a crawl it is an OptionError."""


class UntrustedLinkError(OutputError, OSError):
    """A path leads through a symbolic link that another user has planted. It is also an OSError, with errno, reason
    and the link's path."""

    def __str__(self) -> str:
        return f"cannot write {self.filename}: {self.strerror}"


class NotPublishedError(SitemapCrawlerError):
    """A set of sitemaps is not published. The live files stay untouched."""

    exit_code = REFUSED


class PublicationRefusedError(NotPublishedError):
    """A guard refuses the set that has been staged."""


class NothingToPublishError(NotPublishedError):
    """The set has no entry."""


class ForeignFilesError(NotPublishedError):
    """The output directory has the files of another site."""


class IndexOverflowError(NotPublishedError):
    """The set has more sitemaps than one sitemap index may list."""


class SubmissionRefusedError(SitemapCrawlerError):
    """A guard refuses to tell search engines about the site."""

    exit_code = REFUSED


class NotFinishedError(SitemapCrawlerError):
    """The crawl is not finished. The same command continues it."""

    exit_code = INTERRUPTED


class RetryLaterError(NotFinishedError):
    """The time that the site gave with Retry-After has not passed yet."""


class NothingToJoinError(NotFinishedError):
    """No main process has begun a crawl that this process is to help with."""


class CrawlStoppedError(NotFinishedError):
    """The crawl was stopped at once, without a report."""


class ServiceError(SitemapCrawlerError):
    """A service of a search engine has not done what it was asked for. No attribute holds a secret."""

    def __init__(
        self,
        message: str,
        *,
        advice: str = "",
        http_status: int | None = None,
        reason: str | None = None,
        retry_after: float | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(f"{message}: {advice}" if advice else message)
        self.message = message
        self.advice = advice
        """What the user can do."""
        self.http_status = http_status
        """None without an answer."""
        self.reason = reason
        """The service's own code of the error."""
        self.retry_after = retry_after
        """Seconds that the service asks to wait."""
        self.request_id = request_id


class ServiceRefusedError(ServiceError):
    """A service refuses a request for good. The same request would be refused again."""


class CredentialsError(ServiceError):
    """The credentials for a service are missing or unreadable, or the library that uses them is not installed."""

    exit_code = USAGE


class ServiceLaterError(ServiceError):
    """A service refuses a request now: a quota is used up, a key is not verified yet. A later one may succeed."""

    exit_code = INTERRUPTED


class ServiceUnavailableError(ServiceLaterError):
    """A service gives no usable answer: no connection, a timeout, a server error, or an answer of another program."""


class NotLocalError(SitemapCrawlerError):
    """A change of some pages may concern other pages or files: everything is decided and written. The text says why."""


class PatternTimeoutError(SitemapCrawlerError):
    """A regular expression given by the user takes too long on a text."""


class UnreadableError(SitemapCrawlerError):
    """The rest of a file that is validated cannot be read; `rule` and `message` become its finding."""

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule = rule
        self.message = message


class AddressError(SitemapCrawlerError, OSError):
    """A host or IP address must not be asked. An OSError, because HTTP clients expect one of a socket."""


class CodingError(SitemapCrawlerError, ValueError):
    """A response body does not match its content coding, or is cut off."""


class GzipError(SitemapCrawlerError, ValueError):
    """Damaged gzip data. The message is zlib's reason, where zlib has one."""

    def __init__(self, kind: Literal["truncated", "trailing-garbage", "corrupt"], reason: str = "") -> None:
        super().__init__(reason or kind)
        self.kind = kind


class NestingError(SitemapCrawlerError, ValueError):
    """The brackets of a text are nested too deep."""

    def __init__(self, maximum: int) -> None:
        super().__init__(f"its brackets are nested more than {maximum} deep")


class WorkerError(SitemapCrawlerError):
    """A worker process has not done its task."""


class WorkerStartError(WorkerError):
    """The process ended before it began the task."""


class WorkerDiedError(WorkerError):
    """The process ended during the task. The message says how."""


class WorkFailedError(WorkerError):
    """The task raised an exception in its process. The message names it; the cause has its traceback."""
