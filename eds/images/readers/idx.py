"""IDX files, as MNIST and Fashion-MNIST come, also packed (.gz): images and their labels.

    train-images-idx3-ubyte, train-labels-idx1-ubyte        phase train
    t10k-images-idx3-ubyte, t10k-labels-idx1-ubyte          phase test

Name the folder, or files: labels lie beside their images. The images are written as PNG below the image root. The
category is the label's number; of Fashion-MNIST, known by the digest of its labels, its word. Each image is a product
of its own.
"""

import gzip
import hashlib
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from eds.errors import InputError
from eds.images.embedded import MOST_BYTES, ImageArrays, folder_name, write_arrays
from eds.images.sources import Catalogue, Source
from eds.io.reading import reading

USES = ("columns",)
PACKED = b"\x1f\x8b"
UBYTE = 8  # the code of unsigned bytes
AGAIN = "Get the file again."
WORDS = ("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot")
FASHION = {  # the digests of its labels, train and test
    "657fbd221bfc9f4198cc14b5619cc33ec57c58dd0e47af4d99d6650759e869a7",
    "3d0e6c6ea990b53b6f8f500a41cac93881d981b315f84578b7d915342ade01e9",
}


def fits(files: Sequence[Path]) -> bool:
    """Whether these are files of images in this format, or a folder with some."""
    return bool(_images(files))


def read(source: Source) -> Catalogue:
    """Read the images with their labels, and write them below the root."""
    return write_arrays(read_arrays(source.files), source)


def read_whole(folder: Path) -> ImageArrays:
    """The images of a folder that holds both parts of a dataset, train and test; else raises InputError."""
    found = read_arrays([folder])
    if lacking := sorted({"train", "test"} - set(found.rows["phase"])):
        wanted = {"train": "train-images-idx3-ubyte", "test": "t10k-images-idx3-ubyte"}
        raise InputError(f"there is no {wanted[lacking[0]]}", where=str(folder), hint=AGAIN)
    return found


def read_arrays(files: Sequence[Path]) -> ImageArrays:
    """The images of these files or this folder, (n, high, wide) uint8, with phase and category."""
    found = _images(files)
    if not found:
        raise InputError(
            "there are no IDX files of images",
            where=str(files[0]) if files else "",
            hint="Name a folder with train-images-idx3-ubyte and train-labels-idx1-ubyte, or their .gz.",
        )
    pixels, rows = [], []
    for file in found:
        pictures, labels = read_idx(file, 3), read_idx(_labels_of(file), 1)
        if len(pictures) != len(labels):
            raise InputError(
                f"{len(labels):,} labels for {len(pictures):,} images",
                where=str(_labels_of(file)),
                hint="Use files of one release.",
            )
        words = WORDS if hashlib.sha256(labels.tobytes()).hexdigest() in FASHION else None
        category = [words[label] if words else str(label) for label in labels.tolist()]
        pixels.append(pictures)
        rows.append(pd.DataFrame({"phase": _phase(file), "category": category}))
    if len({part.shape[1:] for part in pixels}) > 1:
        sizes = [f"{file.name}: {part.shape[2]} x {part.shape[1]}" for file, part in zip(found, pixels, strict=True)]
        raise InputError(
            "images of different sizes", where=str(found[0].parent), hint="Import them one by one.", faults=sizes
        )
    return ImageArrays(folder_name(found[0].resolve().parent.name), np.concatenate(pixels), pd.concat(rows))


def read_idx(path: Path, dimensions: int) -> NDArray[np.uint8]:
    """The array of one file; refuse another version, and a file that ends early or goes on."""
    with reading(path, "cannot be read as IDX", AGAIN), _open(path) as stream:
        magic = stream.read(4)
        if len(magic) < 4 or magic[:2] != b"\0\0" or magic[2] != UBYTE or magic[3] != dimensions:
            raise InputError(
                f"is not an IDX file of bytes in {dimensions} dimensions (it begins with {magic.hex() or 'nothing'})",
                where=str(path),
                hint=f"Wanted is 0000{UBYTE:02x}{dimensions:02x}; unpack other archives than .gz first.",
            )
        sizes = stream.read(4 * dimensions)
        shape = struct.unpack(f">{dimensions}I", sizes) if len(sizes) == 4 * dimensions else ()
        wanted = int(np.prod(np.array(shape, dtype=object)))
        if not shape or not wanted or wanted > MOST_BYTES:
            raise InputError(f"states {' x '.join(map(str, shape)) or 'no size'}", where=str(path), hint=AGAIN)
        content = stream.read(wanted + 1)
        if len(content) != wanted:
            what = f"ends after {len(content):,} of" if len(content) < wanted else "goes on after its"
            raise InputError(f"{what} {wanted:,} bytes", where=str(path), hint=AGAIN)
        return np.frombuffer(content, np.uint8).reshape(shape)


def _open(path: Path) -> Any:
    with path.open("rb") as file:
        packed = file.read(2) == PACKED
    return gzip.open(path) if packed else path.open("rb")


def _images(files: Sequence[Path]) -> list[Path]:
    """The files of images: those named, or those of the folder; a packed one only where it lies there alone."""
    named = [path for place in files for path in (sorted(place.iterdir()) if place.is_dir() else [place])]
    found = [path for path in named if "images" in path.name and "idx3" in path.name and path.is_file()]
    once = [path for path in found if path.suffix != ".gz" or path.with_suffix("") not in found]
    return sorted(once, key=lambda path: _phase(path) == "test")


def _labels_of(images: Path) -> Path:
    """The labels beside a file of images, packed or not."""
    path = images.with_name(images.name.replace("images", "labels").replace("idx3", "idx1"))
    other = path.with_suffix("") if path.suffix == ".gz" else path.with_name(f"{path.name}.gz")
    return other if other.is_file() and not path.is_file() else path


def _phase(images: Path) -> str:
    """What the file's name begins with, t10k being the test images."""
    name = images.name.split("images")[0].strip("-_.")
    return {"t10k": "test", "": "train"}.get(name, folder_name(name))
