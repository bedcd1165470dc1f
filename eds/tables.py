"""The seven tables: all that one stage knows of another.

    images -> embeddings -> neighbors -> suspects -> labels -> truth -> scores

Beside the flow, table splits says what models are trained and tested on.

Each is declared once, below, with a sentence for every column. `check` reports every fault of a frame at
once; `write` and `read` store a table as Parquet (zstd, checksummed pages) with its name, schema version and
provenance, atomically. Not here: the files of a project and their staleness (eds.project).
"""

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from eds import choices
from eds.errors import InputError, TableError
from eds.io.files import forbidden, replacing
from eds.schema import ARROW, Column, Table, fill_columns, to_arrow, to_frame

QUERY = Column("query_id", "text", "the query image")
CANDIDATE = Column("candidate_id", "text", "the candidate image")
MODEL = Column("model", "text", "the model's name in this project")
MODEL_NAME = re.compile(choices.MODEL_NAME)

BOX = ["box_left", "box_top", "box_right", "box_bottom"]  # the columns of an image's crop box
IMAGES = Table(
    "images",
    "an image of the catalogue",
    ("image_id",),
    (
        Column("image_id", "text", "the image's name; unique, never reused"),
        Column("path", "text", "the file, relative to the image root"),
        Column("product_id", "text", "the product shown; the image id if it is unknown"),
        Column("category", "text", "the category of the product", nullable=True),
        Column(
            "role", "text", "whether the image is a query, a candidate or both", allowed=("query", "candidate", "both")
        ),
        Column("phase", "text", "the part of the dataset it belongs to", nullable=True),
        Column("width", "integer", "pixels of the stored file", nullable=True, low=1),
        Column("height", "integer", "pixels of the stored file", nullable=True, low=1),
        Column("sha256", "text", "digest of the file; empty if it has not been scanned", nullable=True),
        Column("box_left", "integer", "crop box: first column", nullable=True, low=0),
        Column("box_top", "integer", "crop box: first row", nullable=True, low=0),
        Column("box_right", "integer", "crop box: column after the last", nullable=True, low=1),
        Column("box_bottom", "integer", "crop box: row after the last", nullable=True, low=1),
    ),
    further=True,
)

EMBEDDINGS = Table(
    "embeddings",
    "a vector of an image by a model (the vectors themselves are `.npy` shards beside this table)",
    ("model", "image_id"),
    (
        MODEL,
        Column("image_id", "text", "the image"),
        Column("shard", "integer", "number of the shard that holds the vector", low=0),
        Column("row", "integer", "row of the vector within its shard", low=0),
        Column("source", "text", "digest of the file and crop box that the vector was computed from", nullable=True),
    ),
)

PART = 1 << 19  # rows that are read at once of a table too large for memory

NEIGHBORS = Table(
    "neighbors",
    "a candidate in a model's list",
    ("model", "query_id", "candidate_id"),
    (
        MODEL,
        QUERY,
        CANDIDATE,
        Column("rank", "integer", "position in the model's list, from 0 (the paper's R_m)", low=0),
        Column("score", "real", "the model's similarity; larger is more similar"),
    ),
)

SUSPECTS = Table(
    "suspects",
    "a pair for the experts to judge",
    ("query_id", "candidate_id", "origin"),
    (
        QUERY,
        CANDIDATE,
        Column("origin", "text", "why the pair was selected", allowed=("pool", "random", "negative", "gold", "repeat")),
        Column("batch", "integer", "the batch of work it belongs to", low=0),
        Column("position", "integer", "position in the order of judging, from 0", low=0),
        Column("sources", "text", "the models that proposed it, with ranks: `beit:3;clip:0`", nullable=True),
        Column("stratum", "text", "the stratum it was drawn from", nullable=True),
        Column("probability", "real", "inclusion probability; 1 for a census", low=0, high=1),
    ),
)

