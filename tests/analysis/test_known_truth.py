"""Against the complete truth: limits cover as often as they say, and self-removal undoes what pooling does."""

import numpy as np
import pandas as pd
import pytest

from eds.analysis import AnalysisInputs, bias, p_posterior, pool_recall
from eds.analysis.interval_coverage import Labelling, coverage_study, covered
from eds.errors import InputError
from eds.synthetic.known_truth import Design, KnownTruth, draw_known_truth

REPLICATIONS = 300
NOMINAL = [
    "p, Clopper-Pearson",
    "p, Wilson",
    "p, posterior",
    "pool recall, one stratum",
    "pool recall, squared",
    "micro_roc_auc",
    "micro_pr_auc",
    "macro_roc_auc",
    "macro_pr_auc",
]


@pytest.fixture(scope="module")
def study() -> pd.DataFrame:
    return coverage_study(Design(), Labelling(), REPLICATIONS)


def test_nominal_95_percent_limits_cover_92_to_98(study: pd.DataFrame) -> None:
    found = covered(study)
    assert (found["replications"] == REPLICATIONS).all()
    assert found.loc[NOMINAL, "covered"].between(0.92, 0.98).all(), found


def test_simultaneous_limits_of_recall_are_on_the_safe_side(study: pd.DataFrame) -> None:
    """Two strata, each at 97.5 %, their limits added: that both miss on one side hardly ever happens."""
    found = covered(study)
    share, width = found["covered"].to_dict(), found["width"].to_dict()
    assert share["pool recall, simultaneous"] >= 0.98
    assert width["pool recall, squared"] < 0.8 * width["pool recall, simultaneous"]


def test_estimates_are_right_on_average(study: pd.DataFrame) -> None:
    """Mean errors are noise: within 4 standard errors, or 2 % of the exact number (recall is a ratio, AUC's exact
    number is itself a mean over 40,000 queries)."""
    for target, rows in study.groupby("target"):
        error = rows["estimate"] - rows["exact"]
        noise = 4 * error.std() / np.sqrt(len(rows))
        assert abs(error.mean()) < noise + 0.02 * rows["exact"].mean(), target


def test_a_study_without_replications_is_refused() -> None:
    with pytest.raises(InputError, match="0 replications"):
        coverage_study(Design(), Labelling(), 0)


def test_the_truncated_posterior_misses_p_once_everything_is_found() -> None:
    """Equal tails lie above the bound: where p is the bound itself, the limits cannot hold it."""
    assert p_posterior(30, 1500, 0.02)["lower"] > 0.02
    assert p_posterior(30, 1500, 0.0)["lower"] < 0.02


def generators_of(known: KnownTruth, k: int) -> pd.DataFrame:
    lists = known.neighbors(k)
    return lists[lists["model"].str.startswith("generator")]


@pytest.fixture(scope="module")
def differences() -> pd.DataFrame:
    """Generators less their equal outsider on 30 catalogues; a column for each measure."""
    design = Design(queries=200)
    rows = []
    for seed in range(30):
        known = draw_known_truth(design, seed)
        pool = known.proposed(5)
        told = bias(
            AnalysisInputs(
                pool_lists=generators_of(known, 5),
                labels=known.truth(pool),
                rankings=known.neighbors(5),
                scores=known.scores(pool),
            ),
            5,
        )
        rows.append(told.groups.set_index("measure")["difference"])
    return pd.DataFrame(rows).reset_index(drop=True)


def test_an_equal_outsider_looks_worse_by_hr_and_better_by_auc(differences: pd.DataFrame) -> None:
    assert (differences["hr"] > 0.05).all()
    assert (differences["rbp"] > 0).all()
    assert (differences["judged"] > 0.3).all()
    assert (differences["auc"] < -0.03).all()


def test_an_equal_outsider_is_equal_by_the_self_removed_auc(differences: pd.DataFrame) -> None:
    told = differences["self_removed"]
    standard_error = told.std() / np.sqrt(len(told))
    assert abs(told.mean()) < 2.5 * standard_error
    assert abs(told.mean()) + 2 * standard_error < abs(differences["auc"].mean()) / 5


def test_with_every_pair_labelled_nobody_has_an_advantage() -> None:
    rows = []
    for seed in range(20):
        known = draw_known_truth(Design(queries=100), seed)
        told = bias(
            AnalysisInputs(
                pool_lists=generators_of(known, 5),
                labels=known.truth(),
                rankings=known.neighbors(5),
                scores=known.scores(),
            ),
            5,
        ).groups
        rows.append(told.set_index("measure")["difference"])
    found = pd.DataFrame(rows)
    assert (found["judged"] == 0).all()
    for measure in ("hr", "auc"):
        value = found[measure].to_numpy()
        assert abs(value.mean()) < 2.5 * value.std() / np.sqrt(len(value)), measure


def test_squared_limits_lie_inside_simultaneous_ones_and_agree_on_one_stratum() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        strata = []
        for _ in range(int(rng.integers(1, 4))):
            size = int(rng.integers(1, 3000))
            drawn = int(rng.integers(1, size + 1))
            strata.append({"N": size, "n": drawn, "a": int(rng.integers(0, drawn + 1))})
        wide, tight = (pool_recall(50, strata, limits=way) for way in ("simultaneous", "squared"))
        assert wide["recall"] == tight["recall"]
        assert wide["lower"] <= tight["lower"] + 1e-12
        assert tight["lower"] <= tight["recall"] + 1e-12
        assert tight["recall"] <= tight["upper"] + 1e-12
        assert tight["upper"] <= wide["upper"] + 1e-12
        if sum(part["n"] < part["N"] for part in strata) == 1:
            assert wide == tight
    with pytest.raises(InputError, match="simultaneous, squared"):
        pool_recall(50, [], limits="wald")
