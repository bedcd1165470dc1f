"""The columns and answers of a file of votes that others wrote, as ours: by name, by alias, or as `--map` says.

The mapping used is always reported. Not here: files (vote_files.py), and whether the
votes fit the project (eds.project.import_votes).
"""

import csv
import io
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from eds.errors import InputError
from eds.labels.validation import short

COLUMNS = (
    "vote_id",
    "query_id",
    "candidate_id",
    "expert_id",
    "value",
    "seconds",
    "created_at",
    "session_id",
    "guideline",
    "kind",
    "supersedes",
    "mode",
    "polarity",
    "late",
    "aspects",
    "grade",
    "note",
)
DELIMITERS = (",", ";", "\t", "|")
NEEDED = ("query_id", "candidate_id", "expert_id", "value")
ALIASES: dict[str, tuple[str, ...]] = {
    "query_id": ("query", "query_image", "qid", "anchor"),
    "candidate_id": ("candidate", "candidate_image", "cid", "docid", "other"),
    "expert_id": ("expert", "annotator", "annotator_id", "worker", "worker_id", "rater", "judge", "user"),
    "value": ("label", "vote", "answer", "judgement", "judgment", "similar", "match"),
    "seconds": ("duration", "lead_time"),
    "created_at": ("time", "timestamp", "created", "date"),
    "vote_id": ("label_id",),
}
SIMILAR = ("1", "1.0", "yes", "y", "true", "t", "similar", "same", "match", "positive", "ja", "oui")
DIFFERENT = ("0", "0.0", "no", "n", "false", "f", "different", "dissimilar", "negative", "nein", "non")
UNSURE = ("", "unsure", "skip", "unknown", "?", "null", "none", "nan")
MEANING: dict[str, int | None] = {
    **dict.fromkeys(SIMILAR, 1),
    **dict.fromkeys(DIFFERENT, 0),
    **dict.fromkeys(UNSURE, None),
}
WORDS = {"1": 1, "similar": 1, "0": 0, "different": 0, "unsure": None}  # what `--values` may say of an answer


@dataclass(frozen=True)
class Columns:
    """What the columns of a file were taken for."""

    used: dict[str, str]  # our column -> the file's
    answers: dict[str, str]  # as the file writes them -> similar, different, unsure; only if they are not 1, 0, nothing


def rename(
    frame: pd.DataFrame, mapping: Mapping[str, str], values: Mapping[str, str], where: str
) -> tuple[pd.DataFrame, Columns]:
    """The votes with our columns and answers; refused: columns that are missing or ambiguous, and unknown answers."""
    used = _columns([str(name) for name in frame.columns], mapping, where)
    others = [name for name in frame.columns if name not in set(used.values()) and name not in used]
    result = pd.DataFrame({ours: frame[theirs] for ours, theirs in used.items()}, index=frame.index)
    result = pd.concat([result, frame[others]], axis=1)
    result["value"], answers = _answers(result["value"], values, where)
    if "seconds" in result and not pd.api.types.is_numeric_dtype(result["seconds"]):  # of JSON: numbers, or texts
        result["seconds"] = result["seconds"].map(_with_point)
    return result, Columns(used, answers)


def _with_point(value: Any) -> Any:
    """A text with a decimal comma as one with a point; anything else as it is."""
    return re.sub(r"^(\d+),(\d+)$", r"\1.\2", value) if isinstance(value, str) else value


def recognised(names: list[str]) -> int:
    """How many names are ours, or aliases.

    >>> recognised(["Query", "candidate", "x"])
    2
    """
    known = {*COLUMNS, *(alias for aliases in ALIASES.values() for alias in aliases), "task"}
    return sum(plain(name) in known for name in names)


def is_answer(text: str) -> bool:
    """Whether a text is an answer of the table above."""
    return text.strip().lower() in MEANING and bool(text.strip())


