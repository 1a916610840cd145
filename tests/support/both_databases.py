"""Which tests of the program run with inventories in SQLite, in PostgreSQL, or in both.

`pytest --inventory=postgresql` runs all of them in PostgreSQL but those of FILE_ONLY, `--inventory=sqlite` all in
SQLite.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

SQLITE, POSTGRESQL = "sqlite", "postgresql"

MODULES_IN_BOTH = frozenset(
    f"unit/inventory/test_{name}.py" for name in ("alternates", "engine_answers", "inspections", "publications")
)
"""Modules of unit tests whose inventories are made by other tools than the fixture `state`, which has both, too."""
IN_BOTH = frozenset(
    f"crawl/test_{module}.py::test_{test}"
    for module, tests in {
        "alternates": ("pages_and_a_sitemap_complete_each_other",),
        "endless_sites": (
            "the_summary_says_that_max_pages_ended_the_run",
            "a_crawl_that_grows_says_so_and_goes_on_without_what_grows",
        ),
        "explain": ("what_was_decided", "which_file_holds_a_page", "another_site"),
        "history": ("what_changed_on_a_site", "only_the_changes_of_the_newest_runs_are_kept"),
        "html_report": (
            "write_reports_what_it_decides",
            "the_hosts_of_a_domain_are_the_first_lines_of_the_tree",
            "a_resumed_run_is_watched_until_it_is_killed",
        ),
        "html_report_hosts": (
            "each_host_has_a_report_with_its_own_numbers",
            "the_report_of_a_host_that_is_gone_does_not_stay",
            "a_host_whose_pages_fail_keeps_its_report_and_says_so",
            "a_run_that_is_interrupted_and_resumed_says_so_on_each_host",
        ),
        "interruption": ("ctrl_c_stops_gently_and_the_same_command_goes_on", "fresh_drops_what_was_interrupted"),
        "monitor": ("the_table", "a_crawl_may_hold_the_inventory"),
        "pages": ("referrers_are_looked_for_in_passes_of_bounded_size",),
        "polite_crawl": ("a_dead_server_interrupts_the_run_which_is_resumed_later",),
        "recrawl": (
            "an_unchanged_site_costs_nothing",
            "a_refused_run_proves_no_absence",
            "a_limited_run_makes_no_orphans",
        ),
        "results": ("the_inventory_has_the_numbers_and_warnings_of_the_report",),
        "robots": ("the_rule_is_recorded",),
        "second_looks": ("pages_with_names_have_a_template_too",),
        "seeds": ("a_run_that_was_stopped_goes_on", "options_name_an_index_of_gzip_text_and_feeds"),
        "shortage": ("the_end_of_a_run_names_the_lack",),
        "sites": ("a_directory_of_site_files_is_crawled_in_order",),
        "status": ("a_finished_run",),
        "subdomains": ("each_host_has_a_set_of_its_own", "write_makes_the_same_sets"),
        "submit_sitemaps": ("files_that_are_no_longer_published_are_taken_back",),
        "submit_urls": ("the_first_use_sends_nothing_and_later_ones_send_changes", "changes_are_netted"),
        "trap_sites": ("facets", "session_ids", "a_trap_is_left_by_a_run_that_goes_on"),
        "update": (
            "a_new_page_is_listed_now_and_stays_without_a_link",
            "images_of_the_template_are_left_out",
            "other_hosts_keep_their_sets",
        ),
        "url_lists": (
            "what_the_list_names_is_no_orphan_and_what_it_names_no_longer_becomes_one",
            "a_closed_standard_input_is_an_error_of_the_command",
            "a_resumed_run_has_the_standard_input_of_the_first_process",
        ),
        "validate_live": ("a_sitemap_beside_the_crawl_of_its_site",),
        "write": ("other_rules", "what_is_only_tried_out_leaves_no_trace", "the_shrink_guard_holds"),
        "write_lists": ("a_list_becomes_a_set_and_each_row_says_so",),
    }.items()
    for test in tests
)
"""Tests that always run with both databases: each writes or reads the inventory in a way of its own."""

_DAMAGE = "damages the file"
_NAMED = "its message names the file"
_LOCK = "takes the lock of the file"
_STEPS = "counts the steps or statements of SQLite"
_COMMITS = "counts the commits of SQLite"
_FILE = "reads or changes the file"
_COMMAND = "builds a command of its own, with the file"
_SIZE = "limits the size of files"
FILE_ONLY = {
    f"{room}/test_{module}.py::test_{test}": reason
    for room, modules in {
        "crawl": {
            "access": {
                "files_of_a_run_with_secrets_are_private": _FILE,
                "the_owner_of_a_private_lock_is_private": _LOCK,
            },
            "anger": {"a_disk_that_is_full_in_a_later_run": _SIZE},
            "counts": {"cost_of_a_further_page": _STEPS, "a_link_costs_no_statement": _STEPS},
            "crawl_submit": {"scrapy_and_several_sites_submit_as_well": _FILE},
            "damaged_inventories": {
                "crawl_and_commands_on_a_damaged_inventory": _DAMAGE,
                "a_damaged_url_that_is_due_ends_the_crawl_with_one_line": _DAMAGE,
            },
            "endless_sites": {"write_after_an_interruption_names_the_command_that_publishes": _NAMED},
            "explain": {
                "a_damaged_inventory": _DAMAGE,
                "several_inventories": "the order is that of the names of the files",
                "a_page_made_to_keep_the_comparison_busy": _STEPS,
                "a_large_inventory_answers_at_once": _STEPS,
            },
            "failures": {
                "a_state_that_can_not_be_written": _NAMED,
                "a_state_that_is_no_inventory": _NAMED,
                "a_state_of_another_release": _FILE,
                "a_full_disk": _SIZE,
                "scrapy_itself_is_told_in_one_line": _NAMED,
                "a_report_does_not_replace_what_it_is_about": _NAMED,
                "what_no_database_takes_ends_the_crawl": _FILE,
                "a_name_that_is_too_long_is_named": _NAMED,
            },
            "html_report": {
                "no_secret_is_in_the_report": "another test has the rights of a report from a server",
                "an_inventory_is_not_replaced_by_a_file_with_its_name": _NAMED,
            },
            "html_report_hosts": {
                "a_full_disk_is_one_line_and_leaves_all_old_reports": _SIZE,
                "a_secret_makes_all_reports_private": "another test has the rights of a report from a server",
            },
            "imports": {"a_crawl_imports_nothing_of_tls_that_scrapy_does_not": "the driver imports more"},
            "interruption": {
                "another_sitemap_url_in_the_middle_of_a_run_is_refused": _FILE,
                "the_state_is_one_file_for_each_site": _FILE,
                "the_pause_of_an_interrupted_run_is_not_among_its_seconds": _FILE,
            },
            "monitor": {
                "offline_needs_no_credentials_and_no_network": _COMMAND,
                "the_quota_of_the_day_caps_the_inspections": _FILE,
                "an_end_in_the_midst_of_inspections_loses_those_in_flight_only": _FILE,
                "explain_shows_the_inspection_of_a_page": _COMMAND,
            },
            "owner": {
                "the_second_site_is_refused_before_its_first_request": _FILE,
                "a_site_may_always_replace_its_own_files": _FILE,
            },
            "page_list": {
                "the_frame_of_the_site_by_a_site_file": _FILE,
            },
            "postgresql": {"without_the_driver_it_says_what_to_install": "crawls with SQLite, too"},
            "processes": {"an_inventory_in_a_file_is_refused": _NAMED},
            "random_kills": {
                "ten_random_kills_change_nothing_and_cost_little": "the requests of killed processes count on a server",
            },
            "shortage": {
                "a_user_who_may_start_no_thread_looks_up_no_name": "the heart of a process is a thread, too",
                "a_limit_of_the_size_of_files_is_named": _SIZE,
            },
            "several_processes": {"helpers_that_cannot_take_part_are_refused": _NAMED},
            "sites": {"what_two_sites_must_not_share": _NAMED},
            "status": {
                "a_run_that_could_not_begin": _FILE,
                "paths_that_the_status_file_cannot_have": _NAMED,
            },
            "submit_interrupted": {
                "a_kill_repeats_one_batch_at_most_and_not_within_ten_minutes": _COMMITS,
                "an_inventory_that_cannot_be_written_is_one_line": _FILE,
                "no_secret_gets_anywhere": _FILE,
            },
            "submit_sitemaps": {
                "a_kill_sends_no_file_again_within_ten_minutes": _COMMITS,
                "a_dry_run_asks_the_own_site_only_and_writes_nothing": _FILE,
                "a_dry_run_after_a_submission_plans_only_what_would_be_sent": _FILE,
            },
            "submit_urls": {
                "a_dry_run_counts_what_would_be_sent_at_this_moment": _FILE,
                "a_million_urls_would_take_nine_megabytes": _FILE,
            },
            "update": {
                "a_killed_update_leaves_a_whole_set_and_the_next_command_repairs": "restores the file from a copy",
                "two_commands_at_once": _LOCK,
            },
            "update_submit": {"without_a_service_nobody_is_told": "the site file names the file"},
            "validate_live": {"options_that_do_not_fit_are_one_line": _NAMED},
            "write": {
                "a_full_disk_is_reported_in_one_line": _SIZE,
                "what_cannot_be_used": _NAMED,
                "a_crawl_under_way_is_left_alone": _LOCK,
                "no_file_takes_the_place_of_another": "another file has the place of the inventory",
            },
        },
        "unit/crawl": {"reader_identity": {"a_crawl_stores_the_identifier_of_the_readers": _FILE}},
        "unit/inventory": {
            "store": {"a_crawl_is_named_while_it_lives_and_taken_over_when_it_was_killed": _LOCK},
            "unlocked": {"a_commit_before_any_statement_of_a_crawl_breaks_nothing": _FILE},
        },
    }.items()
    for module, tests in modules.items()
    for test, reason in tests.items()
}
"""Tests that need the file of an inventory, each with the reason."""


def name_of(item: pytest.Item | pytest.FunctionDefinition) -> str:
    """Return module and name of a test, as the lists above have them."""
    return item.nodeid.partition("[")[0].removeprefix("tests/")


def is_chosen(name: str) -> bool:
    """Return whether a test always runs with both databases."""
    return name in IN_BOTH or name.partition("::")[0] in MODULES_IN_BOTH
