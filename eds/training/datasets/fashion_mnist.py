"""Fashion-MNIST: 70,000 grey pictures of clothes, 28 pixels, 10 classes (IDX files)."""

from pathlib import Path

from eds.images.embedded import ImageArrays
from eds.images.readers.idx import read_whole

SPLIT = "cifar10-1"
PLACES = ("/usr/share/datasets/fashion-mnist",)
GET = "Debian's package dataset-fashion-mnist holds it; else name the folder of its four IDX files."


def read(folder: Path) -> ImageArrays:
    """The images of a folder."""
    return read_whole(folder)