def sniff(text: str, names: Collection[str] = ()) -> tuple[str, bool]:
    r"""The delimiter of a CSV file that begins so, and whether its first line is a header.

    The delimiter is the one by which the first line has the most columns of votes, or of `names`.

    >>> sniff("query;candidate;rater;label\nq;c;ann;yes\n"), sniff("q,c,ann,1\n")
    ((';', True), (',', False))
    """
    lines = {sign: next(csv.reader(io.StringIO(text), delimiter=sign), []) for sign in DELIMITERS}
    known = {sign: recognised(line) + len({*line} & {*names}) for sign, line in lines.items()}
    best = max(DELIMITERS, key=lambda sign: known[sign])
    if known[best]:
        return best, True
    bare = [sign for sign, line in lines.items() if len(line) == len(NEEDED) and is_answer(line[-1])]
    return (bare[0], False) if bare else (max(DELIMITERS, key=lambda sign: len(lines[sign])), True)


def plain(name: str) -> str:
    """A column's name as it is compared.

    >>> plain(" Query-ID ")
    'query_id'
    """
    return name.strip().lower().replace(" ", "_").replace("-", "_")


def _columns(names: list[str], mapping: Mapping[str, str], where: str) -> dict[str, str]:
    """Our column -> the file's."""
    faults = [
        f"--map {ours}={theirs}: {ours} is not a column of votes"
        for ours, theirs in mapping.items()
        if ours not in COLUMNS
    ]
    faults += [
        f"--map {ours}={theirs}: the file has no column {theirs}"
        for ours, theirs in mapping.items()
        if theirs not in names
    ]
    result = {ours: theirs for ours, theirs in mapping.items() if ours in COLUMNS and theirs in names}
    taken = set(result.values())
    for ours in COLUMNS:
        if ours in result or (ours in names and ours in taken):
            continue
        exact = [name for name in names if plain(name) == ours and name not in taken]
        found = exact or [name for name in names if plain(name) in ALIASES.get(ours, ()) and name not in taken]
        if len(found) > 1:
            faults.append(f"{' and '.join(found)} could both be {ours}: say which, --map {ours}={found[0]}")
        elif found:
            result[ours] = found[0]
    faults += [
        f"column {ours} is missing: name it, --map {ours}=COLUMN"
        for ours in NEEDED
        if ours not in result and not any(f"be {ours}:" in fault for fault in faults)
    ]
    if faults:
        raise InputError(
            faults[0] if len(faults) == 1 else "the columns are not those of votes",
            where=where,
            hint=f"The file has {', '.join(names[:12])}; votes have {', '.join(NEEDED)}, and may have "
            f"{', '.join(name for name in COLUMNS if name not in NEEDED)}.",
            faults=faults if len(faults) > 1 else (),
        )
    return {ours: result[ours] for ours in COLUMNS if ours in result}


def _answers(given: "pd.Series[Any]", values: Mapping[str, str], where: str) -> "tuple[pd.Series[Any], dict[str, str]]":
    """The answers as 1, 0 or nothing, and what each text was taken for."""
    wrong = [f"{text}={word}" for text, word in values.items() if word not in WORDS]
    if wrong:
        raise InputError(
            f"--values {wrong[0]}: the answer is {', '.join(WORDS)}", where=where, hint="Write --values yes=1,no=0."
        )
    own = {text.strip().lower(): WORDS[word] for text, word in values.items()}
    table = own if own else MEANING
    codes, distinct = pd.factorize(given.astype(object).to_numpy(), use_na_sentinel=True)
    texts = ["" if value is None else str(value).strip().lower() for value in distinct]
    unknown = [text for text in texts if text not in table and text not in UNSURE]
    if unknown:
        shown = ", ".join(short(text) for text in unknown[:5])
        counts = np.isin(codes, [at for at, text in enumerate(texts) if text in unknown])
        raise InputError(
            f"{int(counts.sum()):,} answers are unknown: {shown}{', …' if len(unknown) > 5 else ''}",
            where=where,
            hint="Say what they mean: --values TEXT=similar,TEXT=different,TEXT=unsure.",
        )
    meaning = np.append(np.array([table.get(text) for text in texts], dtype=object), [None])
    words = {1: "similar", 0: "different", None: "unsure"}
    used = {
        str(value): words[table.get(text)]
        for value, text in zip(distinct, texts, strict=True)
        if own or text not in ("1", "0", "1.0", "0.0", "")
    }
    return pd.Series(meaning[codes], index=given.index, dtype=object), dict(sorted(used.items()))
