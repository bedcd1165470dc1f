"""Foreign files that are wrong: told with file, row and remedy, and nothing of them is imported."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from eds.benchmarks.benchmark import Location
from eds.benchmarks.files import read_csv
from eds.benchmarks.folder import export_folder
from eds.benchmarks.formats import croissant, hf, trec, votes
from eds.benchmarks.validate import Faults, check_ids
from eds.errors import EdsError, InputError
from eds.project import Project
from tests.benchmarks.cases import benchmark


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.create(tmp_path / "p")


def state(project: Project) -> dict[str, bytes]:
    """Every file of a project but the lock's, with what it holds."""
    files = (path for path in project.root.rglob("*") if path.is_file() and ".eds" not in path.parts)
    return {path.relative_to(project.root).as_posix(): path.read_bytes() for path in files}


def refused(project: Project, format_name: str, source: Path | None = None, **options: Any) -> str:
    """What an import says when it refuses; the project is as it was."""
    before = state(project)
    with pytest.raises(EdsError) as caught:
        project.import_benchmark(format_name, source, **options)
    assert state(project) == before
    assert not list((project.root / ".eds").glob("transaction"))
    return str(caught.value)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("exports")
    given = benchmark(root / "root")
    writers: dict[str, Callable[[Path], Any]] = {
        "trec": lambda to: trec.write(given, to),
        "hf": lambda to: hf.write(given, to),
        "croissant": lambda to: croissant.write(given, to, no_images=True),
        "votes": lambda to: votes.write(given, to),
    }
    for name, write in writers.items():
        with export_folder(root / name) as folder:
            write(folder)
    return {name: root / name for name in writers}


@pytest.mark.parametrize("name", ["trec", "hf", "croissant", "votes"])
@pytest.mark.parametrize("damage", ["cut", "lost"])
def test_an_export_that_arrived_in_part(
    folders: dict[str, Path], project: Project, tmp_path: Path, name: str, damage: str
) -> None:
    shutil.copytree(folders[name], tmp_path / "copy")
    biggest = max(
        (path for path in (tmp_path / "copy").rglob("*") if path.is_file()), key=lambda path: path.stat().st_size
    )
    if damage == "cut":
        biggest.write_bytes(biggest.read_bytes()[:-7])
    else:
        biggest.unlink()
    told = refused(project, name, tmp_path / "copy")
    assert "the export is incomplete" in told
    assert f"{biggest}: {'is missing' if damage == 'lost' else 'does not match SHA256SUMS'}" in told


QRELS = {
    "q 0 d 1\nq 0 a b 1\n": "line 2 has 5 values, not 4 (qid 0 docno rel); ids may not contain blanks",
    "q 0 d\n": "line 1 has 3 values, not 4",
    "q 0 d yes\n": "line 1 has grade 'yes': give a whole number",
    "q 0 d 1\nq 0 e 0\nq 0 d 0\n": "line 3 gives 0 to 'q d', line 1 gives 1: keep one",
    "q 0 q 1\n": "line 1 pairs 'q' with itself: leave it out",
    "q 0 d 1\nq 0 e": "line 2 has no line end: get the complete file",
    "q 0 ../up 1\n": "line 1 has candidate_id '../up', so path '../up': it leads out of the image root (..)",
    "q 0 /etc/x 1\n": "line 1 has candidate_id '/etc/x', so path '/etc/x': it is absolute",
}


@pytest.mark.parametrize("text", QRELS)
def test_qrels(project: Project, tmp_path: Path, text: str) -> None:
    (tmp_path / "qrels.txt").write_text(text)
    told = refused(project, "trec", qrels=tmp_path / "qrels.txt")
    assert QRELS[text] in told
    assert str(tmp_path / "qrels.txt") in told


RUNS = {
    "q Q0 d 1 0.5\n": "line 1 has 5 values, not 6",
    "q Q0 d 1 nan x\n": "line 1 has score nan: give a finite number",
    "q Q0 d one 1 x\n": "line 1 has rank 'one' and score '1': give numbers",
    "q Q0 d 1 1 x\nq Q0 d 2 0 x\n": "line 2 repeats a document of its query",
}


@pytest.mark.parametrize("text", RUNS)
def test_runs(project: Project, tmp_path: Path, text: str) -> None:
    (tmp_path / "m.run").write_text(text)
    assert RUNS[text] in refused(project, "trec", run=[tmp_path / "m.run"])


def test_judgements_of_images_that_the_project_does_not_have(
    folders: dict[str, Path], project: Project, tmp_path: Path
) -> None:
    project.import_benchmark("hf", folders["hf"])
    (tmp_path / "qrels.txt").write_text("p'lain 0 unheard-of 1\n")
    told = refused(project, "trec", qrels=tmp_path / "qrels.txt")
    assert "line 1 has candidate_id 'unheard-of': no image of the catalogue has this id" in told
    (tmp_path / "votes.csv").write_text("query_id,candidate_id,expert_id,value\nnobody,p'lain,me,1\n")
    assert "row 0 has query_id 'nobody': no image" in refused(project, "votes", tmp_path / "votes.csv")


