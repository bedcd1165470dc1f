"""Catalogues of others in small, in the layout of the real packages: furniture libraries, and emoji by vendor."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from eds.errors import InputError
from eds.images.detect import detect
from eds.images.readers import emoji, furniture
from tests.images.reading import column, read

HEAD = """# PluginFurnitureCatalog.properties
#
# Copyright (c) 2008-2020 NAME

id=SweetHome3D#Models
name=A catalog
version=1.8
license=Creative Commons Attribution 3.0 license \N{COPYRIGHT SIGN} Somebody
"""


def png(seed: int, mode: str = "RGBA") -> bytes:
    stream = io.BytesIO()
    noise = np.random.default_rng(seed).integers(0, 256, (8, 8, 4), dtype=np.uint8)
    Image.fromarray(noise).convert(mode).save(stream, "PNG")
    return stream.getvalue()


def library(file: Path, products: list[dict[str, str]], head: str = HEAD, pictures: bool = True) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{key}#{number}={value}" for number, one in enumerate(products, 1) for key, value in one.items()]
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("PluginFurnitureCatalog.properties", (head + "\n".join(lines) + "\n").encode("latin-1"))
        archive.writestr("PluginFurnitureCatalog_fr.properties", b"name#1=Lit\n")
        archive.writestr("LICENSE.TXT", b"LICENSE")
        for number, one in enumerate(products):
            if pictures:
                archive.writestr(one["icon"].lstrip("/"), png(number, "P" if number else "RGBA"))
    return file


def bed(name: str, picture: str, **more: str) -> dict[str, str]:
    return {
        "id": f"Scopia#{name}",
        "name": name.title(),
        "tags": "",
        "category": "Bedroom",
        "icon": f"/scopia/{picture}.png",
        "model": f"/scopia/{picture}/{picture}.obj",
        "creator": "Scopia",
        **more,
    }


def two(folder: Path) -> Path:
    bill = {**bed("bill", "bill"), "name": r"Bill 10\u20ac", "tags": r"Money,\: x"}
    library(folder / "Scopia.sh3f", [bed("bed", "bed1"), bill])
    library(folder / "Kator Legaz.sh3f", [bed("bed 2", "bed1", id="Kator#bed", creator="")], "license=Public domain\n")
    return folder


def test_products_of_all_libraries_with_creator_and_licence(tmp_path: Path) -> None:
    found = read("furniture", two(tmp_path / "in"), root=tmp_path / "root")
    images = found.images.set_index("product_id")
    assert images["path"].to_dict() == {
        "Kator#bed": "Kator-Legaz/scopia/bed1.png",
        "Scopia#bed": "Scopia/scopia/bed1.png",
        "Scopia#bill": "Scopia/scopia/bill.png",
    }
    assert images["title"].to_dict() == {"Kator#bed": "Bed 2", "Scopia#bed": "Bed", "Scopia#bill": "Bill 10€"}
    assert images.loc["Scopia#bill", "tags"] == "Money,: x"
    assert images["brand"].isna().to_dict() == {"Kator#bed": True, "Scopia#bed": False, "Scopia#bill": False}
    assert images.loc["Kator#bed", "licence"] == "Public domain"
    assert images.loc["Scopia#bed", "licence"] == "Creative Commons Attribution 3.0 license © Somebody"
    assert set(column(found, "category")) == {"Bedroom"}
    assert (tmp_path / "root" / "Scopia/scopia/bill.png").read_bytes() == png(1, "P")
    assert found.notes[0] == "Kator Legaz.sh3f: 1 products, Public domain"


def test_libraries_are_detected_as_files_and_as_a_folder(tmp_path: Path) -> None:
    folder = two(tmp_path)
    assert detect([folder]) == detect([folder / "Scopia.sh3f"]) == "furniture"


def test_a_picture_that_is_missing_is_listed(tmp_path: Path) -> None:
    library(tmp_path / "b.sh3f", [bed("bed", "bed1"), bed("lamp", "lamp")])
    with zipfile.ZipFile(tmp_path / "b.sh3f") as archive:
        kept = {name: archive.read(name) for name in archive.namelist() if "lamp" not in name}
    with zipfile.ZipFile(tmp_path / "b.sh3f", "w") as archive:
        for name, content in kept.items():
            archive.writestr(name, content)
    found = read("furniture", tmp_path / "b.sh3f", root=tmp_path / "root")
    assert column(found, "product_id") == ["Scopia#bed"]
    assert found.bad == (("b.sh3f/scopia/lamp.png", "the picture is not in the library"),)


def test_no_picture_is_written_outside_the_root(tmp_path: Path) -> None:
    library(tmp_path / "in" / "a.sh3f", [bed("bed", "bed1", icon="/../../../out.png")])
    found = read("furniture", tmp_path / "in", root=tmp_path / "root")
    assert column(found, "path") == ["a/images/out.png"]
    assert not (tmp_path / "out.png").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not a library"),
        (b"PK\x05\x06" + bytes(18), "holds no PluginFurnitureCatalog"),
        (b"PK\x03\x04", "library"),
    ],
)
def test_other_files_of_that_name_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "a.sh3f").write_bytes(content)
    with pytest.raises(InputError, match=message):
        read("furniture", tmp_path / "a.sh3f", root=tmp_path / "root")


def test_a_library_without_products_and_a_folder_without_libraries_are_refused(tmp_path: Path) -> None:
    library(tmp_path / "in" / "a.sh3f", [])
    with pytest.raises(InputError, match="no products with a picture"):
        read("furniture", tmp_path / "in", root=tmp_path / "root")
    with pytest.raises(InputError, match="no furniture libraries"):
        read("furniture", tmp_path, root=tmp_path / "root")


def package(folder: Path, vendor: str, entries: list[dict[str, object]], pictures: int | None = None) -> Path:
    images = folder / f"emoji-datasource-{vendor}" / "img" / vendor / "64"
    images.mkdir(parents=True)
    (images.parents[2] / "emoji.json").write_text(json.dumps(entries))
    for number, entry in enumerate(entries[:pictures]):
        (images / str(entry["image"])).write_bytes(png(number + len(vendor)))
    return images.parents[2]


def entry(name: str, code: str, category: str = "Symbols") -> dict[str, object]:
    short = name.lower().replace(" ", "_")
    return {
        "name": name.upper(),
        "unified": code.upper(),
        "image": f"{code}.png",
        "sheet_x": 0,
        "short_name": short,
        "category": category,
        "subcategory": "keycap",
        "skin_variations": {"1F3FB": {"image": f"{code}-1f3fb.png"}},
        "has_img_apple": True,
    }


EMOJI = [entry("Hash key", "0023-fe0f-20e3"), entry("Red heart", "2764-fe0f", "Smileys & Emotion")]


def test_an_emoji_is_a_product_and_each_vendor_an_image_of_it(tmp_path: Path) -> None:
    for vendor in ("apple", "google"):
        package(tmp_path / "node_modules", vendor, EMOJI)
    assert detect([tmp_path / "node_modules"]) == "emoji"
    found = read("emoji", tmp_path / "node_modules", root=tmp_path / "root")
    images = found.images.set_index("path")
    assert images["product_id"].to_dict() == {
        "apple/0023-fe0f-20e3.png": "hash_key",
        "apple/2764-fe0f.png": "red_heart",
        "google/0023-fe0f-20e3.png": "hash_key",
        "google/2764-fe0f.png": "red_heart",
    }
    assert images["phase"].tolist() == ["apple", "apple", "google", "google"]
    assert images.loc["google/2764-fe0f.png", "category"] == "Smileys & Emotion"
    assert images.loc["google/2764-fe0f.png", "licence"] == "Apache License 2.0 (Noto Emoji)"
    assert (tmp_path / "root" / "apple" / "2764-fe0f.png").read_bytes() == png(1 + len("apple"))


def test_one_package_by_its_folder_and_a_missing_picture_is_listed(tmp_path: Path) -> None:
    folder = package(tmp_path, "twitter", EMOJI, pictures=1)
    assert detect([folder]) == "emoji"
    found = read("emoji", folder, root=tmp_path / "root")
    assert column(found, "product_id") == ["hash_key"]
    assert found.bad == (("twitter/2764-fe0f.png", "the picture is not in the package"),)


def test_a_list_of_another_shape_is_refused(tmp_path: Path) -> None:
    folder = package(tmp_path, "google", EMOJI)
    cases = (("[{}]", "0.short_name"), ("[", "cannot be read as JSON"), ("{}", "should be a valid list"))
    for content, message in cases:
        (folder / "emoji.json").write_text(content)
        with pytest.raises(InputError) as caught:
            read("emoji", folder, root=tmp_path / "root")
        assert message in str(caught.value)
    with pytest.raises(InputError, match="no packages of emoji"):
        read("emoji", tmp_path / "root", root=tmp_path / "root")


def test_a_name_that_leads_out_of_the_package_is_not_followed(tmp_path: Path) -> None:
    folder = package(tmp_path, "google", EMOJI)
    (tmp_path / "out.png").write_bytes(png(1))
    (folder / "emoji.json").write_text(json.dumps([EMOJI[0], {**EMOJI[1], "image": "../../../../out.png"}]))
    found = read("emoji", folder, root=tmp_path / "root")
    assert column(found, "product_id") == ["hash_key"]
    assert len(found.bad) == 1


def test_readers_say_what_fits() -> None:
    assert not furniture.fits([])
    assert not emoji.fits([])
