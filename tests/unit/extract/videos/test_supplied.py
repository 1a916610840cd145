"""Videos that lists describe."""

from __future__ import annotations

from typing import Any

import pytest

from sitemap_crawler.extract.videos.supplied import supplied_video
from sitemap_crawler.sitemap.video import Video
from sitemap_crawler.urls.normalise import Resolver

T, V, P = "https://example.com/t.png", "https://example.com/v.mp4", "https://example.com/player?id=1"
REQUIRED = {"thumbnail_loc": T, "title": "A title", "description": "A text.", "content_loc": V}
NORMALISE = Resolver().normalise


def test_all_values_have_the_names_of_the_elements() -> None:
    optional = {
        "player_loc": P,
        "duration": 61,
        "expiration_date": "2030-01-02",
        "rating": 4.5,
        "view_count": 7,
        "publication_date": "2024-01-02T03:04:05Z",
        "tags": ["a", "b"],
        "family_friendly": "yes",
        "restriction": "allow DE FR",
        "requires_subscription": False,
        "uploader": "Somebody",
        "platform": "deny tv",
        "live": "no",
    }
    assert supplied_video({**REQUIRED, **optional}, NORMALISE) == Video(
        T, "A title", "A text.", V, P, 61, "2030-01-02", 4.5, 7, "2024-01-02T03:04:05+00:00", ("a", "b"),
        family_friendly=True, restriction="allow DE FR", requires_subscription=False, uploader="Somebody",
        platform="deny tv", live=False,
    )  # fmt: skip


@pytest.mark.parametrize("missing", REQUIRED)
def test_without_a_required_value_there_is_none(missing: str) -> None:
    assert supplied_video({**REQUIRED, missing: None}, NORMALISE) is None
    assert supplied_video({**REQUIRED, missing: 5 if missing.endswith("loc") else " "}, NORMALISE) is None


@pytest.mark.parametrize(
    "optional",
    [{"duration": "long"}, {"rating": []}, {"tags": {}}, {"live": "maybe"}, {"view_count": -1}, {"other": 1}],
)
def test_an_unusable_optional_value_is_dropped(optional: dict[str, Any]) -> None:
    assert supplied_video({**REQUIRED, **optional}, NORMALISE) == Video(T, "A title", "A text.", V)


def test_texts_are_plain_and_a_duration_may_be_iso() -> None:
    video = supplied_video({**REQUIRED, "title": "<b>A &amp; B</b>", "duration": "PT1M5S"}, NORMALISE)
    assert video is not None
    assert (video.title, video.duration) == ("A & B", 65)
