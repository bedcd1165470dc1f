"""What "similar" means: versions of the guideline, and the calibration rounds that practise it."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from eds.errors import InputError
from eds.project.label_store import opened

if TYPE_CHECKING:
    import pandas as pd

    from eds.labels.guidelines import Example, Guideline
    from eds.project import Project


@dataclass(frozen=True)
class Guidelines:
    """The guideline versions of a project; a saved version never changes."""

    project: "Project"

    def save(self, version: str, file: str | Path, examples: str | Path | None = None) -> int:
        """Save a Markdown file as a new version, with the example pairs of a table; how many examples it has."""
        from eds.labels.guidelines import save_guideline

        shown = _read_examples(self.project, Path(examples)) if examples else []
        try:
            text = Path(file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"cannot be read ({error})", where=str(file), do="Give a text file in UTF-8.") from error
        with opened(self.project, create=True) as store:
            save_guideline(store, version, text, shown, by=self.project.actor)
        return len(shown)

    def list(self) -> "pd.DataFrame":
        """Every version, with the campaigns and labels under it."""
        from eds.labels.guidelines import list_guidelines

        with opened(self.project) as store:
            return list_guidelines(store)

    def read(self, version: str) -> "Guideline":
        """A version's text and examples."""
        from eds.labels.guidelines import guideline_named

        with opened(self.project) as store:
            return guideline_named(store, version)

    def enforce(self, version: str, campaign: str) -> None:
        """Put a version in force in a campaign; labels keep the version they were given under."""
        from eds.labels.guidelines import put_in_force

        with opened(self.project) as store:
            put_in_force(store, campaign, version, by=self.project.actor)

    def plan_calibration(self, campaign: str, pairs: int, needed: float = 0.8) -> None:
        """Let each expert start with rounds of known pairs until a share `needed` of one is right; 0 pairs: none."""
        from eds.labels.calibration import plan_calibration

        with opened(self.project) as store:
            plan_calibration(store, campaign, pairs, needed, by=self.project.actor)

    def calibration_rounds(self, campaign: str) -> "pd.DataFrame":
        """Every calibration round of every expert, and how much was right."""
        from eds.labels.lead_queries import calibration_results

        with opened(self.project) as store:
            return calibration_results(store, campaign)


def _read_examples(project: "Project", file: Path) -> "list[Example]":
    """The example pairs of a file; their images must be in the catalogue."""
    from eds.labels.guidelines import Example
    from eds.project.draw import read_known_pairs

    table = read_known_pairs(project, file)
    needed = ("query_id", "candidate_id", "kind")
    if missing := [name for name in needed if name not in table.columns]:
        raise InputError(f"missing columns: {', '.join(missing)}", where=str(file), do="Add them.")
    texts = [[str(value) for value in table[name]] for name in needed]
    notes = table["note"].fillna("").astype(str) if "note" in table.columns else [""] * len(table)
    values = table["value"].astype(object).where(table["value"].notna(), None) if "value" in table.columns else None
    labels = [None] * len(table) if values is None else [_to_label(value) for value in values]
    return [Example(*row) for row in zip(*texts, notes, labels, strict=True)]


def _to_label(value: object) -> "int | None":
    """1 or 0 as an integer; the library refuses anything else."""
    return int(value) if isinstance(value, (int, float)) and value in (0, 1) else value  # type: ignore[return-value]
