"""The demo on a real catalogue, in small: a furniture library of the true layout, and what is shown of its makers."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from eds.cli import cli
from eds.errors import InputError
from eds.project import Project
from eds.project.demo_catalogues import CATALOGUES, make_catalogue_demo
from tests.images.test_real_catalogues import bed, library

MODELS = ("hsv=descriptor:hsv", "lbp=descriptor:lbp")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    names = [f"thing{number}" for number in range(9)]
    makers = ["Ann", "Bo", "Cy", "Di"]
    products = [bed(name, name, creator=makers[number % 4]) for number, name in enumerate(names)]
    library(tmp_path / "libraries" / "Free.sh3f", [bed("chair", "chair", creator="")], "license=Public domain\n")
    library(tmp_path / "libraries" / "Scopia.sh3f", products)
    return tmp_path / "libraries"


def test_a_library_becomes_a_pool_and_names_its_makers(folder: Path, tmp_path: Path) -> None:
    made = make_catalogue_demo(tmp_path / "shop", "furniture", source=folder, models=MODELS)
    assert (made.images, made.products) == (10, 10)
    project = Project.open(tmp_path / "shop")
    assert made.pairs == int((project.read("suspects")["origin"] == "pool").sum()) > 0
    assert made.attribution == (
        "9 images by Ann, Bo, Cy and 1 more: Creative Commons Attribution 3.0 license \N{COPYRIGHT SIGN} Somebody",
        "1 image: Public domain",
    )
    page = (tmp_path / "shop" / "ATTRIBUTION.md").read_text(encoding="utf-8")
    for maker in ("Ann", "Bo", "Cy", "Di", "not stated"):
        assert f"| {maker} |" in page
    assert project.config.annotator.columns == ("title", "brand", "category", "licence")
    again = make_catalogue_demo(tmp_path / "shop", "furniture", source=folder, models=MODELS)
    assert again.to_dict() == made.to_dict()


def test_the_command_shows_the_attribution(folder: Path, tmp_path: Path) -> None:
    words = ["demo", str(tmp_path / "shop"), "--catalogue", "furniture", "--source", str(folder)]
    done = CliRunner().invoke(cli, [*words, "--model", MODELS[0], "--model", MODELS[1]])
    assert done.exit_code == 0, done.output
    assert "10 images of 10 products" in done.output
    assert "1 image: Public domain" in done.output


def test_a_catalogue_that_is_not_installed_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="the catalogue emoji is not installed") as caught:
        make_catalogue_demo("shop", "emoji")
    assert "npm install emoji-datasource-google" in caught.value.hint
    assert not Path("shop").exists()
    assert "apt-get install" in CATALOGUES["furniture"].install


def test_a_project_of_another_catalogue_is_refused(folder: Path, tmp_path: Path) -> None:
    project = Project.create(tmp_path / "shop")
    project.draw_catalogue(products=4, views=1, size=32, workers=1)
    with pytest.raises(InputError, match="holds another catalogue"):
        make_catalogue_demo(tmp_path / "shop", "furniture", source=folder, models=MODELS)
