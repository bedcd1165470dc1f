"""The numbers of the report: a module for each section, a function `section(material)` in each.

`build` computes them once; a section that lacks something says so and never fails the others.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from eds.errors import EdsError
from eds.reports.document import Block, Gap, Missing, Report, Section, Sentence
from eds.reports.facts import (
    agreement,
    bias,
    codes,
    curves,
    judged,
    limits,
    newcomers,
    noise,
    overlap,
    pairs,
    robustness,
    scores,
    slices,
    summary,
    yields,
)
from eds.reports.material import Material

Blocks = tuple[Block, ...]


@dataclass(frozen=True)
class Plan:
    """A section to come: where it stands, what question it answers, who computes it, and whether it is wanted."""

    key: str
    title: str
    about: str
    parts: tuple[Callable[[Material], Blocks], ...]
    wanted: Callable[[Material], bool] = lambda material: True


# A new section is a row here. Each part stands alone: what one lacks takes nothing from the others.
PLANS = (
    Plan("judged", "What was judged", "Which pictures, models and people stand behind the numbers.", judged.PARTS),
    Plan("agreement", "How far the experts agree", "A label is worth what its judges agree on.", agreement.PARTS),
    Plan("yield", "What the pool found", "How many pairs are similar, what was missed, what it cost.", yields.PARTS),
    Plan("overlap", "What each model contributed", "How far the models propose the same pairs.", overlap.PARTS),
    Plan("scores", "How good each model is", "Every model against the labels, with limits.", scores.PARTS),
    Plan("curves", "ROC and precision-recall", "What a threshold on a model's score would give.", curves.PARTS),
    Plan("robustness", "Does the order hang on who made the pool?", "Each generator taken away, in turn.",
         robustness.PARTS),
    Plan("bias", "Whom the pool favours", "Models that made the pool against those that did not.", bias.PARTS),
    Plan("newcomers", "New models on these labels", "Which of their numbers can stand beside the others'.",
         newcomers.PARTS, newcomers.wanted),
    Plan("noise", "What wrong labels would change", "How far the numbers hang on the experts being right.",
         noise.PARTS),
    Plan("codes", "Models of binary codes", "Tie-aware numbers of hash models, and how they use their codes.",
         codes.PARTS, codes.wanted),
    Plan("slices", "By kind", "Where models are strong and weak.", slices.PARTS),
    Plan("pairs", "Pairs to look at", "Real pairs that show what the numbers mean.", pairs.PARTS),
    Plan("limits", "Limits and conventions", "What every number means, and what it does not say.", limits.PARTS),
)  # fmt: skip


def build(material: Material, made: dict[str, Any], progress: Callable[[int, int], None] | None = None) -> Report:
    """The whole report; `made` tells when and from what."""
    found, plans = [], [plan for plan in PLANS if plan.wanted(material)]
    for done, plan in enumerate(plans, start=1):
        found.append(_section(plan, material))
        if progress:
            progress(done, len(plans))
    found = [replace(one, blocks=(*one.blocks, *limits.formulas(found))) if one.key == "limits" else one
             for one in found]  # fmt: skip
    first = summary.section(material, found)
    return Report(material.name, made, (first, *found))


def _section(plan: Plan, material: Material) -> Section:
    blocks: list[Block] = []
    for part in plan.parts:
        try:
            blocks += part(material)
        except Missing as missing:
            blocks.append(missing.gap)
        except EdsError as error:
            blocks.append(Gap(f"Could not be computed: {error.what}", error.do))
    once = [block for place, block in enumerate(blocks) if isinstance(block, Sentence) or block not in blocks[:place]]
    return Section(plan.key, plan.title, plan.about, tuple(once))
