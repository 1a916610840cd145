"""A site with TLS: certificates are verified, unless a setting switches that off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.support.program import Program


@pytest.mark.parametrize("robots", ["ROBOTSTXT_OBEY=1", "ROBOTSTXT_OBEY=0"])
def test_a_certificate_that_nobody_vouches_for(program: Program, secure_site: str, robots: str) -> None:
    result = program.crawl(secure_site, "-s", robots, "-s", "RETRY_TIMES=0")
    assert result.code == 3
    assert "self-signed certificate" in result.last_line
    assert "DOWNLOAD_VERIFY_CERTIFICATES=0" in result.last_line


def test_verification_can_be_switched_off(program: Program, secure_site: str) -> None:
    result = program.crawl(secure_site, "-s", "DOWNLOAD_VERIFY_CERTIFICATES=0")
    assert result.listed() == [secure_site, f"{secure_site}a"]
