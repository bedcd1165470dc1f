"""From inputs to a report: every section in its order, none of which can fail the others."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from eds.errors import EdsError
from eds.registry import SECTIONS
from eds.reports.document import Block, Gap, Missing, Report, Section, Sentence
from eds.reports.inputs import ReportInputs
from eds.reports.sections import Blocks, SectionSpec


def load_sections() -> dict[str, SectionSpec]:
    """Every section by name, in the report's order."""
    sections: dict[str, SectionSpec] = {name: SECTIONS.load(name) for name in SECTIONS.names()}
    return dict(sorted(sections.items(), key=lambda section: section[1].order))


def build(inputs: ReportInputs, made: Mapping[str, Any], progress: Callable[[int, int], None] | None = None) -> Report:
    """The whole report; `made` says when and from what."""
    specs = {name: spec for name, spec in load_sections().items() if spec.wanted(inputs)}
    computed: dict[str, Section] = {}
    for name, spec in specs.items():
        blocks = _distinct([_attempt(part, inputs) for part in spec.parts])
        computed[name] = Section(name, spec.title, spec.question, blocks, _answer(spec, inputs))
        if progress:
            progress(len(computed), len(specs))
    others = [section for section in computed.values() if section.blocks]
    sections = []
    for name, spec in specs.items():
        overview = [_attempt(part, inputs, others) for part in spec.overview]
        sections.append(replace(computed[name], blocks=_distinct([computed[name].blocks, *overview])))
    return Report(inputs.name, made, tuple(sections))


def _answer(spec: SectionSpec, inputs: ReportInputs) -> Sentence | None:
    """The section's answer; None where the inputs give none."""
    try:
        return spec.answer(inputs)
    except (Missing, EdsError):  # its parts say what is missing
        return None


def _attempt(part: Callable[..., Blocks], *arguments: Any) -> Blocks:
    """The blocks of a part, or the gap that a missing input leaves."""
    try:
        return part(*arguments)
    except Missing as missing:
        return (missing.gap,)
    except EdsError as error:
        return (Gap(f"Could not be computed: {error.what}", error.hint),)


def _distinct(parts: Sequence[Blocks]) -> Blocks:
    """The blocks of all parts; a table or gap that several parts contribute appears once."""
    blocks: list[Block] = []
    for block in (block for part in parts for block in part):
        if isinstance(block, Sentence) or block not in blocks:
            blocks.append(block)
    return tuple(blocks)
