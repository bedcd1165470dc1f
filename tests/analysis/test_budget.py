import json
import math

import pytest
from click.testing import CliRunner

from eds.cli.analysis import analysis
from eds.errors import InputError
from eds.suspects.budget import Judging, RandomTarget, Scope, budget

SMALL = Scope.of_counts(10, 20, 0, models=2, k=3)


def test_the_published_benchmark() -> None:
    """In-shop: 2,000 queries of 52,712 images, six models, k = 6, 54,170 suspects; by hand."""
    plans = {
        plan.name: plan
        for plan in budget(
            Scope.of_counts(2000, 52712, 2000, 6, 6),
            pool_size=54170,
            judging=Judging(3, 15, 20),
            random=RandomTarget(45920, 0.001),
        )
    }
    assert plans["all pairs"].pairs == 105_422_000
    assert plans["all pairs"].hours == pytest.approx(50.1093239030 * 365.25 * 24 * 3)
    assert plans["pool, at most"].times_fewer == pytest.approx(1464.1944444444)
    actual = plans["pool, as it is"]
    assert (actual.pairs, actual.judgements, actual.hours, actual.money) == (54170, 162510, 677.125, 13542.5)
    assert actual.times_fewer == pytest.approx(1946.1325456895)
    assert plans["random, 45,920 positives"].pairs == pytest.approx(45920 * 105_422_001 / 105_423)


def test_without_pay_no_money_is_told() -> None:
    assert {plan.money for plan in budget(SMALL)} == {None}


@pytest.mark.parametrize(
    "wrong",
    [
        {"judging": Judging(experts=0)},
        {"judging": Judging(seconds=0)},
        {"judging": Judging(hourly=-1)},
        {"random": RandomTarget(wanted=5)},
        {"random": RandomTarget(prevalence=0.1)},
        {"random": RandomTarget(5, 0.0)},
        {"random": RandomTarget(50, 0.1)},
        {"pool_size": 0},
    ],
)
def test_what_cannot_be_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError):
        budget(SMALL, **wrong)  # type: ignore[arg-type]


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(InputError) as caught:
        budget(SMALL, Judging(0, -1.0), random=RandomTarget(wanted=3))
    assert len(caught.value.faults) == 3


def test_draws_and_the_utilisation_bound_have_commands_that_need_no_project() -> None:
    def call(*words: str) -> dict[str, float]:
        answer: dict[str, float] = json.loads(CliRunner().invoke(analysis, [*words, "--json"]).stdout)
        return answer

    assert call("draws", "--error", "0.001", "--failure", "0.05")["draws"] == 20_000
    known = call("draws", "--error", "0.007", "--failure", "0.05", "--prevalence", "0.008")
    assert known["draws"] == math.ceil(0.008 * 0.992 / (0.05 * 0.007**2))
    assert [call("utilisation", "--diameter", str(h))["bound"] for h in (1, 2, 3)] == [2 / 3, 3 / 5, 4 / 7]
