"""Scan the files of the table `images`: digest, size, whether they decode, and duplicates.

Each file is read once; its sha256, its size, the decode check and the image hash come from the same bytes.
The full check decodes every image completely (a JPEG at an eighth of its size, which reads all data but
skips most of the arithmetic); the header check (eds.images.headers) is faster and finds less. The result
does not depend on the number of threads.
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
from eds.images.boxes import find_misplaced_boxes
from eds.images.duplicates import HIGH, MOST, WIDE, difference_hashes, find_exact_duplicates, find_near_duplicates
from eds.images.headers import read_stated_size
from eds.images.scan_cache import FileRecord, ScanCache, load_cache, save_cache
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
HANDED_OVER = 4  # portions of small files whose digests another thread computes
SMALL = 1 << 17  # bytes: several threads read and hash smaller files more slowly than one
KEEP_EVERY = 10_000  # files read between two saves of the cache


@dataclass(frozen=True)
class Scan:
    """The result of a scan; every row of the input is in `images` or in `bad`."""

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
    cache: Path | None = None,
    keep: bool = True,
    workers: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Scan:
    """Scan every file; good ones get `width`, `height` and `sha256`, bad ones are listed with the reason.

    With the file `cache` the next scan reads only what changed; without `keep` the file stays as it is. `near` is the
    largest Hamming distance of near duplicates; None leaves them out, as the header check does.
    """
    choices.check(choices.FileCheck, check, "check")
    known = load_cache(cache, root)
    reused: set[str] = set()
    seen: list[FileRecord] = []
    kept = 0
    try:
        workers = workers or (ELSEWHERE if is_remote(root) else cores())
        for portion, from_memory in _scan_files(images["path"].tolist(), root, known, check, workers):
            seen += portion
            reused |= from_memory
            if cache is not None and keep and len(seen) - len(reused) - kept >= KEEP_EVERY:
                kept = len(seen) - len(reused)
                save_cache(cache, root, {**known.seen, **{one.path: one for one in seen}}.values())
            if progress:
                progress(len(seen), len(images))
    finally:
        whole = len(seen) == len(images)
        same = len(reused) == len(seen) == len(known.seen)
        if cache is not None and keep and seen and not same:
            save_cache(cache, root, seen if whole else {**known.seen, **{one.path: one for one in seen}}.values())
    return _summarise(images, seen, len(reused), near if check == "full" else None, known.note)


def _summarise(images: pd.DataFrame, seen: list[FileRecord], reused: int, near: int | None, note: str) -> Scan:
    boxes = find_misplaced_boxes(images, [(one.width, one.height) for one in seen])
    texts = [one.reason or box for one, box in zip(seen, boxes, strict=True)]
    reasons = pd.Series(texts, index=images.index, dtype=object)
    wrong = (reasons != "").to_numpy(dtype=bool)
    bad = images.loc[wrong, ["image_id", "path"]].assign(reason=reasons[wrong]).reset_index(drop=True)
    good = [one for one, reason in zip(seen, texts, strict=True) if not reason]
    kept = images[~wrong].assign(
        width=pd.array([one.width for one in good], "Int64"),
        height=pd.array([one.height for one in good], "Int64"),
        sha256=[one.sha256 for one in good],
    )
    kept = kept.reset_index(drop=True)
    senseless = ""
    if near is None:
        pairs = pd.DataFrame({"left_id": [], "right_id": [], "distance": []}).astype({"distance": "int64"})
    else:
        pairs, used = find_near_duplicates(kept, np.array([one.dhash for one in good], dtype=np.uint64), near)
        senseless = _judge_distance(len(kept), len(pairs), near, used)
    read = sum(1 for one in seen if one.sha256) - reused
    return Scan(kept, bad, find_exact_duplicates(kept), pairs, read, reused, tuple(filter(None, (note, senseless))))


def _judge_distance(images: int, pairs: int, near: int, used: int) -> str:
    """The note on a distance at which images of little structure rather than duplicates are near; else empty."""
    if used < near:
        return f"more than {MOST:,} pairs differ in at most {used + 1} bits, so --near {used} was used, not {near}"
    if pairs <= images:
        return ""
    remedy = f"use --near {near // 2}, or off" if near else "they have little structure: use --near off"
    many = f"{pairs:,} pairs of near duplicates among {images:,} images"
    return f"{many}: at {near} bits small or plain images resemble each other; {remedy}"


def _scan_files(
    paths: list[str], root: Address, known: ScanCache, check: str, workers: int
) -> Iterator[tuple[list[FileRecord], set[str]]]:
    """Yield the records in portions, in the order of `paths`; few portions wait, so memory use stays small.

    Small files that are not decoded are read here, and one other thread computes their digests: Python runs one
    thread at a time, and threads that each need a few steps per file mostly wait for one another.
    """
    folders = folders_of(root)
    alone = check == "header" and not is_remote(root)
    small = alone
    starts = deque(range(0, len(paths), PORTION))
    waiting: deque[Future[tuple[list[FileRecord], set[str]]]] = deque()
    with ThreadPoolExecutor(workers) as pool, ThreadPoolExecutor(1) as hashing:
        try:
            while starts or waiting:
                while small and starts and len(waiting) < 3:
                    start = starts.popleft()
                    for _ in range(min(HANDED_OVER - 1, len(starts))):
                        starts.popleft()
                    part = _read_headers(paths[start : start + HANDED_OVER * PORTION], folders, known)
                    waiting.append(hashing.submit(part.seen))
                    small = part.bytes < SMALL * len(part.entries)
                while not small and starts and len(waiting) < 4 * workers:
                    start = starts.popleft()
                    waiting.append(pool.submit(_check_files, paths[start : start + PORTION], folders, known, check))
                if waiting:
                    seen, reused = waiting.popleft().result()
                    yield seen, reused
                    small = alone and sum(one.size for one in seen) < SMALL * len(seen)
        finally:
            for future in waiting:
                future.cancel()


@dataclass(frozen=True)
class _Portion:
    """Files whose headers were read: cached records, or all values but the digest, and the bytes to digest."""

    entries: list[
        FileRecord | tuple[str, int, int, int, int, str]
    ]  # path, size, modification time, width, height, reason
    contents: list[bytes]
    reused: set[str]

    @property
    def bytes(self) -> int:
        """The number of bytes read."""
        return sum(map(len, self.contents))

    def seen(self) -> tuple[list[FileRecord], set[str]]:
        """The records with their digests, and the paths that came from the cache."""
        digests = iter([hashlib.sha256(data).hexdigest() for data in self.contents])
        seen = [
            one
            if isinstance(one, FileRecord)
            else FileRecord(*one[:3], "header", *one[3:5], next(digests), None, one[5])
            for one in self.entries
        ]
        return seen, self.reused


def _read_headers(paths: list[str], folders: Folders | Objects, known: ScanCache) -> _Portion:
    """Check one portion of files by their headers."""
    portion = _Portion([], [], set())
    with strict:
        for path in paths:
            try:
                entry = _read_or_recall(path, folders, known, "header")
            except (ImageError, OSError) as error:
                portion.entries.append(FileRecord(path, 0, 0, "header", 0, 0, "", None, _reason(error)))
                continue
            if isinstance(entry, FileRecord):
                portion.entries.append(entry)
                portion.reused.add(path)
                continue
            data, size, changed = entry
            portion.contents.append(data)
            try:
                portion.entries.append((path, size, changed, *read_stated_size(data), ""))
            except (ImageError, OSError) as error:
                portion.entries.append((path, size, changed, 0, 0, _reason(error)))
    return portion


def _check_files(
    paths: list[str], folders: Folders | Objects, known: ScanCache, check: str
) -> tuple[list[FileRecord], set[str]]:
    """Check one portion of files; the image hashes are computed together at the end."""
    seen: list[FileRecord] = []
    reused: set[str] = set()
    greys: list[tuple[int, bytes]] = []
    with strict:
        for path in paths:
            size = changed = 0
            sha256 = ""
            try:
                there = _read_or_recall(path, folders, known, check)
                if isinstance(there, FileRecord):
                    seen.append(there)
                    reused.add(path)
                    continue
                data, size, changed = there
                sha256 = hashlib.sha256(data).hexdigest()
                if check == "header":
                    width, height = read_stated_size(data)
                else:
                    width, height, grey = _decode(data)
                    greys.append((len(seen), grey))
                seen.append(FileRecord(path, size, changed, check, width, height, sha256, None))
            except (ImageError, OSError) as error:
                seen.append(FileRecord(path, size, changed, check, 0, 0, sha256, None, _reason(error)))
    if greys:
        values = np.frombuffer(b"".join(grey for _, grey in greys), np.uint8).reshape(-1, HIGH, WIDE)
        for (at, _), dhash in zip(greys, difference_hashes(values).tolist(), strict=True):
            seen[at] = seen[at]._replace(dhash=dhash)
    return seen, reused


def _read_or_recall(
    path: str, folders: Folders | Objects, known: ScanCache, check: str
) -> FileRecord | tuple[bytes, int, int]:
    """The cached record of an unchanged file; of another its bytes, size and modification time."""
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


def _decode(data: bytes) -> tuple[int, int, bytes]:
    """Decode an image completely: width and height as stored, and the upright image as 9 x 8 grey bytes."""
    with decoding(data) as picture:
        width, height = stored_size(picture)
        picture.draft("L", (WIDE, WIDE))
        picture.load()
        turn = orientation(picture)
        grey = picture if picture.mode == "L" and "transparency" not in picture.info else as_rgb(picture).convert("L")
        if turn in TURNS:
            grey = grey.transpose(TURNS[turn])
        return width, height, grey.resize((WIDE, HIGH), Image.Resampling.BILINEAR).tobytes()
