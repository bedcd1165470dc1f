"""What an operation reads of a project: each table at most once, and the pairs that numbers are computed on."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from eds.errors import InputError, ProjectError
from eds.tables import SUSPECTS

if TYPE_CHECKING:
    import pandas as pd

    from eds.metrics import Measure
    from eds.project import Project
    from eds.universe import Universe
    from eds.vectors import Vectors

PAIR = ["query_id", "candidate_id"]
CATALOGUE = ("image_id", "product_id", "category", "role")  # all that lists, ranks and counts need of table images
IMPORTED = "imported"  # stratum of a benchmark's pairs


class Inputs:
    """The tables of a project as one operation sees them: each is read when it is first needed, and kept."""

    def __init__(self, project: "Project") -> None:
        self.project = project
        self._frames: dict[tuple[str, str | None], pd.DataFrame] = {}
        self._complete: set[tuple[str, str | None]] = set()  # frames that have every column
        self._measured: dict[bool, pd.DataFrame] = {}
        self._vectors: dict[str, Vectors] = {}

    def read(self, table: str, model: str | None = None, columns: Sequence[str] | None = None) -> "pd.DataFrame":
        """Return a table, or some of its columns; the file is read again only for columns that were not read yet."""
        key = (table, model)
        kept = self._frames.get(key)
        if columns is None and key not in self._complete:
            kept = self._frames[key] = self.project.read(table, model)
            self._complete.add(key)
        elif kept is None or not set(columns or ()) <= set(kept.columns):
            wanted = [*(() if kept is None else kept.columns), *(columns or ())]
            kept = self._frames[key] = self.project.read(table, model, columns=list(dict.fromkeys(wanted)))
        return kept if columns is None else kept[list(columns)]

    def vectors(self, model: str) -> "Vectors":
        """Return a model's vectors, which are opened once, and so have their ids read once."""
        from eds.vectors import Vectors

        if model not in self._vectors:
            self._vectors[model] = Vectors.open(self.project.path("embeddings", model))
        return self._vectors[model]

    def exists(self, table: str) -> bool:
        """Return whether the project has the table."""
        return self.project.path(table).exists()

    def images(self, *more: str) -> "pd.DataFrame":
        """Return the columns of the catalogue that lists and ranks need, and `more`."""
        return self.read("images", columns=[*CATALOGUE, *(name for name in more if name not in CATALOGUE)])

    @cached_property
    def universe(self) -> "Universe":
        """The universe of pairs that the project is about."""
        from eds.project.universe import project_universe

        return project_universe(self)

    @cached_property
    def suspects(self) -> "pd.DataFrame":
        """The suspects; an empty table where there are none yet."""
        return self.read("suspects") if self.exists("suspects") else SUSPECTS.empty()

    @cached_property
    def proposals(self) -> "pd.DataFrame":
        """The model, query_id, candidate_id and rank of every proposal that the suspects' sources name.

        Empty for an imported benchmark: who proposed its pairs is not known, whatever was pooled since.
        """
        from eds.suspects import sources_frame

        return sources_frame(self.suspects.iloc[:0] if self.imported else self.suspects)

    @property
    def imported(self) -> bool:
        """Whether the suspects hold pairs of an imported benchmark."""
        return bool((self.suspects["stratum"] == IMPORTED).any())

    def decided_pairs(self) -> "pd.DataFrame":
        """Return the decided labels; refuse where there are none."""
        project = self.project
        if not self.exists("truth"):
            raise ProjectError(
                "there are no decided labels yet",
                where=str(project.root),
                hint="Decide them (eds truth decide), or import a benchmark (eds benchmarks import).",
            )
        truth = self.read("truth")
        if not len(truth):
            raise InputError("table truth is empty", where=str(project.path("truth")), hint="Collect labels first.")
        return truth[[*PAIR, "value"]]

    def measured_pairs(self, *, with_random: bool = False) -> "pd.DataFrame":
        """Return the decided labels that models are measured on; see `eds.suspects.benchmark_labels`."""
        if with_random not in self._measured:
            from eds.project.journal import suspects_and_withdrawn
            from eds.suspects import benchmark_labels

            truth = self.decided_pairs()
            kept = (
                truth
                if with_random or not self.exists("suspects")
                else benchmark_labels(truth, suspects_and_withdrawn(self))
            )
            if self.exists("images") and len(kept):
                from eds.suspects import usable_labels

                fits = usable_labels(self.images(), kept)
                if not fits.all():
                    gone = f"{int((~fits).sum()):,} of {len(kept):,} labels"
                    self.project.say(f"{gone} are of images that are no query or no candidate: no measure uses them.")
                kept = kept[fits].reset_index(drop=True) if fits.any() else kept
            if not len(kept):
                raise InputError(
                    "only random pairs are labelled, and these serve p and the pool's recall",
                    where=str(self.project.path("truth")),
                    hint="Have the pool judged (eds suspects pool), or measure on them all the same: --with-random.",
                )
            self._measured[with_random] = kept
        return self._measured[with_random]

    def measured_labels(self, measures: "Sequence[Measure]", *, with_random: bool = False) -> "pd.DataFrame":
        """Return the pairs that models are measured on; none where no measure needs any and there are none."""
        import pandas as pd

        if self.exists("truth") or any(measure.definition.needs not in ("codes", "graded") for measure in measures):
            return self.measured_pairs(with_random=with_random)
        columns = {name: pd.Series([], dtype="str") for name in PAIR}
        return pd.DataFrame({**columns, "value": pd.Series([], dtype="int64")})

    @cached_property
    def pooled_pairs(self) -> "pd.DataFrame | None":
        """The pool's pairs, judged or not; None where there are no suspects."""
        if not self.exists("suspects"):
            return None
        return self.suspects.loc[self.suspects["origin"] == "pool", PAIR].drop_duplicates()

    @cached_property
    def negatives(self) -> "pd.DataFrame | None":
        """The suspects that were drawn as negatives, if any; `similar`: whether a pair was judged similar since."""
        drawn = self.suspects.loc[self.suspects["origin"] == "negative", PAIR]
        if not len(drawn):
            return None
        if not self.exists("truth"):
            return drawn.assign(similar=False)
        decided = self.read("truth")[[*PAIR, "value"]]
        return drawn.assign(similar=drawn.merge(decided, on=PAIR, how="left")["value"].eq(1).to_numpy(dtype=bool))

    def drawn_negatives(self, measures: "Sequence[Measure]") -> "pd.DataFrame | None":
        """Return the drawn negatives if a measure needs them; refuse where it does and there are none."""
        if not any(measure.parameters.get("negatives") == "sampled" for measure in measures):
            return None
        if self.negatives is None:
            raise InputError(
                "negatives=sampled needs drawn negatives, and there are none",
                where=str(self.project.path("suspects")),
                hint="Draw them: eds suspects negatives.",
            )
        return self.negatives