def test_agreeing_duplicates_count_once_and_are_told(project: Project, tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q 0 d 1\nq 0 d 1\nq 0 ü 2\n", encoding="utf-8")
    result = project.import_benchmark("trec", qrels=tmp_path / "qrels.txt")
    assert (result.pairs, result.positives) == (2, 2)
    again = "1 lines repeat others (line 2 repeats line 1): each pair counts once"
    assert f"{tmp_path / 'qrels.txt'}: {again}" in result.notes
    assert "1 grades above 1 count as similar: labels are 1 and 0" in result.notes


def rewritten(folder: Path, name: str, change: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    file = next((folder / name).glob("*.parquet"))
    table = pq.read_table(file)
    pq.write_table(table.from_pandas(change(table.to_pandas()), preserve_index=False), file)
    (folder / "SHA256SUMS").unlink()


HF: dict[str, tuple[str, Callable[[pd.DataFrame], pd.DataFrame], str]] = {
    "absolute": (
        "images",
        lambda f: f.assign(path=["/etc/passwd", *f["path"][1:]]),
        "row 0 has path '/etc/passwd': it is absolute",
    ),
    "upwards": (
        "images",
        lambda f: f.assign(path=["a/../../b", *f["path"][1:]]),
        "row 0 has path 'a/../../b': it leads out",
    ),
    "twice": ("corpus", lambda f: pd.concat([f, f.head(1)]), "row 9 has duplicate id '%41'"),
    "keys": (
        "qrels",
        lambda f: f.rename(columns={"corpus-id": "corpus_id"}),
        "no column 'corpus-id' (it has query-id, corpus_id",
    ),
    "unknown": (
        "truth",
        lambda f: f.assign(candidate_id=["x?", *f["candidate_id"][1:]]),
        "row 0 has candidate_id 'x?': no image",
    ),
    "contradiction": ("qrels", lambda f: pd.concat([f, f.head(1).assign(score=1 - f["score"][0])]), "keep one"),
    "blank": ("corpus", lambda f: f.assign(id=[" ", *f["id"][1:]]), "row 0 has id ' ': it is blank"),
    "no picture": (
        "corpus",
        lambda f: f.assign(image=pd.Series([{"bytes": None, "path": None}, *f["image"][1:]])),
        "row 0 has an image without bytes and path",
    ),
    "nested id": ("corpus", lambda f: f.assign(id=f["id"].map(lambda one: [one])), "give text"),
    "object as id": ("corpus", lambda f: f.assign(id=f["id"].map(lambda one: {"name": one})), "give text"),
    "nested query": ("queries", lambda f: f.assign(id=f["id"].map(lambda one: [one])), "give text"),
    "nested judgement": (
        "qrels",
        lambda f: f.assign(**{"query-id": f["query-id"].map(lambda one: [one])}),
        "row 0 has query_id",
    ),
    "nested score": ("qrels", lambda f: f.assign(score=f["score"].map(lambda one: [one])), "row 0 has value"),
    "nested vote": ("votes", lambda f: f.assign(seconds=f["query_id"].map(lambda _: [1.0])), "row 0 has seconds"),
    "another label": ("qrels", lambda f: f.assign(score=1 - f["score"]), "row 0 is not in truth/ with this label"),
    "numbered votes": ("votes", lambda f: f.assign(query_id=range(len(f))), "row 0 has query_id '0': no image"),
    "no judgement": ("qrels", lambda f: f.head(0), "holds no pairs"),
    "nobody judged": ("qrels", lambda f: f.assign(score=-1), "holds no pairs"),
}


@pytest.mark.parametrize("name", HF)
def test_hugging_face_folders(folders: dict[str, Path], project: Project, tmp_path: Path, name: str) -> None:
    shutil.copytree(folders["hf"], tmp_path / "copy")
    part, change, told = HF[name]
    rewritten(tmp_path / "copy", part, change)
    assert told in refused(project, "hf", tmp_path / "copy")


def test_one_image_with_two_paths_in_a_folder_without_catalogue(
    folders: dict[str, Path], project: Project, tmp_path: Path
) -> None:
    """As MTEB's own sets are, with paths of their own."""
    shutil.copytree(folders["hf"], tmp_path / "copy")
    shutil.rmtree(tmp_path / "copy" / "images")
    for name, other in (("corpus", "img/a.png"), ("queries", "img/b.png")):
        rewritten(tmp_path / "copy", name, lambda f, other=other: f.assign(path=other))  # type: ignore[misc]
        (tmp_path / "copy" / "SHA256SUMS").touch()
    (tmp_path / "copy" / "SHA256SUMS").unlink()
    assert "has another path or product in corpus" in refused(project, "hf", tmp_path / "copy")


def test_ids_that_are_numbers_are_told_with_their_row() -> None:
    """A column of whole numbers, as Parquet and JSON lines hold it, one of them missing."""
    faults, place = Faults(), Location(Path("votes.jsonl"))
    frame = pd.DataFrame({"query_id": pd.array([7, None], "Int64"), "candidate_id": ["a", "b"]})
    check_ids(frame, ["query_id", "candidate_id"], place, faults)
    with pytest.raises(InputError) as told:
        faults.raise_any("no", "")
    assert "row 0 has query_id 7: give text" in str(told.value)
    assert "row 1 has query_id None: give text" in str(told.value)


def test_pictures_that_would_be_written_over(folders: dict[str, Path], project: Project) -> None:
    (project.root / "images" / "img").mkdir(parents=True)
    (project.root / "images" / "img" / "07 größe.png").write_bytes(b"mine")
    assert "exists already with other content" in refused(project, "hf", folders["hf"])


CROISSANT: dict[str, tuple[str, str, str, str]] = {
    "path": ("images.csv", '"img/03 größe.png"', '"../x.png"', "images.csv: row 3 has path '../x.png': it leads out"),
    "value": ("pairs.csv", ",1,false,", ",7,false,", "value 7: give 1, 0 or nothing"),
    "number": ("pairs.csv", ",1,false,", ",maybe,false,", "has value 'maybe': give integer"),
    "chance": (
        "pairs.csv",
        '"random",0.3333333333333333,',
        '"random",0,',
        "was drawn (random) with probability 0: give a probability above 0",
    ),
    "file": ("croissant.json", '"contentUrl": "pairs.csv"', '"contentUrl": "/pairs.csv"', "it is absolute"),
    "expert": ("votes.csv", '"expert_id"', '"expertid"', "no column 'expert_id'"),
    "vote": ("votes.csv", '"Zoë",', '"Zoë",2', "value is not 1, 0 or nothing"),
}


@pytest.mark.parametrize("name", CROISSANT)
def test_croissant_folders(folders: dict[str, Path], project: Project, tmp_path: Path, name: str) -> None:
    shutil.copytree(folders["croissant"], tmp_path / "copy")
    (tmp_path / "copy" / "SHA256SUMS").unlink()
    file, old, new, told = CROISSANT[name]
    text = (tmp_path / "copy" / file).read_bytes().decode()
    assert old in text
    (tmp_path / "copy" / file).write_bytes(text.replace(old, new).encode())
    assert told in refused(project, "croissant", tmp_path / "copy")
    assert not project.path("labels").exists()


def test_products_shared_between_domains_are_told_and_can_be_separated(
    folders: dict[str, Path], project: Project, tmp_path: Path
) -> None:
    notes = project.import_benchmark("hf", folders["hf"]).notes
    assert any("'P 1' of '100%' and '%41'" in note and "--separate" in note for note in notes)
    notes = Project.create(tmp_path / "p2").import_benchmark("hf", folders["hf"], separate=True).notes
    assert not any("--separate" in note for note in notes)


def test_a_projects_own_tables_are_not_written_over(folders: dict[str, Path], project: Project) -> None:
    frame = benchmark().truth
    assert frame is not None
    project.write(frame, "truth", project.provenance("truth.decide", {}, []))
    assert "truth.parquet was made by eds truth decide" in refused(project, "hf", folders["hf"])


def test_votes_that_the_label_store_refuses_take_the_tables_back(
    folders: dict[str, Path], project: Project, tmp_path: Path
) -> None:
    """The last step fails after the tables were moved: an earlier import is as it was, tables and votes."""
    project.import_benchmark("croissant", folders["croissant"])
    shutil.copytree(folders["croissant"], tmp_path / "copy")
    (tmp_path / "copy" / "SHA256SUMS").unlink()
    pairs, votes = tmp_path / "copy" / "pairs.csv", tmp_path / "copy" / "votes.csv"
    lines = pairs.read_bytes().splitlines(keepends=True)
    pairs.write_bytes(b"".join(lines[:-3]))
    text = votes.read_text(encoding="utf-8").replace('"v0-0"', '"v0-zero"')  # another act of one expert on one pair
    votes.write_bytes(text.replace(',1,,"2026', ',0,,"2026').encode())
    tables = {name: held for name, held in state(project).items() if "labels" not in name}
    project.labels.export_votes(tmp_path / "before.csv")
    with pytest.raises(EdsError):
        project.import_benchmark("croissant", tmp_path / "copy")
    assert {name: held for name, held in state(project).items() if "labels" not in name} == tables
    project.labels.export_votes(tmp_path / "after.csv")
    assert (tmp_path / "after.csv").read_bytes() == (tmp_path / "before.csv").read_bytes()


def test_a_row_of_another_length_is_named_by_its_line(tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text("query_id,candidate_id,value\na,b,1\na,c\na,d,0\na,e,0,1\n", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be read as CSV") as caught:
        read_csv(file)
    assert list(caught.value.faults) == ["line 3 has 2 values, not 3", "line 5 has 4 values, not 3"]
