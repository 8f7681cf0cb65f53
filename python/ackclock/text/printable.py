"""Text that a terminal shows as it is: names come from files, and may hold anything."""

from __future__ import annotations

import re

#: Control characters other than tab and newline, marks that turn the direction of writing, halves of pairs.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    r"""Return text with its control characters escaped: an escape becomes `\x1b`."""
    return _UNSAFE.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def one_line(text: str) -> str:
    r"""Return printable text without line breaks and tabs, which become `\n` and `\t`."""
    return printable(text).replace("\n", r"\n").replace("\t", r"\t")
