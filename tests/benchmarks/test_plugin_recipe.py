"""The recipe of CONTRIBUTING.md for a format: one file more, and both Python and the command line export with it."""

from pathlib import Path

import pytest

from eds.errors import InputError, UnknownNameError
from eds.project import Project
from eds.tables import Provenance
from tests.benchmarks.cases import benchmark
from tests.recipes import follow


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with a catalogue and labels."""
    drawn, made = benchmark(), Project.create(tmp_path / "p")
    for name in ("images", "truth"):
        made.write(getattr(drawn, name), name, Provenance("test"))
    return made


def test_the_format_of_the_recipe_exports_from_python_and_from_the_command_line(
    tmp_path: Path, project: Project
) -> None:
    copy = follow("Add an import or export format", tmp_path)
    truth = project.read("truth")
    similar = truth[truth["value"] == 1]
    pairs = list(zip(similar["query_id"], similar["candidate_id"], strict=True))
    assert pairs
    code = "import eds; project = eds.Project.open('p'); print(project.export('edge-list', 'one', separator='\\t'))"
    assert "everything but the similar pairs" in copy.python(code)
    lines = (tmp_path / "one" / "edges.txt").read_text().splitlines()
    assert [tuple(line.split("\t")) for line in lines] == pairs
    told = copy.eds("benchmarks", "export", "edge-list", "two", "--separator", " -> ", "-p", "p")
    assert "edges.txt" in told
    assert (tmp_path / "two" / "edges.txt").read_text().splitlines() == [f"{q} -> {c}" for q, c in pairs]
    assert "Text between the two ids." in copy.eds("benchmarks", "export", "edge-list", "--help")
    assert "Similar pairs as an edge list" in copy.eds("benchmarks", "export", "--help")
    assert "edge-list" not in copy.eds("benchmarks", "import", "--help")  # it has no function read


def test_unknown_formats_and_options_are_refused(tmp_path: Path, project: Project) -> None:
    with pytest.raises(UnknownNameError, match="trek"):
        project.export("trek", tmp_path / "out")
    with pytest.raises(InputError) as caught:
        project.export("votes", tmp_path / "out", file_type="xml", prefix="/")
    assert len(caught.value.faults) == 2
    with pytest.raises(InputError) as caught:
        project.import_benchmark("trec", qrels=tmp_path / "none.txt")
    assert "none.txt" in caught.value.faults[0]
    with pytest.raises(InputError, match="no source is given"):
        project.import_benchmark("hf")
    with pytest.raises(InputError, match="does not exist"):
        project.import_benchmark("hf", tmp_path / "none")
    assert not (tmp_path / "out").exists()
