"""Grid against pair: the same expert on the same pair, each mode's last act."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eds.errors import InputError
from eds.truth.grid_vs_pair import modes_compared

START = pd.Timestamp("2026-01-01", tz="UTC")
Row = tuple[str, str, str, int | None, float, str | None]


def acts(rows: list[Row]) -> pd.DataFrame:
    """candidate, expert, mode, value, seconds, supersedes."""
    frame = pd.DataFrame(rows, columns=["candidate_id", "expert_id", "mode", "value", "seconds", "supersedes"])
    return frame.assign(
        label_id=[f"a{row}" for row in range(len(frame))],
        query_id="q",
        value=frame["value"].astype("Int64"),
        created_at=[START + pd.Timedelta(seconds=row) for row in range(len(frame))],
        kind=np.where(frame["mode"] == "pair", "repeat", "normal"),
    )


def test_only_what_was_judged_both_ways_is_compared() -> None:
    found = modes_compared(
        acts(
            [
                ("1", "ann", "grid", 1, 1.0, None),
                ("1", "ann", "pair", 1, 4.0, None),
                ("2", "ann", "grid", 0, 1.0, None),
                ("2", "ann", "grid", 1, 3.0, "a2"),  # a correction: this one counts
                ("2", "ann", "pair", 0, 6.0, None),
                ("3", "ann", "grid", None, 1.0, None),  # unsure
                ("3", "ann", "pair", 1, 5.0, None),
                ("4", "bob", "grid", 0, 2.0, None),
                ("4", "bob", "pair", 0, 7.0, None),
                ("5", "bob", "grid", 1, 2.0, None),  # never alone
                ("4", "ann", "pair", 1, 9.0, None),  # another expert's
            ]
        )
    )
    assert (found.both, found.agreed, found.only_grid, found.only_pair) == (3, 2, 1, 0)
    assert found.agreement == pytest.approx(2 / 3)
    assert found.kappa == pytest.approx(0.4)  # scikit-learn: cohen_kappa_score([1, 0, 0], [1, 1, 0])
    assert (found.pair_seconds, found.grid_seconds) == (6.0, 2.0)


def test_nothing_to_compare() -> None:
    found = modes_compared(acts([("1", "ann", "grid", 1, 1.0, None)]))
    assert found.both == 0
    assert np.isnan([found.agreement, found.kappa, found.pair_seconds]).all()
    with pytest.raises(InputError, match="column mode is missing"):
        modes_compared(acts([]).drop(columns="mode"))


@given(
    st.lists(
        st.tuples(
            st.sampled_from("1234"),
            st.sampled_from(["ann", "bob"]),
            st.sampled_from(["pair", "grid"]),
            st.sampled_from([1, 0, None]),
        ),
        max_size=30,
    ),
    st.randoms(),
)
def test_row_order_does_not_matter_and_a_plain_loop_says_the_same(
    rows: list[tuple[str, str, str, int | None]], random: object
) -> None:
    frame = acts([(*row, 1.0, None) for row in rows])
    last = {(candidate, expert, mode): value for candidate, expert, mode, value in rows}
    both = [
        (last[c, e, "pair"], last[c, e, "grid"])
        for c, e in {key[:2] for key in last}
        if last.get((c, e, "pair")) is not None and last.get((c, e, "grid")) is not None
    ]
    found = modes_compared(frame.sample(frac=1.0, random_state=len(rows)))
    assert (found.both, found.agreed) == (len(both), sum(pair == grid for pair, grid in both))
    assert (found.only_grid, found.only_pair) == (both.count((0, 1)), both.count((1, 0)))
