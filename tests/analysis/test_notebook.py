"""Notebook 03 runs from top to bottom, is stored with its outputs, and says what its numbers show."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.notebooks import holds_outputs
from tests.privileges import needed

PLACE = Path(__file__).parents[2] / "notebooks" / "03_scores_and_bias.ipynb"


@pytest.fixture(scope="module")
def notebook() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(PLACE.read_text(encoding="utf-8"))
    return found


def test_it_is_stored_with_its_outputs() -> None:
    assert holds_outputs(PLACE.name)


def test_it_runs_and_its_claims_hold(notebook: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    """Cells one after the other in one namespace; the coverage study, tested for itself, on few catalogues."""
    needed("skimage")  # the last part embeds pictures
    told: dict[str, Any] = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            source = "".join(cell["source"]).replace("replications=200", "replications=8")
            exec(compile(source, str(PLACE.name), "exec"), told)
    assert "times as many" in capsys.readouterr().out
    difference, error = told["differences"].mean(), told["differences"].sem()
    assert difference["hr"] > 10 * error["hr"]
    assert difference["auc"] < -10 * error["auc"]
    assert abs(difference["self_removed"]) < 3 * error["self_removed"]
    assert told["complete"]["lower"] > 0.02
    macro = told["compared"].set_index(["first", "second"])
    outsider = macro[[name.startswith("outsider") for name in macro.index.get_level_values("second")]]
    assert (outsider["difference"] < 0).all()
    assert (outsider["p_adjusted"] < 0.05).all()
    by_auc, by_hits = told["by_auc"], told["by_hits"]
    assert told["naive"].best.models == ("outsider-0",)
    assert set(by_auc.best.models) > {"outsider-0"}
    assert not any(pair.beyond_sampling for pair in by_auc.pairs if "outsider-0" in (pair.first, pair.second))
    assert by_hits.best.not_ranked == ("outsider-0",)
    assert {item.grade for item in told["grades"][:2]} == {"biased"}
    assert "hsv" not in told["shop_hits"].best.models
    assert told["shop_hits"].best.not_ranked == ("hsv",)
    shares, exact = told["shares"], told["exact"]
    for part, value in ((shares.p, exact.prevalence), (shares.gain, exact.gain), (shares.recall, exact.pool_recall)):
        assert part.low <= value <= part.high
