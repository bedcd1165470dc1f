"""CIFAR-100 by its 100 classes, which scores are about."""

from pathlib import Path

from eds.images.embedded import ImageArrays
from eds.images.readers.cifar import read_whole

SPLIT = "official"
PLACES = ("/usr/share/datasets/cifar-100",)
GET = "Name the folder that its archive unpacks to, cifar-100-binary or cifar-100-python."


def read(folder: Path) -> ImageArrays:
    """The images of a folder, with the class as category."""
    return read_whole(folder, hundred=True)