LABELS = Table(
    "labels",
    "a judgement by an expert; append-only, a correction is a new row",
    ("label_id",),
    (
        Column("label_id", "text", "the judgement's id; unique"),
        QUERY,
        CANDIDATE,
        Column("expert_id", "text", "the expert"),
        Column("value", "integer", "1 similar, 0 not; null for unsure", nullable=True, allowed=(0, 1)),
        Column("seconds", "real", "from display of the pair to the judgement", nullable=True, low=0),
        Column("created_at", "time", "time of the judgement, in UTC"),
        Column("session_id", "text", "the session it was made in", nullable=True),
        Column(
            "kind", "text", "whether it is a control question", allowed=("normal", "gold", "repeat"), default="normal"
        ),
        Column("supersedes", "text", "the earlier judgement that this one corrects", nullable=True),
        Column("guideline", "text", "version of the guideline in force", nullable=True),
    ),
)

TRUTH = Table(
    "truth",
    "the decided label of a pair",
    ("query_id", "candidate_id"),
    (
        QUERY,
        CANDIDATE,
        Column("value", "integer", "1 similar, 0 not", allowed=(0, 1)),
        Column("votes_for", "integer", "experts who said similar", low=0),
        Column("votes_against", "integer", "experts who said not", low=0),
        Column("unsure", "integer", "experts who were unsure", low=0, default=0),
        Column("tie", "flag", "equal numbers of votes for and against; a tie is negative"),
        Column("rule", "text", "the voting rule"),
    ),
)

SCORES = Table(
    "scores",
    "a value of a measure",
    ("model", "measure", "query_id"),
    (
        MODEL,
        Column("measure", "text", "the measure with its conventions, as text"),
        Column("query_id", "text", "the query; null for a value over all queries", nullable=True),
        Column("value", "real", "the value; null if undefined", nullable=True),
        Column("low", "real", "lower limit of its interval", nullable=True),
        Column("high", "real", "upper limit of its interval", nullable=True),
        Column("no_interval", "text", "why it has no interval", nullable=True),
        Column("n", "integer", "number of queries or pairs", low=0),
        Column("note", "text", "what was excluded, and why", nullable=True),
        Column("seen", "real", "trained model: the value over queries whose product it was trained on", nullable=True),
        Column("unseen", "real", "trained model: the value over the other queries", nullable=True),
    ),
    version=2,
)

PARTS = ("train", "validation", "query", "database")
SPLITS = Table(
    "splits",
    "an image's part in training and its evaluation",
    ("image_id",),
    (
        Column("image_id", "text", "the image"),
        Column("part", "text", "what it is used for", allowed=PARTS),
        Column("searched", "flag", "whether the test queries are compared with it"),
    ),
)

ASSISTANT = Table(
    "assistant",
    "what a second judge says of a pair; it never votes",
    ("query_id", "candidate_id"),
    (
        QUERY,
        CANDIDATE,
        Column(
            "value", "real", "how likely it takes the pair to be similar; null: it cannot tell", True, low=0, high=1
        ),
    ),
)

TABLES: dict[str, Table] = {
    table.name: table for table in (IMAGES, EMBEDDINGS, NEIGHBORS, SUSPECTS, LABELS, TRUTH, SCORES)
}
DECLARED = {**TABLES, SPLITS.name: SPLITS}  # the flow's tables, and what only training and its scores read


@dataclass(frozen=True)
class Operation:
    """A verb that wrote to a table, and the parameters it was called with."""

    name: str  # "suspects.pool"
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def command(self) -> str:
        """The command that does the same.

        >>> Operation("suspects.pool", {"k": 6, "models": ["a", "b c"], "keep_ties": False}).command
        "eds suspects pool -k 6 --models a --models 'b c' --no-keep-ties"
        >>> Operation("embeddings.import", {"arguments": ["clip", "clip.npy"], "partial": True}).command
        'eds embeddings import clip clip.npy --partial'
        """
        words = ["eds", *self.name.split("."), *map(str, self.params.get("arguments", ()))]
        for name, value in self.params.items():
            if name == "arguments":
                continue
            option = f"-{name}" if len(name) == 1 else f"--{name.replace('_', '-')}"
            for item in value if isinstance(value, (list, tuple)) else [value]:
                if item is True:
                    words.append(option)
                elif item is False:
                    words.append(f"--no-{option.lstrip('-')}")
                elif item is not None and item != "":
                    words += [option, str(item)]
        return shlex.join(words)


