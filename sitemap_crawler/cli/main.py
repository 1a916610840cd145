"""The command line: the group of commands, and the exit code of every command."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sitemap_crawler import __version__
from sitemap_crawler.cli.common import PROGRAM, one_line, print_error
from sitemap_crawler.cli.crawl import crawl, helper, write
from sitemap_crawler.cli.history import diff, runs
from sitemap_crawler.cli.inventory import check_inventory, explain, pages
from sitemap_crawler.cli.monitor import monitor
from sitemap_crawler.cli.report.command import report
from sitemap_crawler.cli.submit import submit
from sitemap_crawler.cli.update import update
from sitemap_crawler.cli.validate.command import validate
from sitemap_crawler.exceptions import FAILED, INTERRUPTED, USAGE, SitemapCrawlerError
from sitemap_crawler.inventory.opened import inventories_opened
from sitemap_crawler.utils.runtime import echo
from sitemap_crawler.utils.shortage import shortage_error_of
from sitemap_crawler.utils.stopping import MESSAGE, interrupt_at_signals
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sitemap_crawler.config.state_location import StateLocation

MAX_NAME = 200
"""Maximum number of characters of the name of a file that a message shows."""


def run() -> int:
    """Run the command in `sys.argv` and return its exit code. Every failure prints one line."""
    with inventories_opened() as opened:
        return _run(opened)


def _run(opened: Sequence[StateLocation]) -> int:
    """Run the command. An error that damage of an inventory in `opened` explains names the damage."""
    try:
        code: int = commands.main(prog_name=PROGRAM, standalone_mode=False)
    except click.exceptions.Exit as error:
        code = error.exit_code
    except click.Abort:
        code = print_error(INTERRUPTED, MESSAGE)
    except click.exceptions.NoArgsIsHelpError as error:
        echo(error.format_message(), err=True)
        code = USAGE
    except click.ClickException as error:
        context = error.ctx if isinstance(error, click.UsageError) else None
        command = context.command_path if context else PROGRAM
        code = print_error(USAGE, f"{one_line(error)} ({command} --help shows the usage)")
    except Exception as error:
        known = shortage_error_of(error)
        if isinstance(known, SitemapCrawlerError):
            code = print_error(known.exit_code, str(known))
        elif isinstance(error, OSError):
            code = print_error(FAILED, _failure_of_system(error))
        elif (damage := _damage_of(opened, error)) is not None:
            code = print_error(FAILED, damage)
        else:
            raise
    return code


def _failure_of_system(error: OSError) -> str:
    """Return the message of a failure that no command has explained, with the name of the file."""
    reason = error.strerror or error
    if not isinstance(error.filename, str):
        # Standard output cannot be written.
        return f"cannot write: {reason}"
    name = error.filename if len(error.filename) <= MAX_NAME else f"{error.filename[:MAX_NAME]}…"
    return f"cannot use {printable(name)}: {reason}; give the name of a file that this user may use"


def _damage_of(opened: Sequence[StateLocation], error: Exception) -> str | None:
    """Return the message of the damaged inventory that explains the error, or None.

    A damaged value may leave the code that reads it, and be found only where it is printed or sent.
    """
    from sitemap_crawler.inventory.damage import damage_message

    return next(filter(None, (damage_message(location, error) for location in opened)), None)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name=PROGRAM)
@click.pass_context
def commands(context: click.Context) -> None:
    """Crawls a web site within the scope of its sitemap and keeps its XML sitemaps true."""
    if context.invoked_subcommand not in (crawl.name, helper.name):
        # A crawl gets handlers of its own when it begins.
        interrupt_at_signals()


for command in (
    crawl,
    helper,
    write,
    update,
    explain,
    pages,
    report,
    runs,
    diff,
    validate,
    check_inventory,
    submit,
    monitor,
):
    commands.add_command(command)
