"""The catalogue whose whole truth is known: what its design promises, and what is refused."""

import numpy as np
import pytest

from eds.errors import InputError
from eds.synthetic.known_truth import Design, draw_known_truth


def test_a_seed_is_a_catalogue() -> None:
    one, again, other = (draw_known_truth(Design(), seed) for seed in (1, 1, 2))
    assert (one.score == again.score).all()
    assert (one.similar == again.similar).all()
    assert (one.similar != other.similar).any()


def test_scores_correlate_as_the_design_says() -> None:
    """Means over many pairs: positives' rate, correlation of two models = signal^2 + (1 - signal^2) shared."""
    design = Design(queries=300, candidates=500, difficulty=0, offset=0, prevalence=0.1)
    known = draw_known_truth(design, 3)
    assert known.prevalence == pytest.approx(0.1, abs=0.004)
    flat = known.score.reshape(len(known.score), -1)
    assert flat.mean(axis=1) == pytest.approx(np.zeros(5), abs=0.02)
    assert flat.var(axis=1) == pytest.approx(np.ones(5), abs=0.02)
    upper = np.asarray(np.corrcoef(flat))[np.triu_indices(5, 1)]
    assert upper == pytest.approx(np.full(10, 0.75**2 + (1 - 0.75**2) * 0.3), abs=0.01)


def test_lists_pool_and_frames_tell_the_same() -> None:
    known = draw_known_truth(Design(queries=7, candidates=30), 5)
    lists = known.neighbors(4)
    for key, told in lists.groupby(["model", "query_id"]):
        model, query = map(str, key)
        row = known.score[known.design.models.index(model), known.query_ids.index(query)]
        assert told["score"].tolist() == sorted(row.tolist(), reverse=True)[:4]
        assert told["rank"].tolist() == [0, 1, 2, 3]
        assert [row[int(name[1:])] for name in told["candidate_id"]] == told["score"].tolist()
    made = lists[lists["model"].str.startswith("generator")][["query_id", "candidate_id"]].drop_duplicates()
    pool = known.truth(known.proposed(4))
    assert sorted(map(tuple, made.to_numpy())) == list(map(tuple, pool[["query_id", "candidate_id"]].to_numpy()))
    assert known.truth()["value"].mean() == known.prevalence
    scores = known.scores(known.proposed(4))
    assert len(scores) == 5 * len(pool)
    last = scores.iloc[-1]
    assert last["score"] == known.score[4, int(last["query_id"][1:]), int(last["candidate_id"][1:])]


def test_every_fault_of_a_design_is_told() -> None:
    with pytest.raises(InputError) as told:
        Design(queries=0, prevalence=1, signal=2, offset=-1)
    assert len(told.value.faults) == 4
    with pytest.raises(InputError, match="1 to 400"):
        draw_known_truth(Design()).top(401)
