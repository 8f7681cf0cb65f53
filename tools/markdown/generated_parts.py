"""The generated parts of a page: `<!-- generated: NAME -->`, the text, `<!-- end -->`."""

import re
from collections.abc import Callable

PART = re.compile(r"<!-- generated: (\w+) -->.*?<!-- end -->", re.DOTALL)


def renewed(page: str, part: Callable[[str], str]) -> str:
    """Return the page with each generated part renewed. `part` returns the text of a name."""
    return PART.sub(lambda found: f"<!-- generated: {found[1]} -->\n\n{part(found[1])}\n\n<!-- end -->", page)
