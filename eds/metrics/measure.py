"""A measure is a value: it prints and parses as one text, with every convention that can differ in it.

`MEASURES` is the registry of the kinds; an installed package adds one by an entry point of the group
`eds.measure` that leads to a Definition.
"""

import functools
import re
from collections.abc import Mapping
from typing import Any

from eds.errors import InputError
from eds.metrics.definition import Definition, Parameter
from eds.registry import Entry, Registry

_LISTS, _SCORES, _PRODUCTS, _CODES = (
    f"eds.metrics.measures.{name}" for name in ("on_lists", "on_scores", "on_products", "on_codes")
)
MEASURES = Registry(
    "measure",
    {
        "VSD-HR": Entry(f"{_LISTS}:VSD_HR", "HR@k as the public evaluator prints it"),
        "VSD-MRR": Entry(f"{_LISTS}:VSD_MRR", "MRR@k as the public evaluator prints it"),
        "PairRecall": Entry(f"{_LISTS}:PAIR_RECALL", "HR@k as the publication's text defines it"),
        "PairMRR": Entry(f"{_LISTS}:PAIR_MRR", "MRR@k as the publication's text defines it"),
        "ROC-AUC": Entry(f"{_SCORES}:ROC_AUC", "how often a positive scores above a negative"),
        "PR-AUC": Entry(f"{_SCORES}:PR_AUC", "step-wise area under precision and recall"),
        "Prevalence": Entry(f"{_SCORES}:PREVALENCE", "the chance level of PR-AUC"),
        "Success": Entry(f"{_LISTS}:SUCCESS", "standard hit rate: a positive among the first k"),
        "RR": Entry(f"{_LISTS}:RR", "standard reciprocal rank; its mean is MRR"),
        "P": Entry(f"{_LISTS}:PRECISION", "share of positives among the first k"),
        "Recall": Entry(f"{_LISTS}:RECALL", "share of the positives that are among the first k"),
        "AP": Entry(f"{_LISTS}:AP", "average precision; its mean is MAP"),
        "nDCG": Entry(f"{_LISTS}:NDCG", "discounted gain over its ideal"),
        "Judged": Entry(f"{_LISTS}:JUDGED", "share of labelled places among the first k"),
        "bpref": Entry(f"{_LISTS}:BPREF", "how seldom labelled negatives stand above positives"),
        "RBP": Entry(f"{_LISTS}:RBP", "rank-biased precision: lower end of the true value"),
        "RBP-residual": Entry(f"{_LISTS}:RBP_RESIDUAL", "what missing labels could add to RBP"),
        "CondensedAP": Entry(f"{_LISTS}:CONDENSED_AP", "average precision without unlabelled places"),
        "CondensednDCG": Entry(f"{_LISTS}:CONDENSED_NDCG", "nDCG without unlabelled places"),
        "infAP": Entry(f"{_LISTS}:INF_AP", "average precision inferred from a uniformly judged sample"),
        "Product-HR": Entry(f"{_PRODUCTS}:PRODUCT_HR", "recognition: other images of the query's own product"),
        "Product-MRR": Entry(f"{_PRODUCTS}:PRODUCT_MRR", "recognition: 1/place of the own product's images"),
        "APt": Entry(f"{_CODES}:AP_T", "codes: average precision over all orders of ties; its mean is mAP"),
        "nDCGt": Entry(f"{_CODES}:NDCG_T", "codes: graded discounted gain over all orders of ties"),
        "Pt": Entry(f"{_CODES}:PRECISION_T", "codes: precision over all orders of ties"),
        "mLGAP": Entry(f"{_CODES}:M_LGAP", "codes: precision within a radius, times how evenly it is filled"),
        "CodeUsage": Entry(f"{_CODES}:CODE_USAGE", "codes: how much of the code space is used"),
    },
)
DEEPEST = 1_000_000_000  # place of a cut-off: no list is so long
TEXT = re.compile(r"(?P<name>[A-Za-z][A-Za-z-]*)(?:@(?P<k>[0-9]{1,12}))?(?:\((?P<given>[^()]*)\))?")


