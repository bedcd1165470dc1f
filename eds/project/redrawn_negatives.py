"""Sampled negatives as they would have been drawn without each pool model: what a new model of its kind would meet."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from eds.project.inputs import PAIR, Inputs

if TYPE_CHECKING:
    import pandas as pd

    from eds.analysis import AnalysisInputs
    from eds.suspects import NegativeRule

OPERATION = "suspects.negatives"


def with_redrawn_negatives(
    inputs: Inputs,
    known: "AnalysisInputs",
    sources: Mapping[str, str],
    newcomers: Collection[str] = (),
    *,
    allow_missing: bool,
) -> "AnalysisInputs":
    """Return the inputs with the negatives drawn again without each generator's lists, and their scores.

    `sources` says of each scored model where it is taken from; pool models that are not newcomers are generators.

    Negatives are chosen by the generators' lists, so they are not neutral: a model treated as new needs others. Nothing
    is added where the rule of the draw or the lists of a generator are not known, or fewer than two generators scored.
    """
    import pandas as pd

    from eds.project.ranks_and_scores import Needs, gather

    if known.negatives is None or known.scores is None or known.pool_lists is None:
        return known
    makers = [name for name in sorted(known.pool_lists["model"].unique()) if name not in newcomers]
    generators = {name: sources[name] for name in makers if name in sources}
    if len(generators) < 2:
        return known
    drawn = draw_without_each(inputs, known.pool_lists, makers)
    if not drawn:
        return known
    pairs = pd.concat(list(drawn.values()), ignore_index=True).drop_duplicates()
    more = gather(inputs, generators, inputs.images(), pairs, Needs(lists=False), allow_missing=allow_missing).scores
    if more is None:
        return known
    scores = pd.concat([known.scores, more], ignore_index=True).drop_duplicates(["model", *PAIR])
    return replace(known, negatives_without=drawn, scores=scores)


def draw_without_each(
    inputs: Inputs, pool_lists: "pd.DataFrame", makers: Sequence[str]
) -> "dict[str, pd.DataFrame] | None":
    """Return by model the negatives that the others' lists give by the rule of the last draw; None: not known.

    Pairs that only the model proposed would have no label and would not be in the pool, so they can be drawn.
    """
    from eds.project.mine import mined_depth, read_heads
    from eds.suspects import draw_negatives

    project, rule = inputs.project, drawing_rule(inputs)
    if rule is None or not set(makers) <= set(project.models("neighbors")):
        return None
    if any((mined_depth(project, name) or 0) < rule.max_rank for name in makers):
        return None
    images, lists = inputs.images(), read_heads(project, makers, rule.max_rank)
    pairs = pool_lists[["model", *PAIR]].drop_duplicates()
    alone = pairs[~pairs.duplicated(PAIR, keep=False)]
    labels = inputs.decided_pairs()
    if inputs.negatives is not None:  # those that were judged different are still drawn
        labels = _leave_out(labels, inputs.negatives[~inputs.negatives["similar"]])
    result = {}
    with project.progress("drawing negatives without each model", "models") as progress:
        for number, name in enumerate(makers, start=1):
            own = alone.loc[alone["model"] == name, PAIR]
            others = lists[lists["model"] != name]
            suspects, decided = _leave_out(inputs.suspects, own), _leave_out(labels, own)
            table = draw_negatives(images, others, suspects, decided, rule)
            result[name] = table.loc[table["origin"] == "negative", PAIR].reset_index(drop=True)
            progress(number, len(makers))
    return result


def _leave_out(frame: "pd.DataFrame", pairs: "pd.DataFrame") -> "pd.DataFrame":
    """Return the rows of other pairs than these."""
    there = frame[PAIR].merge(pairs.assign(own=True), on=PAIR, how="left")["own"].notna().to_numpy()
    return frame[~there]


def drawing_rule(inputs: Inputs) -> "NegativeRule | None":
    """Return the rule by which the project's negatives were drawn; None where no draw is recorded."""
    from eds.project.pool import suspects_provenance
    from eds.suspects import NegativeRule

    if not inputs.exists("suspects"):
        return None
    draws = [item for item in suspects_provenance(inputs.project).operations if item.name == OPERATION]
    if not draws:
        return None
    params, default = draws[-1].params, NegativeRule()
    return NegativeRule(
        params.get("min_rank", default.min_rank),
        params.get("max_rank", default.max_rank),
        params.get("n", default.n),
        inputs.project.config.project.seed,
        exclude_top=not params.get("keep_top"),
    )
