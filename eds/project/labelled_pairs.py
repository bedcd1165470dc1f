"""The pairs of a project that numbers are computed on: decided ones, drawn negatives, the pool's."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from eds.errors import InputError, ProjectError

if TYPE_CHECKING:
    import pandas as pd

    from eds.metrics import Measure
    from eds.project import Project

PAIR = ["query_id", "candidate_id"]


def decided_pairs(project: "Project") -> "pd.DataFrame":
    """The decided labels; refused where there are none."""
    if not project.path("truth").exists():
        raise ProjectError(
            "there are no decided labels yet",
            where=str(project.root),
            do="Decide them (eds truth decide), or import a benchmark (eds benchmarks import).",
        )
    truth = project.read("truth", columns=[*PAIR, "value"])
    if not len(truth):
        raise InputError("table truth is empty", where=str(project.path("truth")), do="Collect labels first.")
    return truth


def measured_pairs(project: "Project", *, with_random: bool = False) -> "pd.DataFrame":
    """The decided labels that models are measured on; see `eds.suspects.benchmark_labels`."""
    from eds.project.pool import read_suspects
    from eds.suspects import benchmark_labels

    truth = decided_pairs(project)
    drawn = not with_random and project.path("suspects").exists()
    kept = benchmark_labels(truth, read_suspects(project)) if drawn else truth
    if not len(kept):
        raise InputError(
            "only random pairs are labelled, and these serve p and the pool's recall",
            where=str(project.path("truth")),
            do="Have the pool judged (eds suspects pool), or measure on them all the same: --with-random.",
        )
    return kept


def measured_labels(project: "Project", measures: "Sequence[Measure]", *, with_random: bool) -> "pd.DataFrame":
    """The decided pairs that models are measured on; none where no measure asks for them and none are there."""
    import pandas as pd

    wanted = [measure for measure in measures if measure.definition.needs != "codes"]
    if wanted or project.path("truth").exists():
        return measured_pairs(project, with_random=with_random)
    return pd.DataFrame({**{name: pd.Series([], dtype="str") for name in PAIR}, "value": pd.Series([], dtype="int64")})


def pooled_pairs(project: "Project") -> "pd.DataFrame | None":
    """The pool's pairs, judged or not."""
    if not project.path("suspects").exists():
        return None
    suspects = project.read("suspects", columns=[*PAIR, "origin"])
    return suspects.loc[suspects["origin"] == "pool", PAIR].drop_duplicates()


def drawn_negatives(project: "Project", measures: "Sequence[Measure]") -> "pd.DataFrame | None":
    """The drawn negatives, where a measure asks for them."""
    if not any(measure.parameters.get("negatives") == "sampled" for measure in measures):
        return None
    drawn = None
    if project.path("suspects").exists():
        drawn = negatives_among(project, project.read("suspects", columns=[*PAIR, "origin"]))
    if drawn is None:
        raise InputError(
            "negatives=sampled needs drawn negatives, and there are none",
            where=str(project.path("suspects")),
            do="Draw them: eds suspects negatives.",
        )
    return drawn


def negatives_among(project: "Project", suspects: "pd.DataFrame") -> "pd.DataFrame | None":
    """The suspects that were drawn as negatives, if any; `labelled` tells which have a label by now, of any kind."""
    drawn = suspects.loc[suspects["origin"] == "negative", PAIR]
    if not len(drawn):
        return None
    if not project.path("truth").exists():
        return drawn.assign(labelled=False)
    decided = project.read("truth", columns=PAIR).assign(labelled=True)
    return drawn.merge(decided, on=PAIR, how="left").assign(labelled=lambda rows: rows["labelled"].notna())
