"""CIFAR-10: 60,000 colour pictures, 32 pixels, 10 classes (binary or Python version)."""

from pathlib import Path

from eds.images.embedded import ImageArrays
from eds.images.readers.cifar import read_whole

SPLIT = "cifar10-1"
PLACES = ("/usr/share/datasets/cifar-10",)
GET = "Name the folder that its archive unpacks to, cifar-10-batches-bin or cifar-10-batches-py."


def read(folder: Path) -> ImageArrays:
    """The images of a folder."""
    return read_whole(folder, hundred=False)
