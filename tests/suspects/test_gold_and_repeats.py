import numpy as np
import pandas as pd
import pytest

from eds.errors import InputError
from eds.suspects import Batching, add_pairs, draw_gold, draw_repeats, labels_frame, pool
from eds.tables import SUSPECTS, check
from tests.suspects.lists import drawn_lists, frame_of

LISTS = frame_of(drawn_lists(20, 2, 4, 30))
POOL = pool(LISTS, 4, Batching(size=20))
KNOWN = labels_frame([("g", f"k{n}", int(n < 6)) for n in range(30)])


def test_gold_is_half_positive_and_stands_among_the_others() -> None:
    found = draw_gold(KNOWN, 8, 1, POOL)
    check(found, SUSPECTS)
    gold = found[found["origin"] == "gold"]
    assert gold["stratum"].value_counts().to_dict() == {"gold:1": 4, "gold:0": 4}
    values = gold.merge(KNOWN)["value"].to_numpy()
    assert (gold["stratum"].str[-1].astype(int).to_numpy() == values).all()
    assert np.allclose(gold["probability"], np.where(values == 1, 4 / 6, 4 / 24))
    places = POOL.set_index("position")["batch"]
    assert (places[gold["position"]].to_numpy() == gold["batch"].to_numpy()).all()
    more = draw_gold(KNOWN, 12, 1, found)
    assert more[more["origin"] == "gold"]["stratum"].value_counts().to_dict() == {"gold:0": 14, "gold:1": 6}


def test_gold_is_drawn_evenly_from_each_value() -> None:
    counts = pd.Series(0, index=KNOWN["candidate_id"])
    for seed in range(150):
        counts[draw_gold(KNOWN, 8, seed, POOL).query("origin == 'gold'")["candidate_id"]] += 1
    chance = np.where(KNOWN["value"] == 1, 4 / 6, 4 / 24)
    assert (np.abs(counts.to_numpy() / 150 - chance) < 4.5 * np.sqrt(chance * (1 - chance) / 150)).all()


def test_repeats_come_after_their_first_time() -> None:
    found = draw_repeats(POOL, 15, 3)
    repeats = found[found["origin"] == "repeat"].merge(POOL, on=["query_id", "candidate_id"], suffixes=("", "_first"))
    assert len(repeats) == 15
    assert (repeats["position"] >= repeats["position_first"]).all()
    assert (repeats["position"] > repeats["position_first"]).sum() >= 14
    assert repeats["probability"].tolist() == [15 / len(POOL)] * 15
    more = draw_repeats(found, len(POOL) - 15, 3)
    assert len(more) == 2 * len(POOL)
    with pytest.raises(InputError, match="1 repeats of 0 pairs"):
        draw_repeats(more, 1, 3)


def test_contradictory_gold_is_refused() -> None:
    with pytest.raises(InputError, match="g k0 is both 1 and 0"):
        draw_gold(pd.concat([KNOWN, labels_frame([("g", "k0", 0)])]), 3, 0, POOL)


def test_too_much_gold_is_refused() -> None:
    with pytest.raises(InputError, match="31 gold pairs of 30"):
        draw_gold(KNOWN, 31, 0, POOL)


def test_own_pairs_are_added_once_and_the_pool_knows_them() -> None:
    own = pd.DataFrame({"query_id": ["q0000", "u"], "candidate_id": ["c0000", "v"]})
    first = add_pairs(own, None)
    assert first["stratum"].tolist() == ["chosen"] * 2
    after = pool(LISTS, 4, previous=first)
    assert not after.duplicated(["query_id", "candidate_id"]).any()
    assert set(zip(after["query_id"], after["candidate_id"], strict=True)) == {
        *zip(POOL["query_id"], POOL["candidate_id"], strict=True),
        ("q0000", "c0000"),
        ("u", "v"),
    }
    pd.testing.assert_frame_equal(add_pairs(own, after), after)
    with pytest.raises(InputError, match="an image with itself"):
        add_pairs(pd.DataFrame({"query_id": ["u"], "candidate_id": ["u"]}), None)
