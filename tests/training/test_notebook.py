"""Notebook 04 runs from top to bottom, is stored with its outputs, and says what its numbers show."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.notebooks import holds_outputs

PLACE = Path(__file__).parents[2] / "notebooks" / "04_hashing.ipynb"
SMALLER = {  # the story is the same on fewer pictures
    "PRODUCTS, SEEDS = 160, (0, 1)": "PRODUCTS, SEEDS = 48, (0,)",
    "size=128&crop=128": "size=64&crop=64",
    "Plan(epochs=40, batch=256,": "Plan(epochs=15, batch=256, keep='last',",
    "Plan(epochs=60, batch=200,": "Plan(epochs=40, batch=50,",
    "for bits in (16, 32)": "for bits in (16,)",
    'Path("/usr/share/datasets/fashion-mnist")': 'Path("/nowhere")',  # the same on every machine: the drawn catalogue
    "bits=(12, 24), seeds=2, epochs=EPOCHS": "bits=(12,), seeds=1, epochs=1",
}


@pytest.fixture(scope="module")
def cells() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(PLACE.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in found if cell["cell_type"] == "code"]


def test_it_is_stored_with_its_outputs() -> None:
    assert holds_outputs(PLACE.name)


def test_it_runs_and_its_claims_hold(cells: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells one after the other in one namespace, on a smaller catalogue."""
    monkeypatch.setenv("MPLBACKEND", "Agg")
    source, told = "\n".join("".join(cell["source"]) for cell in cells), dict[str, Any]()
    for plain, small in SMALLER.items():
        assert plain in source
        source = source.replace(plain, small)
    exec(compile(source, PLACE.name, "exec"), told)
    codes = told["codes"].set_index("design")
    assert codes.loc["talr-ap", "ap"] > codes.loc["pca-sign", "ap"]
    assert (codes["ap_worst"] <= codes["ap"]).all()
    finding = told["finding"]
    change = finding.xs("X-ID", level="model") - finding.xs("before", level="model")
    seen = change.loc["trained on"]  # so few products that are held out hold no similar pair
    assert seen["recognition"] > max(0, seen["discovery"])  # weights differ a little with the number of threads
    assert not told["folder"].exists()
    compared = told["compared"]
    assert set(compared.summary["method"]) == set(told["METHODS"])
    assert "mLGAP against mAP by code length" in compared.charts()
    in_project = told["in_project"]
    assert in_project.loc["talr-ap", "unseen"] > in_project["unseen"].drop("talr-ap").max()
    assert in_project.loc["talr-ap", "seen"] > 2 * in_project.loc["talr-ap", "unseen"]
