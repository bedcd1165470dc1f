"""How far the models propose the same pairs."""

from dataclasses import dataclass
from typing import Any

from eds.analysis.inputs import AnalysisInputs, option
from eds.suspects import overlap

INPUTS = ("images", "list_heads")


@dataclass(frozen=True)
class Options:
    """Which places of the lists count."""

    k: int | None = option(None, "Depth of the lists (default: the pool's).")


def analyse(inputs: AnalysisInputs, options: Options) -> dict[str, Any]:
    """`eds.suspects.overlap` of the lists, over all queries of the catalogue."""
    images, lists = inputs.require(*INPUTS)
    queries = int((images["role"] != "candidate").sum())
    return {"k": options.k, **overlap(lists, options.k, queries)}
