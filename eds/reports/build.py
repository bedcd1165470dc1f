"""From inputs to a report: every section in its order, none of which can fail the others."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from eds.analysis.comparison_words import trained_words
from eds.errors import EdsError
from eds.registry import SECTIONS
from eds.reports.document import Block, Figure, Gap, Missing, Report, Section, Sentence, Table
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
    computed = {
        name: replace(section, blocks=tuple(mark_trained(block, inputs.trained) for block in section.blocks))
        for name, section in computed.items()
    }
    others = [section for section in computed.values() if section.blocks]
    sections = []
    for name, spec in specs.items():
        overview = [_attempt(part, inputs, others) for part in spec.overview]
        sections.append(replace(computed[name], blocks=_distinct([computed[name].blocks, *overview])))
    return Report(inputs.name, made, tuple(sections))


def mark_trained(block: Block, trained: Mapping[str, Sequence[str]]) -> Block:
    """The block, with a sentence and in tables a † for every model in it that learned from data of this project."""
    if isinstance(block, Table):
        named = {str(row.get("model")) for row in block.rows} | {column.label for column in block.columns}
    elif isinstance(block, Figure):
        named = _texts(block.data)
    else:
        return block
    notes = [f"† {name}: {trained_words(seen)}." for name, seen in trained.items() if name in named]
    if not notes:
        return block
    marked = replace(block, caption=" ".join(filter(None, [block.caption, *notes])))
    if isinstance(marked, Table):
        rows = [{**row, "trained_on": list(trained.get(str(row.get("model")), ()))} for row in marked.rows]
        columns = (
            replace(column, label=f"{column.label} †") if column.label in trained else column
            for column in marked.columns
        )
        marked = replace(marked, rows=rows, columns=tuple(columns))
    return marked


def _texts(data: Any) -> set[str]:
    """Every text in the data of a chart."""
    if isinstance(data, str):
        return {data}
    if isinstance(data, Mapping):
        return _texts([*data.keys(), *data.values()])
    return {text for item in data for text in _texts(item)} if isinstance(data, (list, tuple)) else set()


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
