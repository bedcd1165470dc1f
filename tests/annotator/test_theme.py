"""One look: sign-in, the application, the judging page and the report have the same colours and the same letters."""

import re
from pathlib import Path

import pytest

import annotator_ui
import eds.reports
from annotator_ui.theme import DARK, FONT, LIGHT, STYLE, THEME

REPORT = (Path(eds.reports.__file__).parent / "templates" / "style.css").read_text(encoding="utf-8")
JUDGING = (Path(annotator_ui.__file__).parent / "judging" / "static" / "judging.css").read_text(encoding="utf-8")
SAME = {"paper": ("surface", "background"), "ink": ("text", "text"), "faint": ("quiet", "quiet")}
SAME |= {"line": ("border", "border"), "accent": ("link", "link"), "card": ("background", "surface")}


@pytest.mark.parametrize(("theme", "marker"), [(0, ":root {"), (1, ':root[data-theme="dark"] {')])
def test_the_report_has_the_colours_of_the_application(theme: int, marker: str) -> None:
    block = REPORT.split(marker, 1)[1].split("}", 1)[0]
    found = dict(re.findall(r"--([a-z]+): (#[0-9a-f]{6});", block))
    colours = (LIGHT, DARK)[theme]
    assert {name: found[name] for name in SAME} == {name: colours[of[theme]] for name, of in SAME.items()}


def test_every_page_has_the_same_letters() -> None:
    assert FONT in REPORT
    assert FONT in STYLE
    assert THEME["theme.font"] == FONT
    assert "var(--st-font" in JUDGING  # Streamlit's, which is the theme's


def test_sign_in_and_streamlit_have_the_same_colours() -> None:
    for name, colours in (("light", LIGHT), ("dark", DARK)):
        for setting, of in (("primaryColor", "primary"), ("textColor", "text"), ("borderColor", "border")):
            assert THEME[f"theme.{name}.{setting}"] == colours[of]
        assert all(f"--{key.replace('_', '-')}: {value};" in STYLE for key, value in colours.items())
