"""What measures on binary codes are computed from: one model's distance histograms, by source of grades."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from eds.errors import InputError
from eds.hashing.histograms import Histograms

GRADES = ("truth", "votes", "experts", "product", "category", "types", "attributes")


@dataclass(frozen=True, eq=False)
class CodeHistograms:
    """One model's codes."""

    bits: int  # 0: a model of numbers, known by graded lists
    n: int  # candidates
    graded: Mapping[str, Histograms] = field(default_factory=dict)  # by source of grades
    usage: Mapping[str, float] = field(default_factory=dict)  # `code_usage` of the candidates

    def of(self, grades: str) -> Histograms:
        """The histograms of a source."""
        if grades not in self.graded:
            raise InputError(f"grades {grades} were not counted", where="codes", hint="Count them before.")
        return self.graded[grades]
