"""A judged project, and who looks at it, for the tests of the lead's pages."""

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest
import streamlit as st

from annotator_ui import screen
from annotator_ui.app_state import Site, Viewer, install
from eds import tables
from eds.labels.experts import add_expert
from eds.project import Project
from eds.project.label_store import keep_open
from tests.annotator.judged import furnish
from tests.annotator.sites import fresh_site, store_of


@pytest.fixture
def viewer(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """Who looks; tests may put in another role."""
    who = {"name": "lea", "role": "lead"}
    monkeypatch.setattr(screen, "viewer", lambda: Viewer(who["name"], who["role"], 1))
    st.cache_data.clear()
    yield who
    st.cache_data.clear()


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small project with campaigns that were judged, made once; every test gets a copy."""
    folder = tmp_path_factory.mktemp("judged")
    with fresh_site(folder) as made:
        add_expert(store_of(made.owner), "cid")
        images = made.project.read("images")
        more = [
            images.assign(image_id=[f"{one}/{turn}" for one in images["image_id"]], role="both") for turn in range(12)
        ]
        made.project.write(pd.concat(more, ignore_index=True), "images", tables.Provenance("test"))
        furnish(made.project, store_of(made.owner))
    return folder / "shop"


@pytest.fixture
def judged(template: Path, tmp_path: Path) -> Iterator[Site]:
    """A site of its own over that project."""
    shutil.copytree(template, tmp_path / "shop")
    project = Project.open(tmp_path / "shop")
    with closing(project):
        keep_open(project)
        made = Site(project)
        install(made)
        with closing(made):
            yield made
