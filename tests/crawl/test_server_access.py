"""What a user of a PostgreSQL server may do, what it says to one who may not, and the names of schemas."""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.crawl.test_postgresql import path_of, serve, sitemap
from tests.support.postgres_server import ICU, LOCKED, LOCKED_PASSWORD, needs_postgres
from tests.support.webserver import WebServer, page

if TYPE_CHECKING:
    from tests.support.postgres_server import PostgresServer
    from tests.support.program import Program

pytestmark = [needs_postgres, pytest.mark.slow]


@pytest.fixture
def small(site: WebServer) -> WebServer:
    site.pages |= {"/": page("/a", "/b"), "/a": page(), "/b": page("/a")}
    return site


def test_a_user_with_a_schema_of_its_own_and_no_other_right(
    program: Program, site: WebServer, postgres: PostgresServer
) -> None:
    serve(site)
    user = postgres.new_user()
    postgres.execute(ICU, f"CREATE SCHEMA only_{user} AUTHORIZATION {user}")
    state = postgres.url(schema=f"only_{user}", user=user)
    for changed in (-1, 30):
        serve(site, changed=changed)
        assert program.crawl(site.url(), "--state", "state.sqlite", "-o", "file").code == 0
        result = program.crawl(site.url(), "--state", state)
        assert result.code == 0, result.err
    assert sitemap(program) == sitemap(program, "file")
    for command in (
        ("explain", site.url("/")),
        ("pages",),
        ("write", "--exclude-listing", "/b"),
        ("update", "add", site.url(path_of(9))),
        ("check-inventory",),
        ("report", "-o", "a.html"),
    ):
        result = program.run(*command, "--state", state)
        assert result.code == 0, result.err


def test_a_limit_of_connections_is_named_wherever_it_is_met(
    program: Program, small: WebServer, postgres: PostgresServer
) -> None:
    user = postgres.new_user()
    schema = f"few_{user}"
    postgres.execute(ICU, f"CREATE SCHEMA {schema} AUTHORIZATION {user}")
    codes = []
    for limit in range(1, 7):
        postgres.execute(ICU, f"ALTER ROLE {user} CONNECTION LIMIT {limit}")
        result = program.crawl(small.url(), "--state", postgres.url(schema=schema, user=user))
        codes.append(result.code)
        if result.code:
            assert "too many connections for role" in result.last_line
            assert "CONNECTION LIMIT" in result.last_line
    assert codes[0] == 1
    assert codes[-1] == 0
    assert sitemap(program).count(b"<loc>") == 3


RIGHT = (
    "let the owner of the database give the user that right or a schema of its own (CREATE SCHEMA NAME AUTHORIZATION "
    "USER), then run the same command"
)


@pytest.mark.parametrize(
    ("rights", "refusal"),
    [
        ((), "permission denied for database icu"),
        (("CREATE SCHEMA {schema}",), "permission denied for schema {schema}"),
        (("CREATE SCHEMA {schema}", "GRANT USAGE ON SCHEMA {schema} TO {user}"), "permission denied for schema"),
    ],
)
def test_rights_to_create_that_a_user_lacks(
    program: Program, small: WebServer, postgres: PostgresServer, rights: tuple[str, ...], refusal: str
) -> None:
    user = postgres.new_user()
    names = {"user": user, "schema": f"s_{user}"}
    for statement in rights:
        postgres.execute(ICU, statement.format(**names))
    result = program.crawl(small.url(), "--state", postgres.url(schema=names["schema"], user=user))
    assert result.code == 1
    assert refusal.format(**names) in result.last_line
    assert result.last_line.endswith(RIGHT)
    assert small.paths() == []