@dataclass(frozen=True)
class Provenance:
    """How a table was made: enough to see that it is stale, and to rebuild it."""

    operation: str  # "suspects.pool"
    settings: Mapping[str, Any] = field(default_factory=dict)  # values from eds.toml: "neighbors.k": 100
    parents: Mapping[str, str] = field(default_factory=dict)  # file, relative to the project -> sha256
    eds: str = ""  # version of the program
    params: Mapping[str, Any] = field(default_factory=dict)  # given by the caller; eds.toml does not change them
    later: tuple[Operation, ...] = ()  # operations that added rows
    notes: Mapping[str, Any] = field(default_factory=dict)  # measured while it was made

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The operation that made the table, then those that added rows."""
        return (Operation(self.operation, self.params), *self.later)

    @property
    def command(self) -> str:
        """The commands that make the table."""
        return "; ".join(operation.command for operation in self.operations)

    def to_json(self) -> str:
        """Return JSON with sorted keys, so that equal provenance is equal bytes."""
        return json.dumps(asdict(self), sort_keys=True, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> "Provenance":
        """Read what `to_json` wrote; keys of later versions are ignored."""
        known = {key: value for key, value in json.loads(text).items() if key in cls.__dataclass_fields__}
        return cls(**{**known, "later": tuple(Operation(**step) for step in known.get("later", ()))})


def check_model_name(name: str) -> str:
    """The name, if it can name a folder and appear in `sources`; else InputError."""
    if not MODEL_NAME.fullmatch(name):
        raise InputError(
            f"{name!r} cannot name a model",
            hint="Use letters, digits and . _ + - (at most 100), beginning with a letter or digit.",
        )
    return name


def check(frame: pd.DataFrame, table: Table, where: str = "") -> None:
    """Raise one TableError with every fault of the frame, with row and value; return if there is none."""
    to_arrow(frame, table, where)


def write(frame: pd.DataFrame, table: Table, path: Path, provenance: Provenance) -> None:
    """Check the frame and write it to `path` atomically."""
    notes = {"eds.table": table.name, "eds.version": str(table.version), "eds.provenance": provenance.to_json()}
    arrow = to_arrow(frame, table, str(path)).replace_schema_metadata(notes)
    with replacing(path) as temporary:
        pq.write_table(arrow, temporary, compression="zstd", write_page_checksum=True)


def read(path: Path, table: Table, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Read a table that `write` wrote, or raise a TableError that says why that is impossible and what to do.

    With `columns` only these, in that order; the others are neither read nor checked. A declared column that
    the file lacks, because it was written before the column existed, is filled with its default.
    """
    with _opened(path, table.name) as file:
        _verify(file.schema_arrow, table, path)
        stored = file.schema_arrow.names
        known = list(dict.fromkeys([*table.names, *stored]))
        names = known if columns is None else list(columns)
        _refuse_unknown(names, known, table, path)
        return to_frame(fill_columns(file.read(columns=[name for name in names if name in stored]), table, names))


def read_parts(path: Path, table: Table, columns: Sequence[str], rows: int = PART) -> Iterator[pd.DataFrame]:
    """Read these columns of a table as frames of at most `rows` rows, in order: for files larger than memory."""
    with _opened(path, table.name) as file:
        _verify(file.schema_arrow, table, path)
        stored = file.schema_arrow.names
        _refuse_unknown(columns, list(dict.fromkeys([*table.names, *stored])), table, path)
        for batch in file.iter_batches(rows, columns=[name for name in columns if name in stored]):
            yield to_frame(fill_columns(pa.Table.from_batches([batch]), table, list(columns)))


def read_groups(path: Path, table: Table, column: str, rows: int = PART) -> Iterator[pd.DataFrame]:
    """Read a table in the order of a text column, in frames of about `rows` rows; equal texts stay in one frame.

    The file may be in any order: each frame is read by a search of the file, which skips the parts whose texts do not
    come into question. So it is quick where the file is in that order.
    """
    sizes = pd.Series(dtype="int64")
    for part in read_parts(path, table, [column], rows):
        sizes = sizes.add(part[column].value_counts(), fill_value=0)
    sizes = sizes.sort_index()
    group = (sizes.cumsum() - 1).floordiv(rows)
    for _, texts in sizes.index.to_series().groupby(group.to_numpy(), sort=True):
        within = (pc.field(column) >= texts.iloc[0]) & (pc.field(column) <= texts.iloc[-1])
        with _opened(path, table.name):
            found = pq.read_table(path, filters=within, page_checksum_verification=True)
        yield to_frame(fill_columns(found, table, table.names))


