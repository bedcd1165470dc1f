"""What labels and random draws say of the project's universe: the one place that every answer takes it from."""

from typing import TYPE_CHECKING

from eds.project.inputs import Inputs

if TYPE_CHECKING:
    import pandas as pd

    # Under these names for the doors, which import no stage.
    from eds.analysis.analyses.prevalence import Prevalence as Prevalence
    from eds.analysis.totals import Estimate as Estimate
    from eds.suspects.positive_rates import Rate as Rate


def project_prevalence(
    inputs: Inputs, truth: "pd.DataFrame | None" = None, *, image_pairs: bool = True
) -> "Prevalence | None":
    """Return p, gain, pool recall and the rates of the pool, in units of the project's universe.

    By table truth, or by `truth` where labels are decided otherwise; None without labels, images or suspects.
    p among pairs of images is left out without `image_pairs`.
    """
    if truth is None and not inputs.exists("truth"):
        return None
    if not (inputs.exists("images") and inputs.exists("suspects")):
        return None
    from eds.analysis.analyses.prevalence import pool_report

    labels = inputs.read("truth", columns=["query_id", "candidate_id", "value"]) if truth is None else truth
    if not len(labels) or not inputs.universe.size:
        return None
    return pool_report(inputs.universe, inputs.suspects, labels, image_pairs=image_pairs)
