"""Votes as JSON, one object a line, written column by column in Arrow: no row is ever an object of Python.

Portions go to threads, since Arrow's own work lets others run meanwhile; the lines come in the rows' order.
"""

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.compute as pc

PORTION = 50_000  # rows made into JSON at a time
THREADS = min(4, os.cpu_count() or 1)
SPECIAL = r'["\\\x00-\x1f\x7f]'  # what JSON does not take as it is
TIME = "%Y-%m-%dT%H:%M:%SZ"


def lines(votes: pa.Table) -> Iterator[pa.Buffer]:
    """The table's rows as JSON objects, each with its line end, portion by portion."""
    portions = (votes.slice(start, PORTION) for start in range(0, len(votes), PORTION))
    with ThreadPoolExecutor(THREADS) as pool:
        yield from pool.map(_portion, portions)


def _portion(votes: pa.Table) -> pa.Buffer:
    parts: list[str | pa.Array] = []
    for name in votes.column_names:
        key = f"{',' if parts else '{'}{json.dumps(name)}:"
        parts.append(_member(key, votes[name].combine_chunks()))
    texts: pa.Array = pc.binary_join_element_wise(*parts, "}\n", "")
    return texts.buffers()[2]  # Arrow keeps the texts of an array one behind the other


def _member(key: str, column: pa.Array) -> str | pa.Array:
    """The key and the value of every row; each distinct value is written once."""
    if column.null_count == len(column):
        return f"{key}null"
    if pa.types.is_timestamp(column.type):
        column = pc.strftime(column, format=TIME)
    coded = column.dictionary_encode()
    distinct = coded.dictionary
    written = _quoted(distinct) if pa.types.is_string(distinct.type) else distinct.cast(pa.string())
    members: pa.Array = pc.binary_join_element_wise(key, written, "").take(coded.indices)
    return pc.fill_null(members, f"{key}null")


def _quoted(texts: pa.Array) -> pa.Array:
    """Texts in quotation marks; the few that hold something special go one by one."""
    quoted = pc.binary_join_element_wise('"', texts, '"', "")
    special = pc.match_substring_regex(texts, SPECIAL)
    encoded = [json.dumps(text, ensure_ascii=False) for text in texts.filter(special).to_pylist()]
    return pc.replace_with_mask(quoted, special, pa.array(encoded, pa.string())) if encoded else quoted
