"""An export is there whole or not at all, tells what is in it, and shows no text as markup."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from eds.benchmarks.benchmark import Runs
from eds.benchmarks.card import count_statistics, render_card
from eds.benchmarks.folder import export_folder, verify_checksums
from eds.benchmarks.formats.hf import front_matter
from eds.benchmarks.formats.trec import lower_scores
from eds.cli import cli
from eds.errors import InputError
from eds.io.files import digest
from tests.benchmarks.cases import benchmark


class InParts(Runs):
    """Lists that are never read whole: a part for each query."""

    def __init__(self, runs: Mapping[str, pd.DataFrame]) -> None:
        self.runs = runs

    def parts(self, model: str) -> Iterator[pd.DataFrame]:
        for _, part in self.runs[model].groupby("query_id"):
            yield part.sort_values("rank", ignore_index=True)

    def __getitem__(self, model: str) -> pd.DataFrame:
        raise AssertionError("a model's lists are read whole")

    def __iter__(self) -> Iterator[str]:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)


@pytest.mark.parametrize("form", ["trec", "hf", "label_studio", "croissant", "votes"])
def test_lists_written_in_parts_are_the_lists(tmp_path: Path, form: str) -> None:
    write = import_module(f"eds.benchmarks.formats.{form}").write
    options = {"no_images": True} if form in ("hf", "croissant") else {}
    whole = benchmark()
    parted = replace(whole, runs=InParts(whole.runs))
    folders = tmp_path / "whole", tmp_path / "parts"
    held = []
    for folder, value in zip(folders, (whole, parted), strict=True):
        folder.mkdir()
        held.append(write(value, folder, **options))
    assert held[0] == held[1]
    files = [sorted(file.relative_to(folder) for file in folder.rglob("*") if file.is_file()) for folder in folders]
    assert files[0] == files[1]
    for name in files[0]:
        if name.suffix == ".parquet":
            pd.testing.assert_frame_equal(pd.read_parquet(folders[0] / name), pd.read_parquet(folders[1] / name))
        else:
            assert digest(folders[0] / name) == digest(folders[1] / name)


def test_a_folder_appears_whole_with_its_checksums(tmp_path: Path) -> None:
    with export_folder(tmp_path / "out") as folder:
        (folder / "sub").mkdir()
        (folder / "sub" / "ä b").write_bytes(b"1")
        assert not (tmp_path / "out").exists()
    assert (tmp_path / "out" / "SHA256SUMS").read_text(
        encoding="utf-8"
    ) == f"{hashlib.sha256(b'1').hexdigest()}  sub/ä b\n"
    assert verify_checksums([tmp_path / "out"]) == []
    assert (
        subprocess.run(["sha256sum", "--quiet", "-c", "SHA256SUMS"], cwd=tmp_path / "out", check=False).returncode == 0
    )


def test_checksums_with_the_line_ends_of_windows_are_read(tmp_path: Path) -> None:
    with export_folder(tmp_path / "out") as folder:
        (folder / "a").write_bytes(b"1")
    sums = tmp_path / "out" / "SHA256SUMS"
    sums.write_bytes(sums.read_bytes().replace(b"\n", b"\r\n"))
    assert verify_checksums([tmp_path / "out"]) == []
    (tmp_path / "out" / "a").write_bytes(b"2")
    with pytest.raises(InputError, match="does not match SHA256SUMS"):
        verify_checksums([tmp_path / "out"])


def test_files_of_one_folder_are_held_against_it_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with export_folder(tmp_path / "out") as folder:
        for name in "abc":
            (folder / name).write_text(name)
    read: list[str] = []

    def noted(file: Path) -> str:
        read.append(file.name)
        return digest(file)

    monkeypatch.setattr("eds.benchmarks.folder.digest", noted)
    (tmp_path / "out" / "d").write_text("d")
    notes = verify_checksums([tmp_path / "out" / name for name in "abd"])
    assert sorted(read) == ["a", "b", "c"]
    assert [note.split(", as ")[1][0] for note in notes] == ["d"]


def test_what_fails_leaves_nothing_and_the_earlier_export(tmp_path: Path) -> None:
    def export(text: str, *, fail: bool = False, replace: bool = False) -> None:
        with export_folder(tmp_path / "out", replace=replace) as folder:
            (folder / "file").write_text(text)
            if fail:
                raise InputError("no")

    with pytest.raises(InputError, match="no"):
        export("a", fail=True)
    assert list(tmp_path.iterdir()) == []
    export("a")
    with pytest.raises(InputError, match="exists already"):
        export("b")
    with pytest.raises(InputError, match="no"):
        export("b", fail=True, replace=True)
    assert (tmp_path / "out" / "file").read_text() == "a"
    export("b", replace=True)
    assert (tmp_path / "out" / "file").read_text() == "b"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_is_no_export_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    with pytest.raises(InputError, match="is not an export"), export_folder(tmp_path / "mine", replace=True):
        pass
    assert (tmp_path / "mine").is_dir()


def test_a_killed_writer_leaves_nothing_that_looks_whole(tmp_path: Path) -> None:
    program = (
        "import os, sys; from pathlib import Path; from eds.benchmarks.folder import export_folder\n"
        f"with export_folder(Path({str(tmp_path / 'out')!r})) as folder:\n"
        "    (folder / 'file').write_text('half'); os.kill(os.getpid(), 9)\n"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -9
    assert not (tmp_path / "out").exists()
    with export_folder(tmp_path / "out") as folder:
        (folder / "file").write_text("whole")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]  # what the dead one left is swept


def test_the_card_shows_text_as_text_and_knows_its_numbers() -> None:
    one = benchmark()
    text = render_card(one, "hf", ["a <b>"], front_matter(one, ["corpus", "qrels"]))
    body = text.split("---\n", 2)[2]
    assert "<" not in body
    assert "To \\*test\\* &lt;script&gt;." in body
    told = import_module("yaml").safe_load(text.split("---\n", 2)[1])
    assert told["pretty_name"] == "Größe <b>"
    assert told["license"] == "cc-by-4.0"
    assert told["annotations_creators"] == ["expert-generated"]
    assert told["configs"][0] == {"config_name": "corpus", "data_files": [{"split": "test", "path": "corpus/test-*"}]}
    for section in ("Motivation", "Collection", "Experts", "Agreement", "Recall", "Known bias", "Licence"):
        assert f"\n## {section}\n" in body
    assert one.truth is not None
    counted = count_statistics(one)
    by_query = one.truth.groupby("query_id").size().tolist()
    assert counted["judged pairs"] == len(one.truth)
    assert counted["similar pairs"] == sum(one.truth["value"])
    assert counted["judged pairs per query (minimum, median, maximum)"].startswith(f"{min(by_query)}, ")
    assert (counted["images"], counted["queries"], counted["candidates"]) == (12, 6, 9)


floats = st.one_of(st.sampled_from([0.5, 0.5 + 1e-12, 0.0, -1.0]), st.floats(-1e6, 1e6, allow_nan=False))


@settings(deadline=None)
@given(st.lists(st.lists(floats, min_size=1, max_size=8), min_size=1, max_size=4))
def test_scores_fall_strictly_in_32_bits_and_change_only_where_they_must(queries: list[list[float]]) -> None:
    rows = [(f"q{n}", score) for n, scores in enumerate(queries) for score in sorted(scores, reverse=True)]
    frame = pd.DataFrame(rows, columns=["query_id", "score"])
    found, changed = lower_scores(frame)
    wanted: list[float] = []
    count = 0
    last: tuple[str, Any] = ("", np.float32(0))
    for query, score in rows:  # the plain loop
        short = np.float32(score)
        if query == last[0] and short >= last[1]:
            short = np.nextafter(last[1], np.float32(-np.inf))
            score, count = float(short), count + 1
        wanted.append(score)
        last = (query, short)
    assert (found.tolist(), changed) == (wanted, count)


def test_by_command_line_a_project_goes_out_and_comes_back(tmp_path: Path) -> None:
    """The joins: votes from and into the label store, the card's facts, what is told in JSON."""
    from eds.benchmarks.formats import hf

    def run(*words: object) -> dict[str, object]:
        done = CliRunner().invoke(cli, [*map(str, words), "--json"], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        answer: dict[str, object] = json.loads(done.stdout)
        return answer

    with export_folder(tmp_path / "given") as folder:
        hf.write(benchmark(tmp_path / "root"), folder)
    run("init", tmp_path / "a")
    run("benchmarks", "import", "hf", tmp_path / "given", "-p", tmp_path / "a")
    for kind in ("vsd", "trec", "hf", "croissant", "label-studio", "votes"):
        told = run("benchmarks", "export", kind, tmp_path / kind, "-p", tmp_path / "a", "--licence", "mit")
        assert isinstance(told["not_held"], list)
        assert (not told["not_held"]) == (kind == "hf")
        card = (tmp_path / kind / "README.md").read_text(encoding="utf-8")
        assert "3 experts gave" in card
        assert "Krippendorff's alpha" in card
        assert verify_checksums([tmp_path / kind]) == []
    run("init", tmp_path / "b")
    run("benchmarks", "import", "hf", tmp_path / "hf", "-p", tmp_path / "b")
    run("benchmarks", "export", "hf", tmp_path / "again", "-p", tmp_path / "b", "--licence", "mit")
    for file in sorted((tmp_path / "hf").rglob("*.parquet")):
        other = tmp_path / "again" / file.relative_to(tmp_path / "hf")
        assert other.read_bytes() == file.read_bytes(), file
    hidden = run("benchmarks", "export", "votes", tmp_path / "hidden", "-p", tmp_path / "a", "--hide-experts")
    assert hidden["format"] == "votes"
    assert "Zoë" not in (tmp_path / "hidden" / "votes.csv").read_text(encoding="utf-8")


def test_vsd_comes_back_with_its_votes(tmp_path: Path) -> None:
    from eds.benchmarks.formats import vsd

    with export_folder(tmp_path / "out") as folder:
        vsd.write(benchmark(paths=True), folder)
    CliRunner().invoke(cli, ["init", str(tmp_path / "p")], catch_exceptions=False)
    files = [
        word
        for name in ("metadata", "seeds", "annotations", "manifest")
        for word in (f"--{name}", str(tmp_path / "out" / f"{name}.json"))
    ]
    words = [
        "benchmarks",
        "import",
        "vsd",
        *files,
        "--votes",
        str(tmp_path / "out" / "votes.jsonl"),
        "-p",
        str(tmp_path / "p"),
    ]
    done = CliRunner().invoke(cli, [*words, "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["votes"] == len((tmp_path / "out" / "votes.jsonl").read_text().splitlines())
    (tmp_path / "out" / "metadata.json").write_text("{}")
    done = CliRunner().invoke(cli, words)
    assert "does not match SHA256SUMS" in str(done.exception)
