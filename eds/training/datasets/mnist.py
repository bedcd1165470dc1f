"""MNIST: 70,000 grey pictures of digits, 28 pixels, 10 classes (IDX files)."""

from pathlib import Path

from eds.images.embedded import ImageArrays
from eds.images.readers.idx import read_whole

SPLIT = "cifar10-1"
PLACES = ("/usr/share/datasets/mnist",)
GET = "Name the folder of its four IDX files, packed (.gz) or not."


def read(folder: Path) -> ImageArrays:
    """The images of a folder."""
    return read_whole(folder)