def test_rights_to_read_and_write_that_a_user_lacks(
    program: Program, small: WebServer, postgres: PostgresServer
) -> None:
    user, schema = postgres.new_user(), f"s_{postgres.new_user()}"
    assert program.crawl(small.url(), "--state", postgres.url(schema=schema)).code == 0
    state = postgres.url(schema=schema, user=user)
    commands = (("crawl", small.url()), ("write",), ("explain", small.url()), ("pages",), ("check-inventory",))

    def refusals() -> dict[str, str]:
        results = {command[0]: program.run(*command, "--state", state) for command in commands}
        return {name: result.last_line for name, result in results.items() if result.code}

    refused = refusals()
    assert set(refused) == {command[0] for command in commands}
    assert all(f"permission denied for schema {schema}; {RIGHT}" in line for line in refused.values())
    postgres.execute(ICU, f"GRANT USAGE ON SCHEMA {schema} TO {user}")
    refused = refusals()
    assert set(refused) == {command[0] for command in commands}
    assert all("permission denied for table" in line and line.endswith(RIGHT) for line in refused.values())
    # Who may only read reads.
    postgres.execute(ICU, f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {user}")
    refused = refusals()
    assert set(refused) == {"crawl", "write"}
    assert all("permission denied for table" in line for line in refused.values())


def test_the_sites_of_other_users_are_not_in_the_way(
    program: Program, small: WebServer, postgres: PostgresServer
) -> None:
    """A user finds its own inventory in a database where others have theirs."""
    database = postgres.new_database()
    assert program.crawl(small.url(), "--state", postgres.url(database)).code == 0
    user = postgres.new_user()
    postgres.execute(database, f"GRANT CREATE ON DATABASE {database} TO {user}")
    program.variables["SITEMAP_STATE"] = postgres.url(database, user=user).partition("&schema")[0]
    with WebServer() as own:
        own.pages["/"] = page()
        assert program.crawl(own.url(), "-o", "own").code == 0
        assert own.url() in program.run("pages").out
        assert program.run("explain", small.url("/a")).out.startswith("unknown: ")


@pytest.mark.parametrize(
    ("user", "database", "password", "message", "remedy"),
    [
        (LOCKED, ICU, "wrong", "password authentication failed", "give the right user and password"),
        (LOCKED, ICU, "", "no password supplied", "give the right user and password"),
        ("nobody_here", ICU, "", 'role "nobody_here" does not exist', "correct the user and the database"),
        (LOCKED, "nothing", LOCKED_PASSWORD, 'database "nothing" does not exist', "correct the user and the database"),
    ],
)
def test_logins_that_are_refused(
    program: Program,
    small: WebServer,
    postgres: PostgresServer,
    user: str,
    database: str,
    password: str,
    message: str,
    remedy: str,
) -> None:
    program.variables["PGPASSWORD"] = password
    for command in (("crawl", small.url()), ("pages",)):
        result = program.run(*command, "--state", postgres.url(database, user=user))
        assert result.code == 1
        assert message in result.last_line
        assert remedy in result.last_line
        assert len(result.err.splitlines()) == 1
        assert LOCKED_PASSWORD not in result.err


@pytest.mark.parametrize(
    ("place", "message", "remedy"),
    [
        ("u@unknown.invalid/db?schema=a", "failed to resolve host 'unknown.invalid'", "correct the host in the URL"),
        ("u@127.0.0.1:1/db?schema=a", "port 1 failed", "make the server available"),
        ("/db?host=/nowhere&schema=a", "No such file or directory", "make the server available"),
        ("u@127.0.0.1/db?schema=a&sslmode=none", "invalid sslmode value", "correct the parameters of the URL"),
        ("u@127.0.0.1/db?schema=a&nonsense=1", 'invalid connection option "nonsense"', "correct the parameters"),
        ("/?schema=a&service=unknown", 'service "unknown" not found', "correct the service"),
    ],
)
def test_servers_that_there_are_not(program: Program, place: str, message: str, remedy: str) -> None:
    for command in (("crawl", "http://127.0.0.1:1/"), ("pages",)):
        result = program.run(*command, "--state", f"postgresql://{place}")
        assert result.code == 1
        assert message in result.last_line
        assert remedy in result.last_line
        assert len(result.err.splitlines()) == 1


def test_an_old_server_is_refused_before_anything_is_asked_of_it(program: Program) -> None:
    """The server lets all in, says that it is version 12, and answers nothing else."""

    def message(kind: bytes, content: bytes) -> bytes:
        return kind + struct.pack("!I", len(content) + 4) + content

    greeting = message(b"R", struct.pack("!I", 0)) + message(b"S", b"server_version\x0012.22\x00")
    greeting += message(b"S", b"client_encoding\x00UTF8\x00") + message(b"Z", b"I")

    def serve_old() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                # Requests for TLS and GSSAPI have eight bytes, and are denied.
                while len(connection.recv(4096)) == 8:
                    connection.sendall(b"N")
                connection.sendall(greeting)
                connection.recv(4096)

    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        threading.Thread(target=serve_old, daemon=True).start()
        state = f"postgresql://u@127.0.0.1:{listener.getsockname()[1]}/db?schema=a"
        for command in (("crawl", "http://127.0.0.1:1/"), ("pages",)):
            result = program.run(*command, "--state", state)
            assert result.code == 1
            assert result.last_line == (
                f"cannot use the inventory {state}: the server has version 12 of PostgreSQL; use a server with "
                "version 13 or later"
            )
        listener.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("name", ["Ab-c.d", "1", "user", "..", "a" * 63])
def test_odd_names_of_schemas(program: Program, small: WebServer, postgres: PostgresServer, name: str) -> None:
    state = postgres.url(schema=name)
    for _ in range(2):
        assert program.crawl(small.url(), "--state", state).code == 0
    assert program.run("write", "--state", state, "--exclude-listing", "/b").code == 0
    assert len(program.run("pages", "--state", state, "--decision", "listed", "--format", "csv").out.splitlines()) == 3
    assert program.run("check-inventory", "--state", state).code == 0
    postgres.execute(ICU, f'DROP SCHEMA "{name}" CASCADE')


def test_a_deleted_site_is_crawled_anew_and_its_neighbour_stays(
    program: Program, small: WebServer, postgres: PostgresServer
) -> None:
    one, other = postgres.url(), postgres.url()
    for state in (one, other):
        assert program.crawl(small.url(), "--state", state).report["run"] == 1
    postgres.execute(ICU, f"DROP SCHEMA {one.rpartition('=')[2]} CASCADE")
    result = program.run("pages", "--state", one)
    assert result.code == 2
    assert "there is no inventory" in result.last_line
    assert program.crawl(small.url(), "--state", other).report["run"] == 2
    assert program.crawl(small.url(), "--state", one).report["run"] == 1
