"""Names of rows and columns stay different when they are cut."""

from hypothesis import given
from hypothesis import strategies as st

from eds.reports.charts import heat_map
from eds.reports.short_names import shorten
from eds.reports.svg import chart_svg

STAMPS = [
    f"symbols/alphabets/{tongue}/{kind}/uppercase (26)" for tongue in ("english", "spanish") for kind in ("a", "b")
]


def test_paths_keep_the_ends_that_tell_them_apart() -> None:
    short = shorten(STAMPS, 30)
    assert len(set(short)) == 4
    assert all(name.endswith("uppercase (26)") and len(name) <= 30 for name in short)


@given(st.lists(st.text("ab/ ", max_size=40), max_size=8, unique=True), st.integers(3, 20))
def test_what_differs_stays_different(names: list[str], letters: int) -> None:
    short = shorten(names, letters)
    assert len(set(short)) == len(names)
    assert all(cut == name or len(cut) <= letters for cut, name in zip(short, names, strict=True))


def test_a_chart_shows_rows_of_long_names_apart() -> None:
    drawn = str(chart_svg(heat_map(STAMPS, ["m"], [[0.1], [0.2], [0.3], [0.4]]), "Stamps"))
    assert all(f"…/{name.split('/', 2)[2]}" in drawn for name in STAMPS)
