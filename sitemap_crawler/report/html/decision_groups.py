"""The groups of decisions that the HTML report distinguishes: one colour, one word and one position each."""

from __future__ import annotations

from enum import IntEnum

from sitemap_crawler.policy.reasons import Reason, ReasonGroup


class Group(IntEnum):
    """Group of decisions. The number is the position in pictures and tables: what needs a person comes first."""

    name_in_page: str
    short: str
    label: str
    phrase: str

    def __new__(cls, value: int, name_in_page: str, short: str, label: str) -> Group:
        member = int.__new__(cls, value)
        member._value_ = value
        member.name_in_page = name_in_page
        member.short = short
        member.label = label
        member.phrase = label[0].lower() + label[1:]
        return member

    BROKEN = 0, "broken", "Broken", ReasonGroup.BROKEN.label
    AT_RISK = 1, "risk", "At risk", ReasonGroup.AT_RISK.label
    ASKED = 2, "asked", "On request", ReasonGroup.ASKED.label
    OF_COURSE = 3, "course", "Normal", ReasonGroup.OF_COURSE.label
    LISTED = 4, "listed", "Listed", ReasonGroup.LISTED.label
    OPEN = 5, "open", "Undecided", "Not decided yet"


Counts = list[int]
"""Number of URLs of each group, by its number."""


def no_counts() -> Counts:
    return [0] * len(Group)


_GROUPS = {
    ReasonGroup.BROKEN: Group.BROKEN,
    ReasonGroup.AT_RISK: Group.AT_RISK,
    ReasonGroup.ASKED: Group.ASKED,
    ReasonGroup.OF_COURSE: Group.OF_COURSE,
    ReasonGroup.LISTED: Group.LISTED,
}
GROUP_OF = {reason: _GROUPS[reason.traits.group] for reason in Reason}
"""Group of each reason. URLs out of the scope are counted apart, and no picture shows them."""
