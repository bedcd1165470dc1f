"""`eds images` from the outside: what is written, what is refused, and how it is told."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from eds.cli import main
from eds.errors import ConfigError
from eds.images.sheet import GAP, MARGIN, SIDE
from eds.project import Project
from eds.project.image_root import with_root
from tests.privileges import needed


def png(value: int) -> bytes:
    stream = io.BytesIO()
    noise = np.random.default_rng(value).integers(0, 256, (6, 6, 3), dtype=np.uint8)
    Image.fromarray(noise).resize((40, 30)).save(stream, "PNG")
    return stream.getvalue()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with six pictures of three products in two categories."""
    folder = tmp_path / "project"
    Project.create(folder)
    for number in range(6):
        path = folder / "images" / f"c{number % 2}" / f"p{number % 3}" / f"{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(png(number))
    return folder


class Eds:
    """Types a command and reads the answer."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys, self._patch = capsys, monkeypatch

    def __call__(self, *words: object, code: int = 0) -> tuple[str, str]:
        self._patch.setattr(sys, "argv", ["eds", "images", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        said = self._capsys.readouterr()
        assert (ended.value.code or 0) == code, said.err
        assert "Traceback" not in said.err
        return said.out, said.err

    def json(self, *words: object, code: int = 0) -> Any:
        return json.loads(self(*words, "--json", code=code)[0])


@pytest.fixture
def eds(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Eds:
    return Eds(capsys, monkeypatch)


def test_scan_then_scan_again(project: Path, eds: Eds) -> None:
    first = eds.json("scan", "-p", project, "--queries", "2")
    assert (first["images"], first["read"], first["reused"]) == (6, 6, 0)
    assert first["roles"] == {"candidate": 4, "both": 2}
    before = (project / "images.parquet").read_bytes()
    again = eds.json("scan", "-p", project, "--queries", "2")
    assert (again["read"], again["reused"]) == (0, 6)
    assert (project / "images.parquet").read_bytes() == before
    opened = Project.open(project)
    assert opened.state("images").condition == "fresh"
    assert opened.state("images").made_by == "eds images scan --queries 2"
    assert set(opened.read("images")["category"]) == {"c0", "c1"}


def test_bad_files_are_left_out_and_told_or_the_scan_is_refused(project: Path, eds: Eds) -> None:
    (project / "images" / "c0" / "p0" / "bad.jpg").write_bytes(b"")
    answer = eds.json("scan", "-p", project)
    assert answer["bad"] == [{"path": "c0/p0/bad.jpg", "reason": "file is empty"}]
    assert answer["images"] == 6
    assert "c0/p0/bad.jpg,file is empty" in (project / ".eds" / "scan" / "bad.csv").read_text()
    said, _ = eds("scan", "-p", project)
    assert "c0/p0/bad.jpg: file is empty" in said
    before = (project / "images.parquet").read_bytes()
    _, told = eds("scan", "-p", project, "--on-bad", "fail", code=2)
    assert "file is empty" in told
    assert (project / "images.parquet").read_bytes() == before


def test_another_folder_becomes_the_root_only_before_there_is_a_table(project: Path, tmp_path: Path, eds: Eds) -> None:
    other = tmp_path / 'an "odd" place'
    other.mkdir()
    (other / "a.png").write_bytes(png(9))
    text = (project / "eds.toml").read_text()
    _, told = eds("scan", other, "-p", project)
    assert "images.root is now" in told
    assert Project.open(project).image_root == other
    changed = (project / "eds.toml").read_text()
    assert [line for line in text.splitlines() if not line.startswith("# root")] == [
        line for line in changed.splitlines() if not line.startswith("root")
    ]
    eds("scan", other, "-p", project)
    _, told = eds("scan", project / "images", "-p", project, code=2)
    assert "is not the image root" in told


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", '\n[images]\nroot = "x"\n'),
        ("[images]\nroot = 'old' # why\non_bad = 'fail'\n", "[images]\nroot = \"x\" # why\non_bad = 'fail'\n"),
        ("[images]\n[budget]\nexperts = 2\n", '[images]\nroot = "x"\n[budget]\nexperts = 2\n'),
        ("[images]\n# root = 'a'\nroot = 'b'\n", "[images]\n# root = 'a'\nroot = \"x\"\n"),
        ("[project]\nname = 'a'", "[project]\nname = 'a'\n\n[images]\nroot = \"x\"\n"),
    ],
)
def test_the_root_is_set_and_nothing_else(text: str, expected: str) -> None:
    assert with_root(text, "x") == expected


def test_a_file_that_cannot_be_changed_safely_is_left_to_the_user() -> None:
    with pytest.raises(ConfigError, match="by hand"):
        with_root("images = {root = 'a'}\n", "x")


def test_import_with_and_without_files(project: Path, eds: Eds) -> None:
    table = project / "list.csv"
    table.write_text("sku,file\n1,c0/p0/0.png\n2,c1/p1/1.png\n3,gone.png\n")
    answer = eds.json("import", table, "--map", "id=sku,path=file", "-p", project)
    assert answer["format"] == "table"
    assert answer["images"] == 2
    assert answer["bad"] == [{"path": "gone.png", "reason": "No such file or directory"}]
    blind = eds.json("import", table, "--map", "id=sku,path=file", "-p", project, "--without-files")
    assert blind["images"] == 3
    assert Project.open(project).read("images")["sha256"].isna().all()
    assert Project.open(project).state("images").condition == "fresh"
    table.write_text("path\nnone.png\n")
    assert Project.open(project).state("images").reasons == ("list.csv has changed since",)
    _, told = eds("import", table, "-p", project, code=2)
    assert "not one of 1 images" in told
    _, told = eds("scan", "-p", project, code=2)
    assert "--replace" in told
    assert eds.json("scan", "-p", project, "--replace")["images"] == 6


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--queries", "some"], "invalid number"),
        (["--queries", "99"], "from 1 to 6"),
        (["--near", "x"], "invalid number of bits"),
        (["--layout", "flat", "--check", "none"], "is not one of"),
    ],
)
def test_wrong_options(project: Path, eds: Eds, words: list[str], reason: str) -> None:
    assert reason in eds("scan", "-p", project, *words, code=2)[1]


def test_what_an_import_would_leave_aside_is_said(project: Path, eds: Eds) -> None:
    table = project / "list.csv"
    table.write_text("path,role,product_id\nc0/p0/0.png,query,a\nc1/p1/1.png,candidate,b\n")
    _, told = eds("import", table, "--gallery-phase", "x", "-p", project, code=2)
    assert "the reader table has no use for gallery phases" in told
    kept = eds.json("import", table, "-p", project)
    assert (kept["roles"], kept["notes"]) == ({"query": 1, "candidate": 1}, ["columns used: path, product_id, role"])
    drawn = eds.json("import", table, "--queries", "1", "-p", project)
    assert drawn["roles"] == {"both": 1, "candidate": 1}
    assert drawn["notes"] == [
        "columns used: path, product_id, role",
        "the roles of the list were replaced, as queries were asked for",
    ]


def test_check(project: Path, eds: Eds) -> None:
    eds("scan", "-p", project)
    assert eds("check", "-p", project)[0] == "6 images: 0 missing, 0 changed, 0 the same file as another.\n"
    (project / "images" / "c0" / "p0" / "0.png").write_bytes(png(70))
    (project / "images" / "c1" / "p1" / "1.png").unlink()
    answer = eds.json("check", "-p", project, code=2)
    assert answer["counts"] == {"missing": 1, "changed": 1}


def test_a_second_scan_remembers_layout_queries_and_duplicates(project: Path, eds: Eds) -> None:
    (project / "images" / "c0" / "p0" / "twin.png").write_bytes(
        (project / "images" / "c1" / "p1" / "1.png").read_bytes()
    )
    first = eds.json("scan", "-p", project, "--layout", "category", "--queries", "2", "--duplicates", "leave-out")
    before = Project.open(project).read("images")
    assert (first["images"], first["roles"]) == (6, {"candidate": 4, "both": 2})
    _, said = eds("scan", "-p", project)
    assert "layout category" in said
    assert "queries 2" in said
    assert "duplicates leave-out" in said
    assert Project.open(project).read("images").equals(before)
    assert eds.json("scan", "-p", project, "--queries", "all")["roles"] == {"both": 6}


def test_the_policy_for_duplicates_comes_from_the_option_or_eds_toml(project: Path, eds: Eds) -> None:
    (project / "images" / "c1" / "p1" / "twin.png").write_bytes(
        (project / "images" / "c0" / "p0" / "0.png").read_bytes()
    )
    kept = eds.json("scan", "-p", project)
    assert (kept["images"], kept["products"], kept["exact_groups"], kept["notes"]) == (7, 6, 1, [])
    merged = eds.json("scan", "-p", project, "--layout", "product", "--duplicates", "merge")
    assert (merged["images"], merged["products"]) == (7, 5)
    (project / "eds.toml").write_text('[images]\nduplicates = "leave-out"\n')
    eds("scan", "-p", project, "--duplicates", "keep")
    assert "c1/p1/twin.png" in set(Project.open(project).read("images")["image_id"])
    other = Project.create(project.parent / "other")
    (other.root / "eds.toml").write_text('[images]\nduplicates = "leave-out"\n')
    left = eds.json("scan", project / "images", "-p", other.root)
    assert (left["images"], left["duplicates"]) == (6, "leave-out")
    assert "1 images were left out" in left["notes"][0]
    assert Project.open(other.root).state("images").condition == "fresh"


@pytest.mark.parametrize("name", ["sheet.png", "sheet.jpg", "sheet.html"])
def test_sheet(project: Path, eds: Eds, name: str) -> None:
    eds("scan", "-p", project)
    for by in ("category", "product"):
        eds("sheet", "-p", project, "--out", project / name, "--by", by)
        if name.endswith("html"):
            assert (project / name).read_text().count("<img ") == 6
        else:
            with Image.open(project / name) as sheet:
                assert sheet.format == {"png": "PNG", "jpg": "JPEG"}[name[-3:]]
                assert sheet.width == 2 * MARGIN + 6 * (SIDE + GAP) - GAP  # six pictures in a row
    assert "Name it" in eds("sheet", "-p", project, "--out", project / "a.pdf", code=2)[1]


def test_run_makes_what_is_absent_or_stale_and_leaves_what_is_fresh(project: Path) -> None:
    from eds.project.catalogue import refresh

    refresh(Project.open(project))
    made = (project / "images.parquet").read_bytes()
    refresh(Project.open(project))
    assert (project / "images.parquet").read_bytes() == made
    (project / "images" / "c0" / "p0" / "new.png").write_bytes(png(9))
    refresh(Project.open(project))
    assert len(Project.open(project).read("images")) == 7
    text = (project / "eds.toml").read_text()
    (project / "eds.toml").write_text(text.replace('# on_bad = "skip"', 'on_bad = "fail"'))
    assert Project.open(project).state("images").condition == "stale"
    refresh(Project.open(project))
    assert Project.open(project).state("images").condition == "fresh"


def test_a_scan_that_fails_leaves_the_root_as_it_was(project: Path, tmp_path: Path, eds: Eds) -> None:
    before = (project / "eds.toml").read_bytes()
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "a.png").write_bytes(b"no")
    for folder in ("nowhere", "empty", "bad"):
        _, told = eds("scan", tmp_path / folder, "-p", project, code=2)
        assert "images.root is now" not in told
        assert (project / "eds.toml").read_bytes() == before
    assert eds.json("scan", "-p", project)["images"] == 6


def test_a_root_that_a_killed_scan_did_not_write_is_written_by_the_next(
    project: Path, tmp_path: Path, eds: Eds, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.png").write_bytes(png(9))
    with monkeypatch.context() as killed:
        killed.setattr("eds.project.catalogue.write_root", lambda project: sys.exit(9))
        eds("scan", other, "-p", project, code=9)
    assert Project.open(project).state("images").condition == "stale"
    eds("scan", other, "-p", project)
    assert Project.open(project).state("images").condition == "fresh"


def test_what_was_not_looked_for_is_not_counted(project: Path, eds: Eds) -> None:
    (project / "images" / "c0" / "p0" / "again.png").write_bytes(png(0))
    for words in (["--near", "off"], ["--check", "header"]):
        assert "near duplicates: not searched;" in eds("scan", "-p", project, *words)[0]
    assert "near duplicates: 0 pairs;" in eds("scan", "-p", project)[0]


def test_a_column_that_is_mapped_twice_is_refused(project: Path, eds: Eds) -> None:
    (project / "list.csv").write_text("sku,file\n1,c0/p0/0.png\n")
    words = ["import", project / "list.csv", "-p", project, "--map", "path=file,id=sku,id=file"]
    assert "option --map: id is mapped twice" in eds(*words, code=2)[1]


def test_a_sheet_is_put_where_its_address_says(project: Path, eds: Eds, monkeypatch: pytest.MonkeyPatch) -> None:
    eds("scan", "-p", project)
    monkeypatch.chdir(project)
    with needed("tests.object_storage").storage() as server:
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        server.client().create_bucket(Bucket="shop")
        for name in ("x.html", "x.png"):
            eds("sheet", "-p", project, "--out", f"s3://shop/sheets/{name}")
            assert server.client().get_object(Bucket="shop", Key=f"sheets/{name}")["Body"].read(4)
    assert not (project / "s3:").exists()
