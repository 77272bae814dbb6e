"""The day that a note is of, as it is written in its front matter, its headers or its file name."""

from __future__ import annotations

import re
from datetime import date

_YEAR = r"(?P<year>(?:19|20)\d\d)"
_MONTH, _DAY = r"(?P<month>0[1-9]|1[0-2])", r"(?P<day>0[1-9]|[12]\d|3[01])"
# 2025-01-31, 2025_01_31, 20250131, and the same with a time of day written behind it without a mark.
_END = r"(?=\d{4}(?:\d\d)?(?!\d)|(?!\d))"
_WHOLE = re.compile(rf"(?<!\d){_YEAR}(?P<mark>[-_./]?){_MONTH}(?P=mark){_DAY}{_END}")
_OF_MONTH = re.compile(rf"(?<!\d){_YEAR}[-_./]{_MONTH}(?![-_./]?\d)")
_OF_YEAR = re.compile(rf"{_YEAR}")


def written_date(text: str) -> str:
    """What a field of metadata says, "2025-01-31T10:00Z", as a day, "2025-01-31"; "" where it says none.

    A month or a year alone is its first day. The day is taken as it is written, whatever the time zone.
    """
    text = text.strip().strip("\"'<[ ")
    found = _WHOLE.match(text) or _OF_MONTH.match(text) or _OF_YEAR.fullmatch(text)
    return "" if found is None else _day(found)


def date_in_name(name: str) -> str:
    """The day in the name of a file, its folders left aside; "" where there is none."""
    base = name.rpartition("/")[2]
    for pattern in (_WHOLE, _OF_MONTH):
        for found in pattern.finditer(base):
            if day := _day(found):
                return day
    return ""


def _day(found: re.Match[str]) -> str:
    """In ISO form; "" for a day that the month does not have."""
    parts = found.groupdict()
    try:
        return date(int(parts["year"]), int(parts.get("month") or 1), int(parts.get("day") or 1)).isoformat()
    except ValueError:
        return ""