class Measure:
    """A kind of measure with its cut-off and parameters; equal if it prints the same.

    >>> Measure("AP", k=10, divide_by="hits")
    Measure('AP@10(divide_by=hits)')
    >>> str(Measure.parse("ROC-AUC( negatives = annotated, average=macro )"))
    'ROC-AUC(average=macro,negatives=annotated)'
    >>> Measure.parse("RR@10") == Measure("RR", k=10)
    True
    """

    __slots__ = ("_parameters", "_text", "k", "name")
    name: str
    k: int | None

    def __init__(self, name: str, k: int | None = None, **parameters: str | float) -> None:
        definition = definition_of(name)
        faults = _cut_faults(definition, k)
        strange = [given for given in parameters if given not in definition.parameters]
        faults += [f"it has no parameter {given}" for given in strange]
        full: dict[str, str | float] = {}
        for key, declared in definition.parameters.items():
            try:
                full[key] = _fitting(declared, parameters.get(key, declared.default))
            except ValueError as error:
                faults.append(f"{key} is {parameters[key]!r}; {error}")
        if faults:
            known = ", ".join(definition.parameters) or "none"
            do = f"Parameters of {name}: {known}; {definition.cut} cut-off, as {_example(definition)}."
            raise InputError(f"measure {name} cannot be had so", where="measure", do=do, faults=faults)
        inside = ",".join(f"{key}={_plain(full[key])}" for key in sorted(full))
        text = name + (f"@{k}" if k is not None else "") + (f"({inside})" if inside else "")
        for key, value in (("name", name), ("k", k), ("_parameters", full), ("_text", text)):
            object.__setattr__(self, key, value)

    @classmethod
    def parse(cls, text: str) -> "Measure":
        """The measure that the text names; a parameter left out has its default."""
        found = TEXT.fullmatch("".join(text.split()))
        pairs = [part.partition("=") for part in (found["given"] or "").split(",") if part] if found else []
        if not found or any(not key or not sign or not value for key, sign, value in pairs):
            do = "Write it as RR@10 or AP@10(divide_by=hits)."
            raise InputError(f"{text!r} is no measure", where="measure", do=do)
        given = {key: value for key, _, value in pairs}
        if len(given) < len(pairs) or not given.keys().isdisjoint({"name", "k", "self"}):
            raise InputError(f"{text!r} gives a parameter twice or unknown", where="measure", do="Give each once.")
        return cls(found["name"], None if found["k"] is None else int(found["k"]), **given)

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Every parameter with its value, defaults filled in."""
        full: Mapping[str, Any] = dict(object.__getattribute__(self, "_parameters"))
        return full

    @property
    def definition(self) -> Definition:
        """The kind of measure this is."""
        return definition_of(self.name)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a measure is a value: {name} cannot be set")

    def __str__(self) -> str:
        return str(object.__getattribute__(self, "_text"))

    def __repr__(self) -> str:
        return f"Measure({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Measure) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return Measure.parse, (str(self),)


@functools.cache  # finding installed packages' entry points takes milliseconds
def definition_of(name: str) -> Definition:
    """The kind of measure of that name; the error lists those that are known.

    >>> definition_of("RR").meaning
    'standard reciprocal rank'
    """
    found: Definition = MEASURES.load(name)
    return found


def _cut_faults(definition: Definition, k: int | None) -> list[str]:
    if k is None:
        return ["it needs a cut-off k"] if definition.cut == "required" else []
    if definition.cut == "never":
        return ["it has no cut-off"]
    good = isinstance(k, int) and not isinstance(k, bool) and 1 <= k <= DEEPEST
    return [] if good else [f"k is {k!r}; give 1 to {DEEPEST:,}"]


def _fitting(declared: Parameter, value: str | float) -> str | float:
    if declared.options:
        if value not in declared.options:
            raise ValueError(f"give {' or '.join(declared.options)}")
        return value
    number = float(value)
    if not declared.low < number < declared.high:
        raise ValueError(f"give a number between {_plain(declared.low)} and {_plain(declared.high)}")
    return number


def _plain(value: str | float) -> str:
    return value if isinstance(value, str) else repr(float(value)).removesuffix(".0")


def _example(definition: Definition) -> str:
    cut = "" if definition.cut == "never" else "@10"
    inside = ",".join(f"{key}={_plain(value.default)}" for key, value in sorted(definition.parameters.items()))
    return definition.name + cut + (f"({inside})" if inside else "")
