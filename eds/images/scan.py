"""Look at the files of the table `images`: digest, size, whether they decode, and which of them look alike.

Each file is read once; its sha256, its size, the decode check and the picture hash come from the same
bytes. The full check decodes every picture to its end (a JPEG at an eighth of its size, which reads all
of its data yet skips most of the arithmetic); the header check (eds.images.headers) is quicker and sees
less. Threads share the work; the result does not depend on their number.
"""

import hashlib
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image

from eds import choices
from eds.errors import ImageError
from eds.images.boxes import misplaced
from eds.images.duplicates import HIGH, WIDE, difference_hashes, exact_groups, near_pairs
from eds.images.headers import stated_size
from eds.images.scan_cache import Memory, Seen, remember, remembered
from eds.imaging import (
    ELSEWHERE,
    TURNS,
    Folders,
    Objects,
    as_rgb,
    decoding,
    folders_of,
    orientation,
    read_bytes,
    stored_size,
    strict,
)
from eds.io import Address, is_remote
from eds.parallel.cores import cores

PORTION = 64  # files handed to a thread at once
HANDED_OVER = 4  # portions of small files whose digests another thread makes
SMALL = 1 << 17  # bytes of a file: to read and hash smaller ones, threads take longer than one of them alone
KEEP_EVERY = 10_000  # files read before what is known so far is kept


@dataclass(frozen=True)
class Scan:
    """What a scan found. Nothing is dropped in silence: every row of the input is in `images` or in `bad`."""

    images: pd.DataFrame
    bad: pd.DataFrame  # image_id, path, reason
    exact: pd.DataFrame  # sha256, image_id, path
    near: pd.DataFrame  # left_id, right_id, distance
    read: int  # files whose bytes were read
    reused: int  # files known from the last scan
    notes: tuple[str, ...] = ()


