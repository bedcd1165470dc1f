"""CIFAR-100: 60,000 colour pictures, 32 pixels, 100 classes in 20 superclasses, which scores are about."""

from dataclasses import replace
from pathlib import Path

from eds.images.embedded import ImageArrays
from eds.images.readers.cifar import read_whole

SPLIT = "official"
PLACES = ("/usr/share/datasets/cifar-100",)
GET = "Name the folder that its archive unpacks to, cifar-100-binary or cifar-100-python."


def read(folder: Path) -> ImageArrays:
    """The images of a folder, with the superclass as category and the class as product."""
    found = read_whole(folder, hundred=True)
    rows = found.rows
    return replace(found, rows=rows.assign(category=rows["coarse"], product_id=rows["fine"]))
