"""Which column of a list of images is which of ours: by a map, by our own name, or by an alias.

A name fits without regard to case, and with blanks or hyphens for underscores: `Product ID` is `product_id`.
"""

from collections.abc import Iterable, Mapping

import pandas as pd

from eds import tables
from eds.errors import InputError

ALIASES = {
    "image_id": ("id",),
    "product_id": ("product", "sku", "item_id", "item"),
    "path": ("file", "filename", "file_name", "filepath", "file_path", "image_path"),
}  # in order: the first that a file has is taken
SHOWN, LONGEST = 30, 40  # columns in a message; characters of one


def rename_columns(rows: pd.DataFrame, columns: Mapping[str, str], where: str) -> tuple[pd.DataFrame, dict[str, str]]:
    """The rows with our names, and which column each of ours is; raise InputError for a map that does not fit.

    The map comes first, then a column of our own name, then an alias. All other columns pass through.
    """
    there = list(map(str, rows.columns))
    full = [_full_name(ours) for ours in columns]
    wanted = dict(zip(full, columns.values(), strict=True))
    faults = [f"{ours} is mapped twice, also by its short name" for ours in wanted if full.count(ours) > 1]
    faults += [f"images has no column {ours}" for ours in wanted if ours not in tables.IMAGES.names]
    faults += [
        f"the file has no column {theirs!r} (for {ours})" for ours, theirs in wanted.items() if theirs not in there
    ]
    wanted |= _by_name(there, wanted)
    if not faults and "path" not in wanted:
        faults.append("no column holds the path: name it with --map path=COLUMN")
    if faults:
        raise InputError(
            "the column map does not fit",
            where=where,
            hint=f"The file's columns: {_listed(there)}. Those of images: {', '.join(tables.IMAGES.names)}.",
            faults=faults,
        )
    taken = pd.DataFrame({ours: rows[theirs] for ours, theirs in wanted.items()}, index=rows.index)
    left = [name for name in rows.columns if name not in wanted.values() and name not in taken.columns]
    return pd.concat([taken, rows[left]], axis=1), wanted


def mapping_notes(rows: pd.DataFrame, mappings: Iterable[Mapping[str, str]]) -> list[str]:
    """Which columns were used as what and which were not, and what it means that there is no product column.

    Without products every image counts as its own product: its other images are then neither left out of lists nor
    grouped, and rates mix them up with similar products.
    """
    used: dict[str, list[str]] = {}
    for mapping in mappings:
        for ours in (name for name in tables.IMAGES.names if name in mapping):
            used.setdefault(ours, []).append(mapping[ours])
    shown = [
        ours if set(theirs) == {ours} else f"{ours} = {' or '.join(dict.fromkeys(theirs))}"
        for ours, theirs in used.items()
    ]
    further = [str(name) for name in rows.columns if name not in tables.IMAGES.names]
    text = f"columns used: {', '.join(shown)}"
    if further:
        text += f"; also kept: {', '.join(further)} (--map OURS=THEIRS uses a column as one of ours)"
    if "product_id" not in rows or rows["product_id"].isna().all():
        text += (
            "; no column holds the product, so every image counts as a product of its own: name it with "
            "--map product=COLUMN if there is one"
        )
    return [text]


def _listed(names: list[str]) -> str:
    """The names as a message shows them: not too many, none too long, and nothing that moves a terminal's cursor.

    >>> _listed(["path", "x" * 50, chr(27)])
    'path, xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..., ?'
    """
    shown = [name if len(name) <= LONGEST else f"{name[:LONGEST]}..." for name in names[:SHOWN]]
    more = [f"and {len(names) - SHOWN:,} more"] if len(names) > SHOWN else []
    return "".join(sign if sign.isprintable() else "?" for sign in ", ".join([*shown, *more]))


def _full_name(ours: str) -> str:
    return {"id": "image_id", "product": "product_id"}.get(ours, ours)


def _by_name(there: list[str], taken: Mapping[str, str]) -> dict[str, str]:
    """The columns that bear one of our names or an alias of it, without those that the map takes."""
    free = [name for name in there if name not in taken.values()]
    found: dict[str, str] = {}
    for ours in tables.IMAGES.names:
        for name in (ours, *ALIASES.get(ours, ())):
            fitting = [theirs for theirs in free if theirs == name] or [
                theirs for theirs in free if _plain(theirs) == name
            ]
            if ours not in taken and fitting:
                found[ours] = fitting[0]
                break
    return found


def _plain(name: str) -> str:
    return name.strip().lower().replace(" ", "_").replace("-", "_")
