"""Bundles of measures under a name, with the rules their lists have to follow."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eds.errors import UnknownNameError
from eds.metrics.measure import Measure
from eds.metrics.measures.incomplete import persistence_for


@dataclass(frozen=True)
class Preset:
    """Measures that belong together; `rules` describes the lists that they need."""

    name: str
    meaning: str
    rules: str
    measures: tuple[Measure, ...]


DEPTH = 10  # of the lists that preset trec looks at
PERSISTENT = ("RBP", "RBP-residual")


def _parsed(*texts: str) -> tuple[Measure, ...]:
    return tuple(Measure.parse(text) for text in texts)


_AUCS = tuple(
    f"{area}(average={average},negatives={negatives})"
    for area in ("ROC-AUC", "PR-AUC", "Prevalence")
    for average in ("micro", "macro")
    for negatives in ("annotated", "sampled")
)
PRESETS: Mapping[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset(
            "vsd",
            "the published benchmark: the twelve columns of its tables, AUC's chance level, and standard numbers",
            "lists without images of the query's own product, the best image of each product, at least 9 places",
            _parsed(
                *(f"{name}@{k}" for name in ("VSD-HR", "VSD-MRR") for k in (5, 9)),
                *_AUCS,
                *(f"{name}@{k}" for name in ("Success", "RR", "Judged") for k in (5, 9)),
                "PairMRR@9",
            ),
        ),
        Preset(
            "trec",
            "information retrieval's usual numbers, and those that admit missing labels",
            "lists by descending score, ties by ascending id; unlabelled counts as not similar",
            _parsed(
                *(f"Success@{k}" for k in (1, 5, 10)),
                "RR@10",
                *(f"P@{k}" for k in (5, 10)),
                "Recall@10",
                "AP@10(divide_by=relevant)",
                "nDCG@10",
                "Judged@10",
                "CondensedAP",
                "CondensednDCG",
                "bpref",
                "infAP",
                *(f"{name}(p={persistence_for(DEPTH)})" for name in PERSISTENT),
            ),
        ),
        Preset(
            "mteb",
            "what MTEB prints of the exported data set (eds benchmarks export hf): the judged candidates, re-ranked",
            "no lists: the judged candidates of each query by their scores, whatever the rules of lists say",
            _parsed(
                *(f"Reranked-nDCG@{k}" for k in (10, 1, 5)),
                *(f"Reranked-AP@{k}" for k in (10, 1000)),
                "Reranked-RR@10",
                *(f"Reranked-{name}@{k}" for name in ("P", "Recall", "Success") for k in (5, 10)),
            ),
        ),
        *(
            Preset(
                name,
                f"binary codes{meaning}: tie-aware values, each between the best and the worst order of ties; "
                "use of the code space",
                "no list at all: every candidate counts by its distance; only models of codes",
                _parsed(
                    *(
                        f"APt@100(divide_by={end},grades={grades},ties={ties})"
                        for end in ("hits", "relevant", "capped")
                        for ties in ("best", "expected", "worst")
                    ),
                    *(f"nDCGt@100(grades={graded})" for graded in (grades, "types")),
                    *(f"Pt@{k}(grades={grades})" for k in (5, 100)),
                    f"mLGAP@2(grades={grades})",
                    *(f"CodeUsage(what={what})" for what in ("distinct", "reachable", "entropy", "colliding")),
                ),
            )
            for name, grades, meaning in (
                ("hash", "product", ""),
                ("hash-category", "category", ", where images of a category are alike"),
            )
        ),
    )
}


def with_chance(measures: Sequence[Measure]) -> list[Measure]:
    """The measures, each once, and behind every PR-AUC its chance level, Prevalence of the same pairs.

    >>> [str(one) for one in with_chance([Measure.parse("PR-AUC(average=micro)")])]
    ['PR-AUC(average=micro,negatives=annotated)', 'Prevalence(average=micro,negatives=annotated)']
    """
    result: list[Measure] = []
    for measure in measures:
        result.append(measure)
        if measure.name == "PR-AUC" and (chance := Measure("Prevalence", **measure.parameters)) not in measures:
            result.append(chance)
    return list(dict.fromkeys(result))


def with_persistence(measures: Sequence[Measure], depth: int) -> tuple[Measure, ...]:
    """The measures, those of rank-biased precision with the persistence for lists that are judged to this depth.

    >>> [str(one) for one in with_persistence([Measure("RBP", p=0.8), Measure("RR", 5)], 6)]
    ['RBP(p=0.6)', 'RR@5']
    """
    p = persistence_for(depth)
    return tuple(Measure(item.name, item.k, p=p) if item.name in PERSISTENT else item for item in measures)


def preset(name: str) -> Preset:
    """The preset of that name; the error lists those that are known.

    >>> str(preset("vsd").measures[0])
    'VSD-HR@5'
    """
    if name not in PRESETS:
        raise UnknownNameError(f"unknown preset {name!r}", hint=f"Known: {', '.join(PRESETS)}.")
    return PRESETS[name]
