"""Shares of groups of flows in the goodput of a run, as metrics."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ackclock.metrics.declared import Metric
from ackclock.metrics.summary import BY_NAME

#: `share(cubic)`, `share(cubic, bbr3)`.
_FORM = re.compile(r"share\(\s*([^(),]+?)\s*(?:,\s*([^(),]+?)\s*)?\)")
#: The names that `metric_named` accepts.
NAMES = (*BY_NAME, "share(GROUP)", "share(GROUP, GROUP)")
_DEFINITION = "Payload delivered to the group over the payload of all flows, or of both groups of a pair."


@dataclass(frozen=True)
class GroupShare(Metric):
    """The share of a group of flows: in the goodput of all flows, or of the group and one other."""

    group: str = ""
    #: The other group of a pair.
    other: str | None = None

    @classmethod
    def between(cls, group: str, other: str | None = None) -> GroupShare:
        """Return the share of `group` in the goodput of all flows, or of the pair with `other`."""
        pair = f"{group}, {other}" if other is not None else group
        return cls(
            list="groups",
            key=f"share({pair})",
            name=f"share({pair})",
            unit="%",
            factor=100.0,
            better="neither",
            label=f"share of {group}" + (f" against {other}" if other is not None else ""),
            heading=f"share {pair}",
            absent="no flows of this group, or no goodput",
            definition=_DEFINITION,
            group=group,
            other=other,
        )

    @property
    def groups(self) -> tuple[str, ...]:
        """The group, and the other one of a pair."""
        return (self.group,) if self.other is None else (self.group, self.other)

    def of(self, document: dict[str, Any]) -> float | None:
        """Return the share, 0 to 1. None without such flows or without goodput."""
        delivered = delivered_of(document)
        if any(group not in delivered for group in self.groups):
            return None
        pair = (delivered[group] for group in self.groups)
        whole = sum(delivered.values() if self.other is None else pair)
        return delivered[self.group] / whole if whole > 0 else None


def delivered_of(document: dict[str, Any]) -> dict[str, float]:
    """Return the payload per second of each group of flows of a run, in the order of the scenario."""
    found: dict[str, float] = {}
    for flow in document["flows"]:
        found[flow["group"]] = found.get(flow["group"], 0.0) + flow["delivered_bps"]
    return found


def shares_of(document: dict[str, Any]) -> Sequence[GroupShare]:
    """Return the share of each group of a run. Empty for fewer than two groups."""
    groups = delivered_of(document)
    return [GroupShare.between(group) for group in groups] if len(groups) > 1 else []


def groups_of(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a row for each group of flows: its name, number of flows, payload per second and share."""
    flows = [flow["group"] for flow in document["flows"]]
    return [
        {
            "group": group,
            "flows": flows.count(group),
            "delivered_bps": delivered_bps,
            "share": GroupShare.between(group).of(document),
        }
        for group, delivered_bps in delivered_of(document).items()
    ]


def metric_named(text: str) -> Metric | None:
    """Return a metric of the summary, or `share(GROUP)` or `share(GROUP, GROUP)`. None for other names."""
    if (found := _FORM.fullmatch(text.strip())) is not None:
        return GroupShare.between(found[1], found[2])
    return BY_NAME.get(text.strip().replace("-", "_"))
