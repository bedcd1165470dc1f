"""A measure is a value: it prints and parses as one text, with every convention that can differ in it.

The kinds are the definitions in the files of eds/metrics/measures/; an installed package adds a file by an entry point
of the group `eds.metrics.measures`.
"""

import functools
import re
from collections.abc import Mapping
from typing import Any

from eds.errors import InputError
from eds.metrics.definition import Definition, OnLists, Parameter
from eds.metrics.judged_lists import JudgedLists
from eds.pairs import Reals
from eds.registry import MEASURE_FAMILIES, unknown_name

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
            hint = f"Parameters of {name}: {known}; {definition.cut} cut-off, as {_example(definition)}."
            raise InputError(f"invalid parameters for measure {name}", where="measure", hint=hint, faults=faults)
        inside = ",".join(f"{key}={_plain(full[key])}" for key in sorted(full))
        text = name + (f"@{k}" if k is not None else "") + (f"({inside})" if inside else "")
        for key, value in (("name", name), ("k", k), ("_parameters", full), ("_text", text)):
            object.__setattr__(self, key, value)

    @classmethod
    def parse(cls, text: str) -> "Measure":
        """The measure that the text names; a parameter left out has its default."""
        result = TEXT.fullmatch("".join(text.split()))
        pairs = [part.partition("=") for part in (result["given"] or "").split(",") if part] if result else []
        if not result or any(not key or not sign or not value for key, sign, value in pairs):
            hint = "Write it as RR@10 or AP@10(divide_by=hits)."
            raise InputError(f"invalid measure {text!r}", where="measure", hint=hint)
        given = {key: value for key, _, value in pairs}
        if len(given) < len(pairs) or not given.keys().isdisjoint({"name", "k", "self"}):
            raise InputError(f"{text!r} repeats a parameter or names an unknown one", where="measure")
        return cls(result["name"], None if result["k"] is None else int(result["k"]), **given)

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Every parameter with its value, defaults filled in."""
        full: Mapping[str, Any] = dict(object.__getattribute__(self, "_parameters"))
        return full

    @property
    def definition(self) -> Definition:
        """The kind of measure this is."""
        return definition_of(self.name)

    def by_query(self, lists: JudgedLists) -> Reals:
        """(queries,) float64: its value on each query's list; only of measures on lists."""
        return self._on(lists, self.definition.on_lists)

    def most_by_query(self, lists: JudgedLists) -> Reals:
        """As `by_query` if every item without a label were similar; only of measures that declare it."""
        return self._on(lists, self.definition.most)

    def _on(self, lists: JudgedLists, formula: OnLists | None) -> Reals:
        if formula is None:
            raise InputError(
                f"{self} is not computed from lists alone", where="measure", hint="Choose another measure."
            )
        return formula(lists, self.k, self.parameters)

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


@functools.cache
def definitions() -> Mapping[str, Definition]:
    """Every kind of measure by name, family by family."""
    families = [vars(MEASURE_FAMILIES.load(name)).values() for name in MEASURE_FAMILIES]
    return {value.name: value for family in families for value in family if isinstance(value, Definition)}


def definition_of(name: str) -> Definition:
    """The kind of measure of that name; the error lists the known ones.

    >>> definition_of("RR").meaning
    'standard reciprocal rank'
    """
    known = definitions()
    if name not in known:
        raise unknown_name("measure", name, known)
    return known[name]


def _cut_faults(definition: Definition, k: int | None) -> list[str]:
    if k is None:
        return ["it needs a cut-off k"] if definition.cut == "required" else []
    if definition.cut == "never":
        return ["it has no cut-off"]
    good = isinstance(k, int) and not isinstance(k, bool) and definition.least <= k <= DEEPEST
    return [] if good else [f"k is {k!r}; give {definition.least} to {DEEPEST:,}"]


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