def scan(
    images: pd.DataFrame,
    root: Address,
    *,
    check: choices.FileCheck = "full",
    near: int | None = 4,
    memory: Path | None = None,
    workers: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Scan:
    """Look at every file; good ones get `width`, `height` and `sha256`, bad ones are listed with the reason.

    `memory` is the file that lets the next scan read only what changed. `near` is the Hamming distance
    up to which pictures count as near duplicates; None leaves them out, as the header check does.
    """
    choices.check(choices.FileCheck, check, "check")
    known = remembered(memory, root)
    reused: set[str] = set()
    seen: list[Seen] = []
    kept = 0
    try:
        workers = workers or (ELSEWHERE if is_remote(root) else cores())
        for portion, from_memory in _looked(images["path"].tolist(), root, known, check, workers):
            seen += portion
            reused |= from_memory
            if memory is not None and len(seen) - len(reused) - kept >= KEEP_EVERY:
                kept = len(seen) - len(reused)
                remember(memory, root, {**known.seen, **{one.path: one for one in seen}}.values())
            if progress:
                progress(len(seen), len(images))
    finally:
        whole = len(seen) == len(images)
        same = len(reused) == len(seen) == len(known.seen)
        if memory is not None and seen and not same:
            remember(memory, root, seen if whole else {**known.seen, **{one.path: one for one in seen}}.values())
    return _told(images, seen, len(reused), near if check == "full" else None, known.note)


def _told(images: pd.DataFrame, seen: list[Seen], reused: int, near: int | None, note: str) -> Scan:
    boxes = misplaced(images, [(one.width, one.height) for one in seen])
    told = [one.reason or box for one, box in zip(seen, boxes, strict=True)]
    reasons = pd.Series(told, index=images.index, dtype=object)
    wrong = (reasons != "").to_numpy(dtype=bool)
    bad = images.loc[wrong, ["image_id", "path"]].assign(reason=reasons[wrong]).reset_index(drop=True)
    good = [one for one, reason in zip(seen, told, strict=True) if not reason]
    kept = images[~wrong].assign(
        width=pd.array([one.width for one in good], "Int64"),
        height=pd.array([one.height for one in good], "Int64"),
        sha256=[one.sha256 for one in good],
    )
    kept = kept.reset_index(drop=True)
    if near is None:
        pairs = pd.DataFrame({"left_id": [], "right_id": [], "distance": []}).astype({"distance": "int64"})
    else:
        pairs = near_pairs(kept, np.array([one.dhash for one in good], dtype=np.uint64), near)
    read = sum(1 for one in seen if one.sha256) - reused
    return Scan(kept, bad, exact_groups(kept), pairs, read, reused, (note,) if note else ())


def _looked(
    paths: list[str], root: Address, known: Memory, check: str, workers: int
) -> Iterator[tuple[list[Seen], set[str]]]:
    """Portions of what was seen, in the order of `paths`; few portions wait, so memory stays small.

    Small files that are not decoded are read here, and one other thread makes their digests: Python lets one thread
    speak at a time, and threads that each speak up a few times for a file mostly wait for one another.
    """
    folders = folders_of(root)
    alone = check == "header" and not is_remote(root)
    small = alone
    starts = deque(range(0, len(paths), PORTION))
    waiting: deque[Future[tuple[list[Seen], set[str]]]] = deque()
    with ThreadPoolExecutor(workers) as pool, ThreadPoolExecutor(1) as hashing:
        try:
            while starts or waiting:
                while small and starts and len(waiting) < 3:
                    start = starts.popleft()
                    for _ in range(min(HANDED_OVER - 1, len(starts))):
                        starts.popleft()
                    part = _headers(paths[start : start + HANDED_OVER * PORTION], folders, known)
                    waiting.append(hashing.submit(part.seen))
                    small = part.bytes < SMALL * len(part.entries)
                while not small and starts and len(waiting) < 4 * workers:
                    start = starts.popleft()
                    waiting.append(pool.submit(_look_at, paths[start : start + PORTION], folders, known, check))
                if waiting:
                    seen, reused = waiting.popleft().result()
                    yield seen, reused
                    small = alone and sum(one.size for one in seen) < SMALL * len(seen)
        finally:
            for future in waiting:
                future.cancel()


@dataclass(frozen=True)
class _Portion:
    """Files whose headers were looked at: what is known already, or else all but the digest, and what is to digest."""

    entries: list[Seen | tuple[str, int, int, int, int, str]]  # path, size, time of change, width, height, reason
    contents: list[bytes]
    reused: set[str]

    @property
    def bytes(self) -> int:
        """How much was read."""
        return sum(map(len, self.contents))

    def seen(self) -> tuple[list[Seen], set[str]]:
        """All of it, digests too."""
        digests = iter([hashlib.sha256(data).hexdigest() for data in self.contents])
        seen = [
            one if isinstance(one, Seen) else Seen(*one[:3], "header", *one[3:5], next(digests), None, one[5])
            for one in self.entries
        ]
        return seen, self.reused


def _headers(paths: list[str], folders: Folders | Objects, known: Memory) -> _Portion:
    """One portion of files, by their first and last bytes."""
    found = _Portion([], [], set())
    with strict:
        for path in paths:
            try:
                there = _found(path, folders, known, "header")
            except (ImageError, OSError) as error:
                found.entries.append(Seen(path, 0, 0, "header", 0, 0, "", None, _reason(error)))
                continue
            if isinstance(there, Seen):
                found.entries.append(there)
                found.reused.add(path)
                continue
            data, size, changed = there
            found.contents.append(data)
            try:
                found.entries.append((path, size, changed, *stated_size(data), ""))
            except (ImageError, OSError) as error:
                found.entries.append((path, size, changed, 0, 0, _reason(error)))
    return found


def _look_at(paths: list[str], folders: Folders | Objects, known: Memory, check: str) -> tuple[list[Seen], set[str]]:
    """One portion of files. The picture hashes are made together at its end."""
    seen: list[Seen] = []
    reused: set[str] = set()
    greys: list[tuple[int, bytes]] = []
    with strict:
        for path in paths:
            size = changed = 0
            sha256 = ""
            try:
                there = _found(path, folders, known, check)
                if isinstance(there, Seen):
                    seen.append(there)
                    reused.add(path)
                    continue
                data, size, changed = there
                sha256 = hashlib.sha256(data).hexdigest()
                if check == "header":
                    width, height = stated_size(data)
                else:
                    width, height, grey = _decoded(data)
                    greys.append((len(seen), grey))
                seen.append(Seen(path, size, changed, check, width, height, sha256, None))
            except (ImageError, OSError) as error:
                seen.append(Seen(path, size, changed, check, 0, 0, sha256, None, _reason(error)))
    if greys:
        values = np.frombuffer(b"".join(grey for _, grey in greys), np.uint8).reshape(-1, HIGH, WIDE)
        for (at, _), dhash in zip(greys, difference_hashes(values).tolist(), strict=True):
            seen[at] = seen[at]._replace(dhash=dhash)
    return seen, reused


def _found(path: str, folders: Folders | Objects, known: Memory, check: str) -> Seen | tuple[bytes, int, int]:
    """What is remembered of a file that is as it was; of another its bytes, size and time of change."""
    if path not in known.seen:
        data, there = folders.read(path)
        return data, there.st_size, there.st_mtime_ns
    file, now = folders.file(path)
    before = known.recall(path, now.st_size, now.st_mtime_ns, check)
    return (read_bytes(file), now.st_size, now.st_mtime_ns) if before is None else before


def _reason(error: Exception) -> str:
    if isinstance(error, ImageError):
        return error.what
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _decoded(data: bytes) -> tuple[int, int, bytes]:
    """Width and height as stored, and the upright picture as 9 x 8 grey bytes; every pixel has been decoded."""
    with decoding(data) as picture:
        width, height = stored_size(picture)
        picture.draft("L", (WIDE, WIDE))
        picture.load()
        turn = orientation(picture)
        grey = picture if picture.mode == "L" and "transparency" not in picture.info else as_rgb(picture).convert("L")
        if turn in TURNS:
            grey = grey.transpose(TURNS[turn])
        return width, height, grey.resize((WIDE, HIGH), Image.Resampling.BILINEAR).tobytes()
