"""Which acts of a file are new to the store, and in which order they were given; contradictions are reported by row."""

import numpy as np
import pandas as pd
import sqlalchemy as sa

from eds.labels.bulk import fetch
from eds.labels.schema import label_event
from eds.labels.validation import refuse, short

DO = "Rows count from 0; nothing was imported."
TAKE_BACK = "Was an earlier file wrong? See eds labels imports list, and void it: eds labels imports void NUMBER."


def fresh(connection: sa.Connection, clean: pd.DataFrame, stored: pd.DataFrame, where: str) -> pd.DataFrame:
    """Return the rows that are not stored yet, each act once; contradictions are reported by row."""
    faults = []
    first = pd.Index(clean["vote_id"].drop_duplicates())
    lines = np.flatnonzero(~clean["vote_id"].duplicated().to_numpy())
    said = lines[first.get_indexer(clean["vote_id"])]  # the first row of the same name
    content = clean[["item", "expert"]].to_numpy()
    value = clean["value"].fillna(-1).to_numpy(np.int64)
    differs = (content != content[said]).any(axis=1) | (value != value[said])
    faults += [f"row {row}: says otherwise than row {said[row]} about the same act" for row in np.flatnonzero(differs)]
    repeated = (said != np.arange(len(clean))) & ~differs
    index = pd.Index(stored["label_id"]).get_indexer(clean["vote_id"])
    there = index >= 0
    before = stored.iloc[index[there]]
    same = (before[["item", "expert"]].to_numpy() == content[there]).all(axis=1) & (
        before["value"].fillna(-1).to_numpy(np.int64) == value[there]
    )
    against = np.flatnonzero(there)[~same].tolist()
    faults += [f"row {row}: vote {short(clean['vote_id'][row])} is stored, and says otherwise" for row in against]
    void = there & (np.append(stored["void"].to_numpy(), [0])[index] == 1)
    faults += [
        f"row {row}: vote {short(clean['vote_id'][row])} came with an import that is void (eds labels imports list)"
        for row in np.flatnonzero(void)
    ]
    new: pd.DataFrame = clean[~there & ~repeated]
    elsewhere = _elsewhere(connection, new)
    faults += [f"row {row}: vote {short(clean['vote_id'][row])} is an act of another campaign" for row in elsewhere]
    refuse(faults, "contradictions", where, f"{DO} {TAKE_BACK}" if against else DO)
    return new


def _elsewhere(connection: sa.Connection, new: pd.DataFrame) -> list[int]:
    """Rows whose name belongs to an act of another campaign."""
    if not len(new) or connection.execute(sa.select(label_event.c.id).limit(1)).first() is None:
        return []
    names = fetch(connection, sa.select(label_event.c.label_id))["label_id"].to_pandas()
    return [int(row) for row in new.index[new["vote_id"].isin(names)]]


def sequenced(new: pd.DataFrame, stored: pd.DataFrame, where: str) -> pd.DataFrame:
    """The rows with `sequence`, by following `supersedes`; equal duplicates are left out, others reported."""
    faults = []
    row_of = new.index.to_numpy()
    slot = pd.MultiIndex.from_frame(new[["item", "expert"]])
    count = stored.groupby(["item", "expert"])["events"].max()  # acts of a slot, void ones too
    live = stored[stored["void"] == 0].sort_values("sequence")
    current = live.drop_duplicates(["item", "expert"], keep="last")
    held = pd.MultiIndex.from_frame(current[["item", "expert"]]).get_indexer(slot)  # the act in force before
    parent = pd.Index(new["vote_id"]).get_indexer(new["supersedes"].astype(object))
    parent[new["supersedes"].isna().to_numpy()] = -1
    names = np.append(current["label_id"].to_numpy(object), [None])[held]
    follows = new["supersedes"].notna().to_numpy() & (names == new["supersedes"].to_numpy(object))
    lost = new["supersedes"].notna().to_numpy() & (parent < 0) & ~follows
    codes = pd.factorize(slot)[0]
    strange = (parent >= 0) & (codes[parent] != codes)
    for index in np.flatnonzero(lost | strange):
        faults.append(
            f"row {row_of[index]}: supersedes {short(str(new['supersedes'].iloc[index]))}, "
            "which is not an act in force of this expert on this pair"
        )
    twice = new["supersedes"].duplicated(keep=False).to_numpy() & new["supersedes"].notna().to_numpy()
    faults += [f"row {row_of[index]}: several acts supersede the same one" for index in np.flatnonzero(twice)]
    # Beginnings: acts that supersede nothing. A pair and expert may have one.
    begins = new["supersedes"].isna().to_numpy()
    value = new["value"].fillna(-1).to_numpy(np.int64)
    leader = np.full(codes.max(initial=-1) + 1, -1)
    starts = np.flatnonzero(begins)
    leader[codes[starts[::-1]]] = starts[::-1]
    held_value = np.append(current["value"].fillna(-1).to_numpy(np.int64), [-2])[held]
    against = np.where(held >= 0, held_value, value[leader[codes]])
    again = begins & ((held >= 0) | (leader[codes] != np.arange(len(new))))
    for index in np.flatnonzero(again & (value != against)):
        source = "the store" if held[index] >= 0 else f"row {row_of[leader[codes[index]]]}"
        faults.append(
            f"row {row_of[index]}: {short(new['expert_id'].iloc[index])} judged this pair otherwise in {source}"
        )
    refuse(faults, "contradictions", where, f"A correction names the act it supersedes. {DO}")
    base = count.reindex(slot).fillna(0).to_numpy(np.int64)
    sequence = np.where(begins | follows, base + 1, 0)
    while (waiting := (sequence == 0) & (sequence[parent] > 0)).any():
        sequence[waiting] = sequence[parent[waiting]] + 1
    refuse(
        (f"row {row_of[index]}: supersedes itself, by a circle" for index in np.flatnonzero(sequence == 0)),
        "contradictions",
        where,
        DO,
    )
    text: pd.DataFrame = new.assign(sequence=sequence)[~again]
    return text
