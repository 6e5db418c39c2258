"""Recipes as a consumer gets them: rendered from a pin, then run by their own tools."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from pinctl.model import Manifest, Pin
from pinctl.render import context, render

RECIPES = Path(__file__).parents[2] / "recipes"
Render = Callable[..., str]


@pytest.fixture
def recipe() -> Render:
    """`recipe(NAME, pin, file=..., OPTION=...)` is what the bundled recipe NAME renders for `pin`."""

    def rendered(
        name: str, pin: Pin | None, /, *, file: str = "", pins: Mapping[str, Pin] | None = None, **options: object
    ) -> str:
        manifest = Manifest(path="pins.toml", text="", pins=pins or ({pin.name: pin} if pin else {}))
        template = (RECIPES / name / "template.j2").read_text(encoding="utf-8")
        return render(template, context(pin, manifest, options, file=file))

    return rendered
