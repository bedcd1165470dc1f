"""The recipes of CONTRIBUTING.md: one file is enough, and the product offers the new member at once."""

import json
from pathlib import Path

from tests.recipes import follow


def test_add_a_backbone(tmp_path: Path) -> None:
    copy = follow("Add a backbone", tmp_path)
    copy.eds("init", "shop")
    copy.eds("synthetic", "catalogue", "--products", "4", "--views", "1", "--size", "32", "--project", "shop")
    assert "shade" in copy.eds("embeddings", "compute", "-m", "shade:mean", "--project", "shop", "--json")


def test_add_a_reader_of_catalogues(tmp_path: Path) -> None:
    copy = follow("Add a reader of catalogues", tmp_path)
    assert "lines" in copy.eds("images", "import", "--help")
    copy.eds("init", "shop")
    (tmp_path / "list.txt").write_text("a.png\nb.png\n")
    words = ("images", "import", "list.txt", "--format", "lines", "--without-files", "--project", "shop", "--json")
    assert json.loads(copy.eds(*words))["images"] == 2


SCREEN = """
from streamlit.testing.v1 import AppTest
import annotator_ui.screen
from annotator_ui.app_state import Site, Viewer, install
from eds import Project
from eds.project.label_store import keep_open

SCRIPT = '''
import streamlit as st
from annotator_ui.screen import menu, screens, viewer
st.text([page.title for page in menu(viewer())["Project"] if page.visibility == "visible"])
screens()["products"]()
'''
project = Project.open("shop")
project.experts.add("lea", "lead")
keep_open(project)
install(Site(project))
for role in ("lead", "expert"):
    annotator_ui.screen.viewer = lambda: Viewer("lea", role, 1)
    app = AppTest.from_string(SCRIPT).run()
    assert not app.exception, app.exception
    print(role, app.text[0].value, [(metric.label, metric.value) for metric in app.metric])
project.close()
"""


def test_add_an_annotator_screen(tmp_path: Path) -> None:
    copy = follow("Add an annotator screen", tmp_path)
    copy.eds("init", "shop")
    copy.eds("synthetic", "catalogue", "--products", "4", "--views", "1", "--size", "32", "--project", "shop")
    lead, expert = copy.python(SCREEN).splitlines()
    assert "'Products'" in lead.partition("]")[0]
    assert lead.endswith("[('Images', '4'), ('Products', '4')]")
    assert expert == "expert [] []"
