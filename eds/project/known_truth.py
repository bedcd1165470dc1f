"""The known truth of a project whose catalogue is drawn, and the project's estimates beside it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from eds.project.inputs import Inputs
from eds.project.simulate import draw_panel

if TYPE_CHECKING:
    from eds.analysis.analyses.prevalence import Prevalence
    from eds.analysis.known_truth import CheckedEstimate as CheckedEstimate
    from eds.analysis.known_truth import KnownTruth as KnownTruth
    from eds.synthetic.experts import Expert


def is_drawn(inputs: Inputs) -> bool:
    """Whether the catalogue was drawn, so that its truth is known."""
    from eds.synthetic.attributes import TRUE_COLUMNS

    if not inputs.exists("images"):
        return False
    return set(TRUE_COLUMNS) <= set(inputs.read("images").columns)


def known_truth(inputs: Inputs, panel: "Sequence[Expert]") -> "KnownTruth":
    """Return the truth of a drawn catalogue, in units of the project's universe."""
    from eds.analysis.known_truth import KnownTruth
    from eds.analysis.unit_labels import units_of
    from eds.pairs import in_sorted
    from eds.synthetic.panel import positive_units

    universe, images = inputs.universe, inputs.read("images")
    similar = positive_units(universe, images, panel)
    pool = units_of(universe, inputs.suspects[inputs.suspects["origin"] == "pool"])
    held = int(in_sorted(similar, pool).sum())
    rate, p = held / len(pool) if len(pool) else None, len(similar) / universe.size
    pairs = universe.of_images
    return KnownTruth(
        universe=universe.described,
        positives=len(similar),
        prevalence=p,
        pool_units=len(pool),
        pool_positives=held,
        pool_rate=rate,
        pool_recall=held / len(similar) if len(similar) else None,
        gain=rate / p if rate is not None and p else None,
        image_pair_prevalence=len(positive_units(pairs, images, panel)) / pairs.size,
    )


def truth_of_drawn(inputs: Inputs) -> "KnownTruth | None":
    """Return the truth by the project's simulated panel; None where the catalogue is not drawn."""
    if not is_drawn(inputs) or not inputs.universe.size:
        return None
    return known_truth(inputs, draw_panel(inputs.project))


def check_project(inputs: Inputs, found: "Prevalence | None") -> "tuple[CheckedEstimate, ...]":
    """Return the estimates beside the known truth; nothing where the catalogue is not drawn, or nothing is judged."""
    from eds.analysis.known_truth import check_estimates

    truth = truth_of_drawn(inputs) if found is not None else None
    return check_estimates(found, truth) if found is not None and truth is not None else ()
