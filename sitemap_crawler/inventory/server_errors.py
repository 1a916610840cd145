"""What an error of a PostgreSQL server or of its driver says to the user: one line, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitemap_crawler.utils.text import one_line

if TYPE_CHECKING:
    from sqlalchemy.exc import SQLAlchemyError

_QUESTION = "Is the server running"
"""Beginning of what the driver asks after its message, where a remedy follows."""
MAX_MESSAGE = 500
"""Maximum number of characters of the server's message."""
REMEDY = "make the server available, then run the same command"
RIGHTS_REMEDY = (
    "let the owner of the database give the user that right or a schema of its own (CREATE SCHEMA NAME AUTHORIZATION "
    "USER), then run the same command"
)
_BY_STATE = (
    # https://www.postgresql.org/docs/current/errcodes-appendix.html
    ("42501", RIGHTS_REMEDY),
    ("53100", "free disk space on the server, then run the same command"),
    ("53200", "give the server more memory, then run the same command"),
    (
        "53300",
        (
            "end other clients, or raise max_connections of the server or CONNECTION LIMIT of the user or database, "
            "then run the same command"
        ),
    ),
    (
        "25006",
        (
            "name a server that takes writes, if this one is a read-only copy, or let the user write "
            "(default_transaction_read_only), then run the same command"
        ),
    ),
    ("55P03", "end the transaction of another client that holds the lock, then run the same command"),
    ("57014", "raise statement_timeout of the user, then run the same command"),
)
"""Remedies by SQLSTATE."""
_BY_WORDS = (
    ("starting up", REMEDY),
    ("shutting down", REMEDY),
    ("too many", _BY_STATE[3][1]),
    ("resolve host", "correct the host in the URL, then run the same command"),
    ("connection option", "correct the parameters of the URL, then run the same command"),
    ("invalid", "correct the parameters of the URL, then run the same command"),
    ("definition of service", "correct the service in the URL or its file, then run the same command"),
    ("password", "give the right user and password, then run the same command"),
    ("FATAL", "correct the user and the database, or let the server accept them, then run the same command"),
)
"""Remedies by the words of the driver, for a connection that was not made. Errors of that kind have no SQLSTATE."""
_NOT_CONNECTED = ("connection failed", "connection is bad", "failed to resolve", "invalid connection option")


def server_message(error: SQLAlchemyError) -> str:
    """Return the message of the server or the driver as one line."""
    original = getattr(error, "orig", None)
    # The text of the exception has the statement, too.
    primary = getattr(getattr(original, "diag", None), "message_primary", None)
    return one_line(str(primary or original or error).partition(_QUESTION)[0], MAX_MESSAGE)


def server_remedy(error: SQLAlchemyError) -> str:
    """Return what to do about an error."""
    original = getattr(error, "orig", None)
    state = getattr(original, "sqlstate", None)
    words = str(original or error)
    if state is None and words.startswith(_NOT_CONNECTED):
        return next((remedy for part, remedy in _BY_WORDS if part in words), REMEDY)
    return next((remedy for known, remedy in _BY_STATE if known == state), REMEDY)


def server_problem(error: SQLAlchemyError) -> str:
    """Return the message with the remedy."""
    return f"{server_message(error)}; {server_remedy(error)}"
