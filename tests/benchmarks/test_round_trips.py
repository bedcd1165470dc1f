"""What a format can hold comes back from it unchanged; what it cannot is told."""

import dataclasses
from pathlib import Path
from typing import Literal

import pandas as pd
import pytest

from eds.benchmarks.benchmark import Benchmark
from eds.benchmarks.folder import export_folder, verify_checksums
from eds.benchmarks.formats import croissant, hf, label_studio, trec, votes, vsd
from eds.benchmarks.pictures import unpacked_pictures
from eds.errors import InputError
from eds.tables import BOX
from tests.benchmarks.cases import PAIR, benchmark, same

VOTES = ["query_id", "candidate_id", "expert_id", "value", "seconds", "created_at", "kind"]


def plain_votes(votes: pd.DataFrame) -> pd.DataFrame:
    """Votes as a label store reads them: numbers from text, moments from ISO 8601."""
    numbers = {name: pd.to_numeric(votes[name]).astype("float64") for name in ("value", "seconds")}
    return votes.assign(
        **numbers, created_at=pd.to_datetime(votes["created_at"], utc=True, format="ISO8601").astype(str)
    )


def same_tables(given: Benchmark, found: Benchmark) -> None:
    """The catalogue, the decided pairs, the suspects and the votes came back."""
    same(given.images, found.images, ["image_id"])
    same(given.truth, found.truth, PAIR)
    same(given.suspects, found.suspects, [*PAIR, "origin"])
    assert given.votes is not None
    assert found.votes is not None
    same(plain_votes(given.votes), plain_votes(found.votes), ["vote_id"])


@pytest.mark.parametrize("pictures", [True, False])
def test_hugging_face_holds_everything(tmp_path: Path, pictures: bool) -> None:
    given = benchmark(tmp_path / "root")
    with export_folder(tmp_path / "out") as folder:
        lost = hf.write(given, folder, no_images=not pictures)
    assert lost == ([] if pictures else ["the pictures: their paths only"])
    assert verify_checksums([tmp_path / "out"]) == []
    found = hf.read(tmp_path / "out")
    same_tables(given, found)
    for model, run in given.runs.items():
        same(run, found.runs[model], ["query_id", "rank"])
    with unpacked_pictures(found, tmp_path / "new") as count:
        assert count == (12 if pictures else 0)
    for file in (tmp_path / "root").rglob("*.png") if pictures else ():
        assert (tmp_path / "new" / file.relative_to(tmp_path / "root")).read_bytes() == file.read_bytes()


@pytest.mark.parametrize("pictures", [True, False])
def test_croissant_holds_all_but_lists(tmp_path: Path, pictures: bool) -> None:
    given = benchmark(tmp_path / "root")
    with export_folder(tmp_path / "out") as folder:
        lost = croissant.write(given, folder, no_images=not pictures)
    assert lost == [*([] if pictures else ["the pictures: their paths only"]), "the lists of 2 models"]
    found = croissant.read(tmp_path / "out")
    same_tables(given, found)
    with unpacked_pictures(found, tmp_path / "new") as count:
        assert count == (12 if pictures else 0)
    for file in (tmp_path / "root").rglob("*.png") if pictures else ():
        assert (tmp_path / "new" / file.relative_to(tmp_path / "root")).read_bytes() == file.read_bytes()


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_votes_and_pairs_come_back(tmp_path: Path, kind: Literal["csv", "jsonl"]) -> None:
    given = benchmark()
    lost = votes.write(given, tmp_path, file_type=kind)
    assert lost == ["the catalogue of 12 images: only their ids", "the lists of 2 models"]
    found = votes.read(tmp_path)
    assert given.votes is not None
    assert found.votes is not None
    same(plain_votes(given.votes), plain_votes(found.votes), ["vote_id"])
    same(given.truth, found.truth, PAIR)
    same(given.suspects, found.suspects, [*PAIR, "origin"])


def test_trec_holds_labels_and_ranks(tmp_path: Path) -> None:
    given = benchmark()
    lost = trec.write(given, tmp_path)
    assert any("scores of one" in one for one in lost)
    assert (tmp_path / "qrels.txt").read_bytes().isascii()
    found = trec.read(tmp_path)
    same(given.truth, found.truth, PAIR, [*PAIR, "value"])
    same(given.images, found.images, ["image_id"], ["image_id", "product_id", "category", "role", "phase", "path"])
    for model, run in given.runs.items():
        same(run, found.runs[model], ["query_id", "rank"], ["model", *PAIR, "rank"])
        merged = run.merge(found.runs[model], on=PAIR)
        assert (merged["score_x"] - merged["score_y"]).abs().max() < 1e-6


def test_without_ids_a_percent_sign_is_a_percent_sign(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q%20 0 d%41 1\nq%20 0 dA 0\n")
    found = trec.read(tmp_path)
    assert found.truth is not None
    assert found.truth[[*PAIR, "value"]].to_numpy().tolist() == [["q%20", "d%41", 1], ["q%20", "dA", 0]]


def test_label_studio_holds_answers_in_force_and_labels(tmp_path: Path) -> None:
    given = benchmark()
    lost = label_studio.write(given, tmp_path)
    assert "1 votes that their experts corrected: only current answers" in lost
    found = label_studio.read(tmp_path)
    same(given.truth, found.truth, PAIR)
    same(given.suspects, found.suspects, [*PAIR, "origin"])
    assert given.votes is not None
    assert found.votes is not None
    force = given.votes[~given.votes["vote_id"].isin(given.votes["supersedes"].dropna())]
    same(plain_votes(force), plain_votes(found.votes), ["query_id", "candidate_id", "expert_id", "kind"], VOTES)


def test_vsd_names_images_by_path_and_keeps_the_rest(tmp_path: Path) -> None:
    given = benchmark(paths=True)
    lost = vsd.write(given, tmp_path)
    assert not any("image ids" in one for one in lost)
    found = vsd.read(tmp_path)
    same(given.truth, found.truth, PAIR, [*PAIR, "value"])
    columns = ["image_id", "product_id", "category", "role", "phase", "colour", "price", *BOX]
    same(given.images, found.images, ["image_id"], columns)
    assert given.votes is not None
    assert found.votes is not None
    same(plain_votes(given.votes), plain_votes(found.votes), ["vote_id"])
    renamed = benchmark()
    (tmp_path / "renamed").mkdir()
    assert "12 image ids: the path is the name" in vsd.write(renamed, tmp_path / "renamed")


def test_a_pair_keeps_every_reason_for_which_it_was_asked(tmp_path: Path) -> None:
    given = benchmark()
    assert given.suspects is not None
    again = given.suspects.head(4).assign(origin="negative", stratum="100%;x", sources=None, probability=1 / 7, batch=9)
    both = pd.concat([given.suspects, again], ignore_index=True)
    given = dataclasses.replace(given, suspects=both)
    votes.write(given, tmp_path)
    pairs = (tmp_path / "pairs.csv").read_text()
    assert "random;negative" in pairs
    assert "pool;negative" in pairs
    found = votes.read(tmp_path)
    same(given.truth, found.truth, PAIR)
    same(both, found.suspects, [*PAIR, "origin"])
    (tmp_path / "pairs.csv").write_text(pairs.replace("pool;negative", "pool;negative;gold"))
    with pytest.raises(InputError, match="another number of entries in probability than in origin"):
        votes.read(tmp_path)
