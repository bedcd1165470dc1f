"""What the import of VSD's files refuses, with file, entry and remedy; and that it writes all tables or none."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from eds import tables
from eds.benchmarks.formats.vsd import Files, read_annotations
from eds.errors import EdsError, InputError, ProjectError
from eds.project import Project
from eds.project.exchange import ImportResult
from eds.project.excluded_images import read_excluded
from eds.tables import Provenance
from tests.benchmarks.vsd_files import release

IMAGES = [
    {"id": 1, "path": "a b/ü1.jpg", "phase": "gallery"},
    {"id": 2, "path": "a b/2.jpg", "phase": "gallery"},
    {"id": 3, "path": "w/3.jpg", "phase": "query"},
]
TAGS = [{"key": ["w/3.jpg", "a b/ü1.jpg"], "value": 1}, {"key": ["w/3.jpg", "a b/2.jpg"], "value": 0}]


def files(folder: Path, **changed: Any) -> Files:
    """Small sound files, but for what is changed; text is written as it is."""
    content: dict[str, Any] = {
        "metadata": {"images": IMAGES},
        "annotations": TAGS,
        "seeds": {"seeds": ["w/3.jpg"]},
        "manifest": {"images": []},
        **changed,
    }
    folder.mkdir(parents=True, exist_ok=True)
    paths = {}
    for name, told in content.items():
        paths[name] = folder / f"{name}.json"
        paths[name].write_text(told if isinstance(told, str) else json.dumps(told), encoding="utf-8")
    return Files(**paths)


def image(**more: Any) -> dict[str, Any]:
    return {"images": [*IMAGES, {"id": 9, "path": "x/9.jpg", **more}]}


def tag(key: Any, value: Any = 1) -> list[Any]:
    return [*TAGS, {"key": key, "value": value}]


BAD: dict[str, tuple[dict[str, Any], list[str]]] = {
    "metadata that are seeds": ({"metadata": {"seeds": []}}, ["metadata.json: no 'images' (it has seeds)"]),
    "a list for an object": ({"metadata": []}, ["metadata.json: is a list, not an object with 'images'"]),
    "no image": ({"metadata": {"images": []}}, ["metadata.json: 'images' is empty"]),
    "annotations as an object": ({"annotations": {}}, ["annotations.json: is an object, not a list"]),
    "not one annotation": ({"annotations": []}, ["annotations.json: holds no annotation"]),
    "a seed's key misspelt": ({"seeds": {"seed": []}}, ["seeds.json: no 'seeds' (it has seed; did you mean seed?)"]),
    "an image's key misspelt": (
        {"metadata": {"images": [*IMAGES, {"id": 1, "paht": "x"}]}},
        ["metadata.json: image 3 has no 'path' (it has id, paht; did you mean paht?)"],
    ),
    "an annotation's key misspelt": (
        {"annotations": [*TAGS, {"key": ["w/3.jpg", "a b/2.jpg"], "label": 1}]},
        ["annotations.json: annotation 2 has no 'value' (it has key, label)"],
    ),
    "an absolute path": ({"metadata": image(path="/x.jpg")}, ["image 3 has path '/x.jpg': it is absolute"]),
    "a drive letter": ({"metadata": image(path="C:/x.jpg")}, ["image 3 has path 'C:/x.jpg': it is absolute"]),
    "a path that leads out": ({"metadata": image(path="x/../../y.jpg")}, ["it leads out of the image root (..)"]),
    "a blank path": ({"metadata": image(path=" ")}, ["image 3 has path ' ': it is blank"]),
    "a line break in a path": ({"metadata": image(path="a\nb.jpg")}, ["it contains a line break"]),
    "a blank product": ({"metadata": image(id="  ")}, ["image 3 has a blank id"]),
    "a product that is not a text": ({"metadata": image(id=[1])}, ["image 3 has id [1]: give text or a whole number"]),
    "one path, two products": (
        {"metadata": image(path="w/3.jpg")},
        ["image 3 has path 'w/3.jpg' as image 2 has, but another product"],
    ),
    "an unknown seed": ({"seeds": {"seeds": ["w/3.jpg", "w/4.jpg"]}}, ["seeds.json: seed 1 'w/4.jpg' is not in the m"]),
    "an unknown candidate": (
        {"annotations": tag(["w/3.jpg", "lost.jpg"])},
        ["annotations.json: annotation 2: candidate 'lost.jpg' is not in the metadata"],
    ),
    "an unknown image in the manifest": (
        {"manifest": {"images": [{"path": "lost.jpg"}]}},
        ["manifest.json: image 0 'lost.jpg' is not in the metadata"],
    ),
    "a value of its own": (
        {"annotations": tag(["w/3.jpg", "a b/2.jpg"], 2)},
        ["annotation 2 has value 2: give 0 or 1"],
    ),
    "true for 1": ({"annotations": tag(["w/3.jpg", "a b/2.jpg"], True)}, ["annotation 2 has value True"]),
    "a key of three": ({"annotations": tag(["w/3.jpg", "a", "b"])}, ["annotation 2 has key ['w/3.jpg', 'a', 'b']"]),
    "an image with itself": (
        {"annotations": tag(["w/3.jpg", "w/3.jpg"])},
        ["annotation 2 pairs 'w/3.jpg' with itself"],
    ),
    "a contradiction": (
        {"annotations": tag(["w/3.jpg", "a b/2.jpg"], 1)},
        ["annotation 2 gives 1 to ['w/3.jpg', 'a b/2.jpg'], annotation 1 gives 0: keep one"],
    ),
    "faults of several files": (
        {"metadata": image(path="/x"), "annotations": tag(["w/3.jpg", "lost.jpg"], "yes")},
        ["metadata.json: image 3", "annotation 2 has value 'yes'", "candidate 'lost.jpg'"],
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_refused_with_file_entry_and_remedy(case: str, tmp_path: Path) -> None:
    changed, told = BAD[case]
    with pytest.raises(InputError) as caught:
        read_annotations(files(tmp_path, **changed).contents())
    for words in told:
        assert words in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize("name", ["metadata", "annotations", "seeds", "manifest"])
def test_a_file_written_in_part_is_told_as_such(name: str, tmp_path: Path) -> None:
    whole = getattr(files(tmp_path / "whole"), name).read_text(encoding="utf-8")
    for length in range(1, len(whole) - 1):
        with pytest.raises(InputError, match=f"{name}.json.*is truncated"):
            files(tmp_path / "cut", **{name: whole[:length]}).contents()
    with pytest.raises(InputError, match="is not JSON"):
        files(tmp_path / "cut", **{name: "{'images': []}"}).contents()


def test_bytes_that_are_not_utf_8_are_told(tmp_path: Path) -> None:
    given = files(tmp_path)
    given.metadata.write_bytes(b'{"images": "\xff"}')
    with pytest.raises(InputError, match="is not UTF-8"):
        given.contents()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.create(tmp_path / "p")


def bring(project: Project, given: Files, **options: Any) -> ImportResult:
    named = {name: file for name, file in asdict(given).items() if file}
    return project.import_benchmark("vsd", **named, **options)


def test_the_tables_are_what_the_files_say(project: Project, tmp_path: Path) -> None:
    told = bring(project, files(tmp_path, annotations=[*TAGS, TAGS[0]]), gallery_phases="gallery")
    images, truth, suspects = (project.read(name) for name in ("images", "truth", "suspects"))
    assert dict(zip(images["image_id"], images["role"], strict=True)) == {
        "a b/ü1.jpg": "candidate",
        "a b/2.jpg": "candidate",
        "w/3.jpg": "query",
    }
    assert truth[["query_id", "candidate_id", "value"]].to_numpy().tolist() == [
        ["w/3.jpg", "a b/2.jpg", 0],
        ["w/3.jpg", "a b/ü1.jpg", 1],
    ]
    assert set(truth["rule"]) == {"imported vsd"}
    assert truth[["votes_for", "votes_against", "unsure"]].to_numpy().sum() == 0
    assert set(suspects["origin"]) == {"pool"}
    assert suspects["sources"].isna().all()
    assert (told.queries, told.candidates, told.pairs, told.positives) == (1, 2, 2, 1)
    assert {state.condition for state in map(project.state, ("images", "truth", "suspects"))} == {"fresh"}


def test_an_image_that_is_named_twice_counts_once_and_is_told(project: Project, tmp_path: Path) -> None:
    told = bring(project, files(tmp_path, metadata={"images": [*IMAGES, IMAGES[0]]}), gallery_phases="gallery")
    assert told.images == len(project.read("images"))
    assert any("1 entries of the metadata are duplicates" in note for note in told.notes)
    assert project.read("images")["image_id"].is_unique


def test_nothing_is_half_imported(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bring(project, files(tmp_path))
    before = {name: project.path(name).read_bytes() for name in ("images", "truth", "suspects")}
    other = files(tmp_path / "other", annotations=TAGS[:1])
    with pytest.raises(InputError):
        bring(project, files(tmp_path / "bad", annotations=tag(["w/3.jpg", "lost.jpg"])))
    real = Path.replace

    def failing(self: Path, target: Path) -> Path:
        if self.parent.name == "transaction" and self.name == "images.parquet":
            raise OSError("no space left")
        return real(self, target)

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(OSError, match="no space left"):
        bring(project, other)
    assert {name: project.path(name).read_bytes() for name in before} == before
    fresh = Project.create(tmp_path / "fresh")
    with pytest.raises(OSError, match="no space left"):
        bring(fresh, other)
    assert [fresh.state(name).condition for name in before] == ["absent"] * 3
    monkeypatch.undo()
    assert bring(project, other).pairs == 1
    assert not (project.root / ".eds" / "transaction").exists()


def test_tables_of_other_commands_are_not_written_over(project: Project, tmp_path: Path) -> None:
    given = files(tmp_path)
    project.write(tables.TRUTH.empty(), "truth", Provenance("truth.decide"))
    with pytest.raises(ProjectError, match=r"truth\.parquet was made by eds truth decide"):
        bring(project, given)
    assert project.state("images").condition == "absent"
    assert bring(project, given, replace=True).pairs == 2


def test_products_shared_by_both_domains_are_told_and_can_be_kept_apart(project: Project, tmp_path: Path) -> None:
    shared = {"images": [*IMAGES[:2], {"id": 2, "path": "w/3.jpg", "phase": "query"}]}
    told = bring(project, files(tmp_path, metadata=shared), gallery_phases="gallery")
    (note,) = [note for note in told.notes if "another domain" in note]
    assert "'w/3.jpg' and 'a b/2.jpg'" in note
    assert "--separate" in note
    told = bring(project, files(tmp_path, metadata=shared), gallery_phases="gallery", separate=True)
    assert not [note for note in told.notes if "another domain" in note]
    assert sorted(project.read("images")["product_id"]) == ["1", "2", "query:2"]


def test_images_left_out_are_known_until_the_catalogue_changes(project: Project, tmp_path: Path) -> None:
    data = release(wild=True, seed=4)
    data.write(tmp_path / "f")
    given = Files(*(tmp_path / "f" / f"{name}.json" for name in ("metadata", "annotations", "seeds")))
    told = bring(project, given, gallery_phases="gallery,search")
    train = {one["path"] for one in data.metadata["images"] if one["phase"] == "train"}
    assert read_excluded(project) == train - set(project.read("images")["image_id"])
    assert told.excluded == len(read_excluded(project)) > 0
    project.write(project.read("images").iloc[1:], "images", Provenance("test"))
    assert read_excluded(project) == frozenset()


def test_unknown_phases_are_refused(project: Project, tmp_path: Path) -> None:
    with pytest.raises(EdsError, match="no image has phase 'shop'"):
        bring(project, files(tmp_path), gallery_phases="gallery,shop")