def largest(path: Path, table: Table, column: str) -> int | None:
    """The largest whole number in a column, None if there is none, by the file's statistics without reading rows."""
    with _opened(path, table.name) as file:
        at = file.schema_arrow.get_field_index(column)
        parts = [file.metadata.row_group(index).column(at).statistics for index in range(file.metadata.num_row_groups)]
        if all(part is not None and part.has_min_max for part in parts):
            return max((int(part.max) for part in parts), default=None)
    values = read(path, table, [column])[column]
    return int(values.max()) if len(values) else None


def read_provenance(path: Path, table: Table) -> tuple[Provenance, int]:
    """The provenance and the number of rows of the table at `path`, without reading the rows."""
    with _opened(path, table.name) as file:
        _verify(file.schema_arrow, table, path)
        made_by = Provenance.from_json(file.schema_arrow.metadata[b"eds.provenance"].decode())
        return made_by, int(file.metadata.num_rows)


# What only this table records cannot be rebuilt: never advise to delete it.
RESTORE = {
    "suspects": "Restore a copy: draws, batches and known pairs are recorded nowhere else. Do not delete it.",
    "truth": "Restore a copy, or delete it and decide the votes again: eds truth decide.",
}


@contextmanager
def _opened(path: Path, name: str) -> Iterator[pq.ParquetFile]:
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            yield file
    except FileNotFoundError as error:
        hint = "Name your pictures: eds images scan FOLDER, or eds images import LIST." if name == "images" else ""
        hint = hint or "Create it: eds run."
        raise TableError(f"there is no table {name} yet", where=str(path), hint=hint) from error
    except PermissionError as error:
        raise forbidden(path, TableError) from error
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise TableError(
            f"the file is damaged or not Parquet ({reason})",
            where=str(path),
            hint=RESTORE.get(name, f"Restore a copy, or delete it and rebuild table {name}: eds run."),
        ) from error


def _refuse_unknown(columns: Sequence[str], known: Sequence[str], table: Table, path: Path) -> None:
    unknown = [name for name in columns if name not in known]
    if unknown:
        raise TableError(
            f"table {table.name} has no column {', '.join(unknown)}",
            where=str(path),
            hint=f"It has {', '.join(known)}.",
        )


def _verify(schema: pa.Schema, table: Table, path: Path) -> None:
    """Refuse a file of another table, of a newer version, without a required column or with one of another type."""
    notes = schema.metadata or {}
    name, version = notes.get(b"eds.table", b"").decode(), int(notes.get(b"eds.version", b"0"))
    if not name:
        raise TableError(
            "the file was not written by eds: it carries no table name",
            where=str(path),
            hint="Import other files with an import command, e.g. eds images import FILE.",
        )
    if name != table.name:
        raise TableError(f"the file holds table {name}, not {table.name}", where=str(path), hint="Use the right file.")
    if version > table.version:
        raise TableError(
            f"table {name} has schema version {version}, this program knows {table.version}",
            where=str(path),
            hint="Upgrade eds, then try again; the file is unchanged.",
        )
    faults = []
    for column in table.columns:
        if column.name not in schema.names:
            if table.is_required(column):
                faults.append(f"column {column.name} is missing ({column.meaning})")
        elif schema.field(column.name).type != ARROW[column.kind]:
            faults.append(f"column {column.name} holds {schema.field(column.name).type}, not {column.kind}")
    if faults:
        raise TableError(
            faults[0] if len(faults) == 1 else f"{len(faults)} columns differ from table {name}",
            where=str(path),
            hint=f"Delete the file and rebuild table {name}: eds run.",
            faults=faults if len(faults) > 1 else (),
        )
