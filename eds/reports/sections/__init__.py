"""The report's sections: each module here is one section, found by its name, imported when a report is built.

A section is a `SectionSpec` named SECTION. Other packages add theirs by an entry point of the group `eds.sections`.
"""

import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from eds.registry import Entry, Registry
from eds.reports.document import Block, Section
from eds.reports.inputs import ReportInputs

Blocks = tuple[Block, ...]


@dataclass(frozen=True)
class SectionSpec:
    """A section: its heading, its position, the inputs it needs and the functions that compute its blocks.

    Each of `parts` stands alone: an input that one lacks becomes a gap, and the others still appear. `overview`
    functions run last and get the finished sections as well. `wanted` says whether a project has this section at all.
    """

    name: str
    title: str
    question: str
    order: int
    inputs: tuple[str, ...] = ()
    parts: tuple[Callable[[ReportInputs], Blocks], ...] = ()
    overview: tuple[Callable[[ReportInputs, Sequence[Section]], Blocks], ...] = ()
    wanted: Callable[[ReportInputs], bool] = lambda inputs: True


def registry() -> Registry:
    """Every section by name; nothing is imported."""
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    return Registry("sections", {name: Entry(f"{__name__}.{name}:SECTION") for name in names})


def load_sections() -> list[SectionSpec]:
    """Every section, in the report's order."""
    known = registry()
    sections: list[SectionSpec] = [known.load(name) for name in known.entries()]
    return sorted(sections, key=lambda section: (section.order, section.name))
