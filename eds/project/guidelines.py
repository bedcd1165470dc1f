"""What "similar" means: versions of the guideline."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from eds.errors import InputError
from eds.labels.guidelines import (
    Example,
    Guideline,
    guideline_named,
    guideline_of,
    guideline_of_last,
    list_guidelines,
    put_in_force,
    save_guideline,
)
from eds.project.label_store import opened

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from eds.project import Project

__all__ = ["Example", "Guideline", "Guidelines"]


@dataclass(frozen=True)
class Guidelines:
    """The guideline versions of a project; a saved version never changes."""

    project: "Project"

    def save(self, version: str, file: str | Path, examples: str | Path | None = None) -> int:
        """Save a Markdown file as a new version, with the example pairs of a table; how many examples it has."""
        shown = _read_examples(self.project, Path(examples)) if examples else []
        try:
            text = Path(file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"cannot be read ({error})", where=str(file), hint="Give a text file in UTF-8.") from error
        self.save_text(version, text, shown)
        return len(shown)

    def save_text(self, version: str, content: str, examples: "Sequence[Example]" = (), *, language: str = "") -> None:
        """Save a Markdown text as a new version, with its examples; `language` is that of the text: de."""
        with opened(self.project, create=True) as store:
            save_guideline(store, version, content, examples, language=language, by=self.project.actor)

    def list(self) -> "pd.DataFrame":
        """Every version, with the campaigns and labels under it."""
        with opened(self.project) as store:
            return list_guidelines(store)

    def read(self, version: str) -> "Guideline":
        """A version's text and examples."""
        with opened(self.project) as store:
            return guideline_named(store, version)

    def in_force(self, campaign: str) -> "Guideline | None":
        """The guideline that a campaign goes by, None where only a version is named."""
        with opened(self.project) as store:
            return guideline_of(store, campaign)

    def judged_by(self, campaign: str, expert: str) -> "Guideline | None":
        """The guideline under which an expert judged last in a campaign, None before the first judgement."""
        with opened(self.project) as store:
            return guideline_of_last(store, campaign, expert)

    def enforce(self, version: str, campaign: str) -> None:
        """Put a version in force in a campaign; labels keep the version they were given under."""
        with opened(self.project) as store:
            put_in_force(store, campaign, version, by=self.project.actor)


def _read_examples(project: "Project", file: Path) -> "list[Example]":
    """The example pairs of a file; their images must be in the catalogue."""
    from eds.project.draw import read_known_pairs

    table = read_known_pairs(project, file)
    needed = ("query_id", "candidate_id", "kind")
    if missing := [name for name in needed if name not in table.columns]:
        raise InputError(f"missing columns: {', '.join(missing)}", where=str(file), hint="Add them.")
    texts = [[str(value) for value in table[name]] for name in needed]
    notes = table["note"].fillna("").astype(str) if "note" in table.columns else [""] * len(table)
    values = table["value"].astype(object).where(table["value"].notna(), None) if "value" in table.columns else None
    labels = [None] * len(table) if values is None else [_to_label(value) for value in values]
    return [Example(*row) for row in zip(*texts, notes, labels, strict=True)]


def _to_label(value: object) -> "int | None":
    """1 or 0 as an integer; the library refuses anything else."""
    return int(value) if isinstance(value, (int, float)) and value in (0, 1) else value  # type: ignore[return-value]
