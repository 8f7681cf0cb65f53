"""Tables of the keys of a scenario for docs/reference/keys, from the JSON Schema of the engine."""

import functools
import json
import re
from collections.abc import Callable, Iterable
from typing import Any

from ackclock import _core
from markdown_table import table

#: The help of a flow's own copy of a transport key ends with this.
INHERITED = "By default as in [transport]."
#: Tables that contain the same keys at every place, by the name of the generated part.
REPEATED = {"loss": "impairments", "queue": "queues", "varies": "capacity", "leaves": "capacity"}
SAME_EVERYWHERE = re.compile(r"^.+\.(loss|queue|varies|leaves)\.(\w+)$")
#: Impairments are the same keys at links, topologies and access links, and in both directions.
IMPAIRMENT = re.compile(
    r"^(?:links\.NAME|topology)(?:\.reverse|\.access)?\.((?:corruption|delay_varies|duplication|jitter|jitter_reorders"
    r"|loss|outages|reordering)(?:\..+)?)$"
)
#: The generated part of a key by the beginning of its path. The first match counts.
PARTS = (
    ("flows.traffic", "traffic"),
    ("flows", "flows"),
    ("transport", "transport"),
    ("links", "links"),
    ("topology", "links"),
    ("channels", "channels"),
    ("meters", "meters"),
    ("", "run"),
)
#: Parts with one table for each kind.
BY_KIND = ("queues", "traffic", "capacity")
HEADINGS = {
    False: ("key", "takes", "default", "meaning"),
    True: ("key", "takes", "default", "by profile", "meaning"),
}
#: The place between two sentences of a help.
SENTENCES = re.compile(r"(?<=\.) (?=[`A-Z\"])")


@functools.cache
def rows() -> dict[str, list[dict[str, Any]]]:
    """Return the keys of each generated part. A key that is the same at several places occurs once."""
    found: dict[str, list[dict[str, Any]]] = {}
    seen: dict[tuple[str, str], dict[str, Any]] = {}
    for key in json.loads(_core.keys_json()):
        key["help"] = " ".join(key["help"].split())
        if key["help"].endswith(INHERITED):
            continue
        part, name, kinds = place(key)
        if (name, key["help"]) in seen:
            listed = seen[name, key["help"]]["kinds"]
            listed.extend(kind for kind in kinds if kind not in listed)
            continue
        seen[name, key["help"]] = key | {"name": name, "kinds": kinds}
        found.setdefault(part, []).append(seen[name, key["help"]])
    return found


def place(key: dict[str, Any]) -> tuple[str, str, list[str]]:
    """Return the generated part of a key, its name there, and the kinds of table to which it belongs."""
    path, kinds = key["path"], [key["of_kind"]] if key["of_kind"] else []
    repeated = SAME_EVERYWHERE.match(path)
    if repeated and key["of_kind"] == "drop-tail":
        # The limit of a drop-tail queue has a default of its own at every place.
        return "queues", f"`{path}`", kinds
    if repeated:
        tables = ["varies", "leaves"] if REPEATED[repeated[1]] == "capacity" else [repeated[1]]
        return REPEATED[repeated[1]], ", ".join(f"`{name}.{repeated[2]}`" for name in tables), kinds
    if impairment := IMPAIRMENT.match(path):
        # Both shapes of a topology contain them.
        return "impairments", f"`{impairment[1]}`", kinds if "." in impairment[1] else []
    return next(part for start, part in PARTS if path.startswith(start)), f"`{path}`", kinds


def part(name: str) -> str:
    """Return the tables of one generated part."""
    listed = rows()[name]
    if name not in BY_KIND:
        return key_table(listed)
    sections = []
    for kind in dict.fromkeys(kind for key in listed for kind in of_kind(key, name)):
        keys = [key | {"kinds": []} for key in listed if kind in of_kind(key, name)]
        sections.append(f"### {kind}\n\n{key_table(keys)}")
    if nested := [key for key in listed if not of_kind(key, name)]:
        sections.append(f"### Tables inside `{name}`\n\n{key_table(nested)}")
    return "\n\n".join(sections)


def of_kind(key: dict[str, Any], part_name: str) -> list[str]:
    """Return the kinds under which a key is listed: of the whole part, and not of a table inside it."""
    if part_name == "traffic" and key["path"].count(".") > len(("flows", "traffic")):
        return []
    return list(key["kinds"])


def key_table(keys: Iterable[dict[str, Any]]) -> str:
    """Return a table of keys, with a column of profiles if a key needs it."""
    keys = list(keys)
    has_profiles = any(key.get("profiles") for key in keys)
    head = HEADINGS[has_profiles]
    lines = [head, ("---",) * len(head)]
    for key in keys:
        name = f"{key['name']} ({', '.join(key['kinds'])})" if key["kinds"] else key["name"]
        default = "**required**" if key["required"] else code(key["default"])
        profiles = ", ".join(
            f"{profile}: {code(value)}" for profile, value in key.get("profiles", {}).items()
        )
        lines.append((name, key["kind"], default, *([profiles] if has_profiles else []), key["help"]))
    return table(lines)


def parameters() -> str:
    """Return a table of the parameters of all algorithms."""
    lines = [("algorithm", "parameter", "takes", "default", "meaning"), ("---",) * 5]
    for algorithm in json.loads(_core.list_json("cc")):
        for parameter in algorithm["parameters"]:
            default = parameter["default"]
            written = f"{default:g}" if isinstance(default, float) else str(default).lower()
            shown = (
                "**required**" if parameter["required"] else code(written if default is not None else None)
            )
            help_text = " ".join(parameter["help"].split())
            lines.append(
                (f"`{algorithm['name']}`", f"`{parameter['name']}`", parameter["takes"], shown, help_text)
            )
    return table(lines)


def of_profiles(*profiles: str, meanings: bool = False) -> str:
    """Return a table of the transport keys whose defaults differ between `rfc` and one of these profiles."""
    head = ("key", "`rfc`", *(f"`{name}`" for name in profiles), *(["meaning"] if meanings else []))
    lines = [head, ("---",) * len(head)]
    for key in rows()["transport"]:
        settings = key.get("profiles", {})
        if not any(name in settings for name in profiles):
            continue
        values = [code(settings.get(name, key["default"])) for name in profiles]
        meaning = [short(key["help"], code(key["default"]), *values)] if meanings else []
        lines.append((f"`{key['path'].removeprefix('transport.')}`", code(key["default"]), *values, *meaning))
    return table(lines)


def short(help_text: str, *values: str) -> str:
    """Return the first sentence of a help and the sentences about these values."""
    first, *others = SENTENCES.split(help_text)
    return " ".join(
        [first, *(text for text in others if text.startswith(tuple(f"{value}:" for value in values)))]
    )


def code(text: str | None) -> str:
    """Return the text as code, or nothing for no default."""
    return f"`{text}`" if text is not None else ""


#: The generated parts by name.
GENERATED: dict[str, Callable[[], str]] = {
    **{
        f"keys_{name}": functools.partial(part, name)
        for name in (
            "run", "flows", "transport", "links", "impairments", "capacity", "queues", "traffic", "channels",
            "meters",
        )
    },
    "parameters": parameters,
    "profile_linux": functools.partial(of_profiles, "linux", meanings=True),
    "profiles": functools.partial(of_profiles, "linux", "ns-2", "ns-2-linux", "quic"),
}  # fmt: skip
