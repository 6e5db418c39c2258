"""The table of finding codes. `pinctl explain`, the SARIF rules and docs/codes.md are made from it.

Codes are never reused: a retired one stays in its module with `retired=True`.
"""

from pinctl.codes.build import CODES as BUILD
from pinctl.codes.code import Code
from pinctl.codes.contract import CODES as CONTRACT
from pinctl.codes.environment import CODES as ENVIRONMENT
from pinctl.codes.index import CODES as INDEX
from pinctl.codes.manifest import CODES as MANIFEST
from pinctl.codes.patches import CODES as PATCHES
from pinctl.codes.sites import CODES as SITES
from pinctl.codes.upstream import CODES as UPSTREAM
from pinctl.codes.wheels import CODES as WHEELS

FAMILIES = {
    "PIN1": "pins.toml",
    "PIN2": "sites",
    "PIN3": "upstream tree",
    "PIN4": "contract",
    "PIN5": "patches",
    "PIN6": "build and wheel",
    "PIN7": "publishing and index",
    "PIN8": "environment",
    "PIN9": "evidence",
}
"""What the codes that begin alike are about."""

CODES: dict[str, Code] = {
    code.id: code for code in (*MANIFEST, *SITES, *UPSTREAM, *CONTRACT, *PATCHES, *WHEELS, *BUILD, *INDEX, *ENVIRONMENT)
}
