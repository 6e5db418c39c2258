"""docs/codes.md, made from the table of codes: `python -m pinctl.report.codes_page > docs/codes.md`."""

import sys
from collections.abc import Iterable
from itertools import groupby

from pinctl.codes.code import Code
from pinctl.codes.table import CODES, FAMILIES

HOME = "https://github.com/pinctl/pinctl"


def anchor(code: Code) -> str:
    """The fragment of a code's section in the page."""
    return code.id.lower()


def page(codes: Iterable[Code] = tuple(CODES.values())) -> str:
    """The page: a section a family, and in it one a code, in the order of the table."""
    parts = [
        "# Finding codes\n\n"
        "Made from the table in `pinctl/codes/`; `pinctl explain CODE` shows the same. A code keeps its meaning for\n"
        "ever: scripts, waivers and `--accept` may rely on it.\n"
    ]
    for family, members in groupby(codes, key=lambda code: code.family):
        parts.append(f"\n## {family}xx: {FAMILIES[family]}\n")
        parts += map(_section, members)
    return "".join(parts)


def _section(code: Code) -> str:
    retired = "; retired: no longer reported" if code.retired else ""
    return (
        f'\n<a id="{anchor(code)}"></a>\n\n### {code.id}: {code.title}\n\n'
        f"*{code.severity}{retired}.* {code.text}\n\n"
        f"```text\n{code.example}\n```\n\n"
        f"**Mend:** {code.fix}\n"
    )


if __name__ == "__main__":
    sys.stdout.write(page())
