"""A benchmark pushed to a hub and pulled from it again, by the hub's own client against a stand-in of its HTTP API."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from huggingface_hub import constants

from eds.errors import InputError
from eds.project import Project
from tests.benchmarks.hub_server import READER, WRITER, Hub, running_hub

NAME = "example/garments"
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")  # of the hub's client


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project.create(tmp_path_factory.mktemp("pushing") / "shop")
    project.draw_catalogue(products=8, views=2, wild=2, size=32, workers=1)
    project.embed(["hog=descriptor:hog"])
    project.mine(k=5)
    project.pool(k=2)
    project.simulate_experts()
    project.decide()
    return project


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hub]:
    monkeypatch.setenv("WRITER", WRITER)
    monkeypatch.setenv("READER", READER)
    monkeypatch.setenv("HF_TOKEN", "hf_of_another_program")  # it is never used
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)  # large files go by plain HTTP
    with running_hub() as found:
        yield found


def test_what_is_pulled_is_what_was_pushed(shop: Project, hub: Hub, tmp_path: Path) -> None:
    done = shop.push(NAME, token_env="WRITER", endpoint=hub.url)
    kept = hub.repositories[NAME]
    assert kept.private
    assert not done.public
    assert (done.commit, len(kept.commits)) == (kept.sha, 1)
    assert done.export.files == len(kept.files)
    other = Project.create(tmp_path / "other")
    pulled = other.pull(NAME, token_env="READER", endpoint=hub.url)
    assert (pulled.images, pulled.pairs) == (len(shop.read("images")), len(shop.read("truth")))
    key = ["query_id", "candidate_id"]
    sent, came = (one.read("truth")[[*key, "value"]].sort_values(key, ignore_index=True) for one in (shop, other))
    pd.testing.assert_frame_equal(came, sent)
    for image in other.read("images")["path"]:
        assert (other.image_root / image).read_bytes() == (shop.image_root / image).read_bytes()
    assert other.state("truth").made_by.startswith(f"eds benchmarks pull {NAME}")
    assert set(hub.tokens) == {WRITER, READER}


def test_a_second_push_takes_away_what_is_no_longer_there(shop: Project, hub: Hub, tmp_path: Path) -> None:
    shop.push(NAME, token_env="WRITER", endpoint=hub.url, public=True)
    assert not hub.repositories[NAME].private
    lists = {name for name in hub.repositories[NAME].files if name.startswith("runs/")}
    assert lists
    shop.push(NAME, token_env="WRITER", endpoint=hub.url, public=True, lists=False)
    assert not lists & set(hub.repositories[NAME].files)
    with pytest.raises(InputError, match="is public"):  # what is not said to be public stays here
        shop.push(NAME, token_env="WRITER", endpoint=hub.url)
    assert len(hub.repositories[NAME].commits) == 2
    other = Project.create(tmp_path / "other")
    assert other.pull(NAME, endpoint=hub.url).runs == {}  # a public one needs no token
    assert "hf_of_another_program" not in hub.tokens


def test_what_somebody_else_keeps_there_is_not_deleted(shop: Project, hub: Hub) -> None:
    shop.push(NAME, token_env="WRITER", endpoint=hub.url)
    hub.repositories[NAME].files = {"thesis.pdf": b"years of work"}
    with pytest.raises(InputError, match="not of eds"):
        shop.push(NAME, token_env="WRITER", endpoint=hub.url)
    assert hub.repositories[NAME].files == {"thesis.pdf": b"years of work"}


@pytest.mark.parametrize(
    ("act", "told"),
    [
        (lambda shop, hub: shop.push(NAME, token_env="READER", endpoint=hub.url), "no right"),
        (lambda shop, hub: shop.push(NAME, token_env="HF_TOKEN", endpoint=hub.url), "does not know the token"),
        (lambda shop, hub: shop.push(NAME, token_env="NOWHERE", endpoint=hub.url), "is not set"),
        (lambda shop, hub: shop.push("garments", token_env="WRITER", endpoint=hub.url), "ORGANISATION/NAME"),
        (lambda shop, hub: shop.push(NAME, token_env="WRITER", endpoint="http://127.0.0.1:9"), "cannot be used"),
        (lambda shop, hub: shop.pull("example/nothing", endpoint=hub.url), "no such data set"),
        (lambda shop, hub: shop.pull("example/nothing", endpoint="http://127.0.0.1:9"), "cannot be used"),
        (lambda shop, hub: shop.pull(NAME, endpoint="https://me:secret@hub.example"), "not the address of a hub"),
        (lambda shop, hub: shop.push(NAME, token_env="WRITER", endpoint="hub.example"), "not the address of a hub"),
    ],
)
def test_each_refusal_is_one_line_and_nothing_is_left(shop: Project, hub: Hub, act: object, told: str) -> None:
    assert callable(act)
    with pytest.raises(InputError) as caught:
        act(shop, hub)
    text = str(caught.value)
    assert told in text
    assert "\n" not in text
    assert WRITER not in text
    assert hub.repositories == {}


def test_a_project_keeps_its_tables_where_a_pull_is_refused(shop: Project, hub: Hub, tmp_path: Path) -> None:
    shop.push(NAME, token_env="WRITER", endpoint=hub.url)
    file = next(name for name in hub.repositories[NAME].files if name.startswith("truth/"))
    hub.repositories[NAME].files[file] += b"x"
    other = Project.create(tmp_path / "other")
    with pytest.raises(InputError, match="SHA256SUMS"):
        other.pull(NAME, token_env="WRITER", endpoint=hub.url)
    assert not other.path("images").exists()
