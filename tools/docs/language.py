"""Checks the language of pages, help texts, messages and doc comments.

    python tools/docs/language.py [PATH ...]          prints each finding as `file:line: rule: text`
    python tools/docs/language.py --check PATH ...    exits with 1 where there is a finding
    python tools/docs/language.py --summary           prints the figures of each file
    python tools/docs/language.py --baseline          writes the counts that may only fall

The rules: a sentence contains at most 20 words and never more than 30. Prose contains no semicolon. The words
and patterns of `language.toml` are banned. Headings are search terms, and link texts name their targets.
`language_exceptions.toml` lists findings that may stay, each with a reason.
"""

import argparse
import ast
import functools
import re
import sys
import textwrap
import tokenize
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RULES = Path(__file__).with_name("language.toml")
EXCEPTIONS = Path(__file__).with_name("language_exceptions.toml")
BASELINE = Path(__file__).with_name("language_baseline.toml")
BASELINE_HEAD = """\
# Findings of tools/docs/language.py that each page and each folder of sources still contains. Any other page
# contains none. tests/test_language.py fails where a count grows. Write the counts again with:
# python tools/docs/language.py --baseline

[findings]
"""

LONG = 20
HARD = 30

#: Folders and files read when no path is given.
DEFAULT = ("*.md", "docs", "paper", "examples", "python/ackclock", "crates", "web", "tools", "bpf", "fuzz")
#: Folders of other people's work and of built files.
SKIPPED = {"target", "node_modules", "vendor", "module", "site", ".venv", "__pycache__", "measured", "golden"}
SUFFIXES = {".md", ".py", ".rs", ".js", ".mjs", ".ts", ".toml", ".jinja", ".c", ".h"}
#: Keys of TOML files whose values are read by people.
TEXT_KEYS = {"title", "question", "about", "description", "text", "claim", "note", "summary", "reason"}

