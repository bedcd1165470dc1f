"""The report's sections: each module here is one section, found by its file (`eds.registry.SECTIONS`).

Other packages add theirs by an entry point of the group `eds.reports.sections`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from eds.reports.document import Block, Section, Sentence
from eds.reports.inputs import ReportInputs

Blocks = tuple[Block, ...]


@dataclass(frozen=True)
class SectionSpec:
    """A section: its heading, its position, the inputs it reads and the functions that compute its blocks.

    Each of `parts` stands alone: an input that one lacks becomes a gap, and the others still appear. `answer` is the
    line that shows while the section is folded; without one, or where its inputs are missing, that is the question.
    `overview` functions run last and get the finished sections as well. `wanted` says whether a project has this
    section at all.
    """

    title: str
    question: str  # what the section answers, in one line
    order: int  # sections are sorted by it
    inputs: tuple[str, ...] = ()  # fields of ReportInputs
    parts: tuple[Callable[[ReportInputs], Blocks], ...] = ()
    answer: Callable[[ReportInputs], Sentence | None] = lambda inputs: None
    overview: tuple[Callable[[ReportInputs, Sequence[Section]], Blocks], ...] = ()
    wanted: Callable[[ReportInputs], bool] = lambda inputs: True