#: Stands for inline code and for placeholders: one word that no rule knows.
CODE = "CODE"
#: Words that end with a full stop inside of a sentence.
ABBREVIATIONS = re.compile(
    r"\b(?:e\.g|i\.e|et al|etc|vs|cf|Figs?|Eqs?|[Nn]o|Sec|Tab|Ref|pp?|approx|incl|St|Dr|Mr|Ms|[A-Z])\.$"
)
CLOSING = "[\"'\\)*_\u201d\u2019]*"
#: Names that begin a sentence without a capital.
LOWER = "(?:ackclock|packetdrill|mahimahi|netem|qlog|qvis|ns-[23]|eBPF|s2n|iperf3|tshark)"
END = re.compile(
    rf"[.!?]{CLOSING}(?=\s+[\"'(*_\[\u201c\u2018]*(?:[A-Z0-9`]|{LOWER}\b))"
    rf"|[.!?]{CLOSING}\s*$"
)
WORD = re.compile("[^\\W_](?:[\\w'\u2019./,:%+-]*[\\w%])?")
FENCE = re.compile(r"^\s*(```+|~~~+)")
ITEM = re.compile(r"^(\s*)([-*+]|\d+[.)])\s+(.*)$")
HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")
ROW = re.compile(r"^\s*\|")
RULE = re.compile(r"^\s*\|?[\s:|-]+\|?\s*$")
LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^)]*\)|!?\[([^\]]*)\]\[[^\]]*\]")
IMAGE = re.compile(r"\[!\[[^\]]*\]\([^)]*\)\]\([^)]*\)|!\[[^\]]*\]\([^)]*\)")
TAG = re.compile(r"</?[A-Za-z][^>]*>|<!--.*?-->", re.DOTALL)
ENTITY = re.compile(r"&(#\d+|#x[0-9a-f]+|\w+);")
#: Strings that are not for people: SQL, style sheets, HTML, scripts and scenarios.
SOURCE = re.compile(
    r"^\s*(?:SELECT|CREATE|ALTER|CASE|INSERT|UPDATE|DELETE|WITH|PRAGMA|import)\b|<!doctype|=> "
    r"|(?:\n|\\n).* = |^\[\[|= \{ kind|^\{ kind|\{\s*[\w-]+: ?[^;{}]+;",
    re.DOTALL,
)
SPAN = re.compile(r"(``+).+?\1|`[^`]*`", re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One piece of text: a paragraph, an item, a cell, a heading, a comment or a message."""

    line: int
    kind: str  # prose, cell, heading, comment, message
    text: str


@dataclass(frozen=True)
class Finding:
    """One violation of a rule."""

    path: str
    line: int
    rule: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.text}"


@dataclass
class Figures:
    """The counts of one file."""

    sentences: int = 0
    words: int = 0
    long: int = 0
    hard: int = 0
    semicolons: int = 0
    banned: int = 0

    def __add__(self, other: "Figures") -> "Figures":
        return Figures(*(a + b for a, b in zip(vars(self).values(), vars(other).values(), strict=True)))

    @property
    def mean(self) -> float:
        """The mean number of words of a sentence."""
        return self.words / self.sentences if self.sentences else 0.0


# --- Reading files


def markdown(text: str, kind: str = "prose", first: int = 1) -> Iterator[Block]:
    """Yield the blocks of a Markdown text."""
    lines = text.split("\n")
    pending: list[str] = []
    start = first
    fence = ""
    comment = False
    in_item = False

    def flush() -> Iterator[Block]:
        if any(part.strip() for part in pending):
            yield Block(start, kind, "\n".join(pending))
        pending.clear()

    position = 0
    if first == 1 and lines and lines[0] == "---" and "---" in lines[1:]:
        position = lines.index("---", 1) + 1
    for number, line in enumerate(lines[position:], first + position):
        marker = FENCE.match(line)
        if fence:
            if marker and marker[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            continue
        if comment:
            comment = "-->" not in line
            continue
        if marker:
            yield from flush()
            fence = marker[1]
        elif line.lstrip().startswith("<!--"):
            yield from flush()
            comment = "-->" not in line
        elif not line.strip():
            yield from flush()
        elif found := HEADING.match(line):
            yield from flush()
            yield Block(number, "heading" if kind == "prose" else kind, found[2])
            in_item = False
        elif ROW.match(line):
            yield from flush()
            if not RULE.match(line):
                for cell in re.split(r"(?<!\\)\|", line.strip().strip("|")):
                    if cell.strip():
                        yield Block(number, "cell", cell.strip())
        elif found := ITEM.match(line):
            yield from flush()
            start, in_item = number, True
            pending.append(found[3])
        elif not pending and line.startswith("    ") and not in_item:
            continue
        else:
            if not pending:
                start = number
                in_item = in_item and line.startswith(" ")
            pending.append(re.sub(r"^\s*>\s?", "", line).strip())
    yield from flush()


def docstring(text: str, line: int) -> Iterator[Block]:
    """Yield the blocks of a docstring, without its examples."""
    first, _, rest = text.partition("\n")
    body = first.strip() + "\n" + textwrap.dedent(rest)
    # click keeps the lines of a part that begins with \b: an example or a table.
    body = re.sub(r"\x08\n(?:[^\n]+\n?)*", lambda part: "\n" * part[0].count("\n"), body)
    body = re.sub(r"^(>>>|\.\.\.|\$ ).*$", "", body, flags=re.MULTILINE)
    yield from markdown(body, "comment", line)


def python(text: str) -> Iterator[Block]:
    """Yield docstrings, `#:` comments, help texts and messages of a Python file."""
    tree = ast.parse(text)
    read: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[0] if node.body else None
            value = body.value if isinstance(body, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                read.add(value)
                yield from docstring(value.value, value.lineno)
        elif isinstance(node, ast.JoinedStr):
            read.update(node.values)
        if node not in read and isinstance(node, ast.Constant | ast.JoinedStr):
            yield from message(node)
    comments = [
        (token.start[0], token.string[2:].strip())
        for token in tokenize.generate_tokens(iter(text.splitlines(keepends=True)).__next__)
        if token.type == tokenize.COMMENT and token.string.startswith("#:")
    ]
    yield from joined(comments)


def message(node: ast.AST) -> Iterator[Block]:
    """Yield a text that a program prints, its placeholders as one word each."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
    elif isinstance(node, ast.JoinedStr):
        text = "".join(str(part.value) if isinstance(part, ast.Constant) else CODE for part in node.values)
    else:
        return
    if is_prose(text):
        yield Block(node.lineno, "message", text)


def is_prose(text: str) -> bool:
    """Whether a text is for people: it contains three words, and is not source code."""
    return len(re.findall(r"\b[A-Za-z]+ ", text)) >= 3 and not SOURCE.search(text)


def joined(comments: Iterable[tuple[int, str]]) -> Iterator[Block]:
    """Yield comments, those on adjacent lines as one text."""
    part: list[str] = []
    start = last = 0
    for number, text in comments:
        if part and number != last + 1:
            yield from markdown("\n".join(part), "comment", start)
            part = []
        if not part:
            start = number
        part.append(text)
        last = number
    if part:
        yield from markdown("\n".join(part), "comment", start)


def rust(text: str) -> Iterator[Block]:
    """Yield the doc comments of a Rust file, and the messages outside of its tests."""
    comments = []
    for number, line in enumerate(text.split("\n"), 1):
        if found := re.match(r"^\s*//[/!](?!/)\s?(.*)$", line):
            comments.append((number, found[1]))
    yield from joined(comments)
    code = re.sub(r"^\s*//.*$", "", text.split("#[cfg(test)]")[0], flags=re.MULTILINE)
    for literal in re.finditer(r'"((?:[^"\\\n]|\\.|\\\n)*)"', code):
        told = re.sub(r"\\\n\s*", "", literal[1])
        if is_prose(told):
            place = code.count("\n", 0, literal.start()) + 1
            yield Block(place, "message", re.sub(r"\{[^}]*\}", CODE, told))


def slashes(text: str) -> Iterator[Block]:
    """Yield the comments and messages of a file of JavaScript, TypeScript or C."""
    comments = []
    block = False
    for number, line in enumerate(text.split("\n"), 1):
        if block:
            comments.append((number, re.sub(r"^\s*\*? ?|\s*\*/.*$", "", line)))
            block = "*/" not in line
        elif found := re.match(r"^\s*//+\s?(?!\s*(?:@|eslint|SPDX))(.*)$", line):
            comments.append((number, found[1]))
        elif found := re.match(r"^\s*/\*+\s?(.*?)(\*/.*)?$", line):
            comments.append((number, found[1]))
            block = found[2] is None
    yield from joined(
        (number, re.sub(r"^@\w+(\s+\{[^}]*\})?(\s+\S+)?", "", part)) for number, part in comments
    )
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith(("//", "*", "/*")):
            continue
        for literal in re.findall(r'"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`', line):
            if is_prose(told := "".join(literal)):
                yield Block(number, "message", re.sub(r"\$?\{[^}]*\}", CODE, told))


def toml(text: str) -> Iterator[Block]:
    """Yield the texts for people of a TOML file."""
    for number, line in enumerate(text.split("\n"), 1):
        found = re.match(r"^\s*(\w+)\s*=\s*([\"'])(.*)\2\s*(#.*)?$", line)
        if found and found[1] in TEXT_KEYS and found[3].count(" ") >= 2:
            yield Block(number, "message", found[3])


def jinja(text: str) -> Iterator[Block]:
    """Yield the texts of an HTML template."""

    def blank(part: re.Match[str]) -> str:
        return "\0" + "\n" * part[0].count("\n")

    text = re.sub(r"<(script|style|svg)\b.*?</\1>", blank, text, flags=re.DOTALL)
    text = re.sub(r"\{#.*?#\}|\{%.*?%\}", lambda part: "\n" * part[0].count("\n"), text, flags=re.DOTALL)
    text = re.sub(r"\{\{.*?\}\}", lambda part: CODE + "\n" * part[0].count("\n"), text, flags=re.DOTALL)
    text = re.sub(r"</?(b|i|em|strong|code|a|span|kbd|abbr)\b[^>]*>", "", text)
    text = re.sub(r"<[^>]*>", blank, text)
    line = 1
    for part in text.split("\0"):
        stripped = part.lstrip()
        if stripped.count(" ") >= 2:
            yield Block(line + part[: len(part) - len(stripped)].count("\n"), "message", stripped.rstrip())
        line += part.count("\n")


READERS = {
    ".md": markdown, ".py": python, ".rs": rust, ".js": slashes, ".mjs": slashes, ".ts": slashes,
    ".c": slashes, ".h": slashes, ".toml": toml, ".jinja": jinja,
}  # fmt: skip


def files(paths: Iterable[str | Path]) -> list[Path]:
    """Return the files to check under these paths."""
    found: set[Path] = set()
    for given in paths:
        path = Path(given)
        path = path if path.is_absolute() else ROOT / path
        if path.is_dir():
            found.update(
                file
                for file in path.rglob("*")
                if file.suffix in SUFFIXES
                and not SKIPPED & set(file.relative_to(path).parts[:-1])
                and not any(part.startswith(".") for part in file.relative_to(path).parts)
                and file.is_file()
            )
        elif path.is_file():
            if path.suffix in SUFFIXES:
                found.add(path)
        else:
            found.update(ROOT.glob(str(given)))
    return sorted(file for file in found if not file.name.endswith((".md.jinja", ".d.ts")))


# --- Checking texts


def plain(text: str) -> str:
    """Return the text as it is read: without code, tags, link targets and emphasis, its lines kept."""

    def keep(part: re.Match[str], word: str) -> str:
        return word + "\n" * part[0].count("\n")

    text = SPAN.sub(lambda part: keep(part, CODE), text)
    text = IMAGE.sub(lambda part: keep(part, ""), text)
    text = LINK.sub(lambda part: part[1] if part[1] is not None else part[2] or "", text)
    text = TAG.sub(lambda part: keep(part, ""), text)
    text = re.sub(r"\[([A-Z]\w*(?:::\w+)*|\w+(?:::\w+)+)\]", CODE, text)
    text = ENTITY.sub("x", text)
    text = re.sub(r"https?://\S+", CODE, text)
    text = re.sub(r"\$[^$\n]+\$", CODE, text)
    return re.sub(r"\*\*|(?<!\w)[*_]|[*_](?!\w)", "", text)


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """Yield the sentences of a plain text, each with the number of line breaks before it."""
    start = 0
    for end in END.finditer(text):
        if ABBREVIATIONS.search(text[start : end.start() + 1]) and end.end() < len(text.rstrip()):
            continue
        part = text[start : end.end()]
        if part.strip():
            lead = len(part) - len(part.lstrip())
            yield text[: start + lead].count("\n"), " ".join(part.split())
        start = end.end()
    if rest := text[start:].strip():
        lead = len(text[start:]) - len(text[start:].lstrip())
        yield text[: start + lead].count("\n"), " ".join(rest.split())


def words(sentence: str) -> int:
    """Return the number of words of a sentence. Inline code counts as one."""
    return len(WORD.findall(sentence))


@functools.cache
def rules() -> tuple[list[tuple[re.Pattern[str], str, list[str] | None]], re.Pattern[str], re.Pattern[str]]:
    """Return the banned patterns, the pattern of bad headings and the pattern of bad link texts."""
    table = tomllib.loads(RULES.read_text(encoding="utf-8"))
    banned = [
        (
            re.compile(rule["pattern"], re.IGNORECASE),
            f"{rule['reason']}; use {rule['replacement']}",
            rule.get("kinds"),
        )
        for rule in table["banned"]
    ]
    heading, link = (re.compile(table[name]["pattern"], re.IGNORECASE) for name in ("heading", "link"))
    return banned, heading, link


@functools.cache
def exceptions() -> list[tuple[str, str, str]]:
    """Return path, rule and text of the findings that may stay."""
    table = tomllib.loads(EXCEPTIONS.read_text(encoding="utf-8"))
    return [(entry["path"], entry["rule"], entry["text"]) for entry in table.get("exception", [])]


def is_excepted(finding: Finding) -> bool:
    """Whether the finding is listed as one that may stay."""
    return any(
        finding.path == path and finding.rule == rule and text in finding.text
        for path, rule, text in exceptions()
    )


def check_block(path: str, block: Block, figures: Figures) -> Iterator[Finding]:
    """Yield the findings of one block and count its sentences."""
    banned, heading, link = rules()
    if block.kind != "message":
        for found in LINK.finditer(SPAN.sub(lambda part: CODE + "\n" * part[0].count("\n"), block.text)):
            name = " ".join((found[1] or found[2] or "").split())
            if link.match(name) and not found[0].startswith("!"):
                line = block.line + block.text[: found.start()].count("\n")
                yield Finding(path, line, "link", f"“{name}” does not say where it leads")
    text = plain(block.text)
    if block.kind == "heading" and heading.match(text):
        yield Finding(path, block.line, "heading", text)
    for breaks, sentence in sentences(text):
        line = block.line + breaks
        # In messages a semicolon separates the mistake from its remedy.
        parts = sentence.split("; ") if block.kind == "message" else [sentence]
        count = max(map(words, parts))
        if block.kind in ("prose", "comment") and count > 1:
            figures.sentences += 1
            figures.words += count
        if count > HARD:
            figures.hard += 1
            figures.long += 1
            yield Finding(path, line, "hard", f"{count} words: {sentence}")
        elif count > LONG:
            figures.long += 1
            yield Finding(path, line, "long", f"{count} words: {sentence}")
        if ";" in sentence and block.kind != "message":
            figures.semicolons += 1
            yield Finding(path, line, "semicolon", sentence)
        kind = "prose" if block.kind == "cell" else block.kind
        for pattern, reason, kinds in banned:
            if kinds and kind not in kinds:
                continue
            if hit := pattern.search(sentence):
                figures.banned += 1
                yield Finding(path, line, "banned", f"“{hit[0].strip()}” ({reason}): {sentence}")


def check(file: Path, source: str | None = None) -> tuple[list[Finding], Figures]:
    """Return the findings of one file without its exceptions, and its figures."""
    path = str(file.relative_to(ROOT)) if file.is_relative_to(ROOT) else str(file)
    text = file.read_text(encoding="utf-8") if source is None else source
    figures = Figures()
    findings: list[Finding] = []
    try:
        for block in READERS[file.suffix](text):
            if block.kind != "message" or "tests" not in file.parts:
                findings += check_block(path, block, figures)
    except SyntaxError:
        pass  # a file that is wrong on purpose
    return sorted((f for f in findings if not is_excepted(f)), key=lambda f: f.line), figures


def area(path: Path) -> str:
    """Return the area in which the findings of a file are counted: a page by itself, sources by folder."""
    name = path.relative_to(ROOT)
    if name.suffix == ".md":
        return str(name)
    depth = {"python": 3, "crates": 2, "tools": 2, "web": 2}.get(name.parts[0], 1)
    return "/".join(name.parts[:-1][:depth])


def write_baseline() -> None:
    """Write the number of findings of each area, which tests/test_language.py lets fall only."""
    counts: dict[str, int] = {}
    for file in files(DEFAULT):
        if found := len(check(file)[0]):
            counts[area(file)] = counts.get(area(file), 0) + found
    lines = [f'"{name}" = {number}' for name, number in sorted(counts.items())]
    BASELINE.write_text(BASELINE_HEAD + "\n".join(lines) + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and folders; by default all")
    parser.add_argument("--check", action="store_true", help="exit with 1 if there is a finding")
    parser.add_argument("--summary", action="store_true", help="print the figures of each file")
    parser.add_argument("--baseline", action="store_true", help="write the counts of all areas")
    options = parser.parse_args()
    if options.baseline:
        write_baseline()
        return 0
    total = Figures()
    number = 0
    if options.summary:
        print(f"{'sentences':>9} {'mean':>5} {'>20':>5} {'>30':>5} {'semi':>5} {'banned':>6}  file")
    for file in files(options.paths or DEFAULT):
        findings, figures = check(file)
        number += len(findings)
        total += figures
        if options.summary:
            if figures.sentences or findings:
                print(row(figures, str(file.relative_to(ROOT) if file.is_relative_to(ROOT) else file)))
        else:
            for finding in findings:
                print(finding)
    if options.summary:
        print(row(total, f"all; {number} findings"))
    return 1 if options.check and number else 0


def row(figures: Figures, name: str) -> str:
    """Return the line of a file in the summary."""
    return (
        f"{figures.sentences:9} {figures.mean:5.1f} {figures.long:5} {figures.hard:5}"
        f" {figures.semicolons:5} {figures.banned:6}  {name}"
    )


if __name__ == "__main__":
    sys.exit(main())
