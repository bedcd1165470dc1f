"""Files of votes that others wrote: their columns and answers, and what never comes in."""

from pathlib import Path

import pandas as pd
import pytest

from eds.errors import InputError
from eds.labels import vote_columns, vote_files
from eds.project import Project
from tests.project.shops import PAIR, Design, Shop, draw_shop, make_project


@pytest.fixture
def shop() -> Shop:
    return draw_shop(Design(products=30, queries=8, models=2, prevalence=0.06), 1)


@pytest.fixture
def project(shop: Shop, tmp_path: Path) -> Project:
    made = make_project(shop, tmp_path)
    made.mine(k=12)
    made.pool(k=3)
    made.draw_random(10)
    return made


def votes_of(shop: Shop, project: Project) -> pd.DataFrame:
    """What two experts say of every suspect."""
    pairs = project.read("suspects")[PAIR].drop_duplicates()
    voted = pairs.assign(value=shop.value(pairs))
    return pd.concat([voted.assign(expert_id=name) for name in ("ann", "bob")], ignore_index=True)


OTHERS = {"query_id": "Query", "candidate_id": "candidate", "expert_id": "Rater", "value": "label"}


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_usual_names_answers_and_delimiters_are_recognised_and_told(
    shop: Shop, project: Project, tmp_path: Path, separator: str
) -> None:
    votes = votes_of(shop, project)
    theirs = votes.assign(value=votes["value"].map({1: "Yes", 0: "no"}), seconds="3,5").rename(columns=OTHERS)
    theirs.to_csv(tmp_path / "v.csv", sep=separator, index=False, encoding="utf-8-sig")
    with pytest.raises(InputError, match=r"2 experts have no account \(ann, bob\)"):
        project.labels.import_votes(tmp_path / "v.csv", "crowd")
    done = project.labels.import_votes(tmp_path / "v.csv", "crowd", new_experts=True)
    assert (done.added, done.suspects, done.pairs) == (len(votes), len(votes) // 2, len(votes) // 2)
    assert (done.delimiter, done.columns["value"], done.answers) == (
        separator,
        "label",
        {"Yes": "similar", "no": "different"},
    )
    assert (done.new_campaign, done.new_experts) == (True, ("ann", "bob"))
    stored = project.read("labels")
    assert set(stored["seconds"]) == {3.5}
    merged = stored.merge(votes, on=[*PAIR, "expert_id"])
    assert (merged["value_x"] == merged["value_y"]).all()
    theirs[[*OTHERS.values()]].to_csv(tmp_path / "bare.csv", sep=separator, index=False, header=False)
    again = project.labels.import_votes(tmp_path / "bare.csv", "crowd")
    assert (again.added, again.already, again.header) == (0, len(votes), False)


def test_columns_and_answers_of_any_name_are_mapped(shop: Shop, project: Project, tmp_path: Path) -> None:
    votes = votes_of(shop, project)
    file = tmp_path / "v.csv"
    votes.assign(value=votes["value"].map({1: "A", 0: "B"})).set_axis(["left", "right", "said", "who"], axis=1).to_csv(
        file, index=False, sep=";"
    )
    columns = {"query_id": "left", "candidate_id": "right", "expert_id": "who", "value": "said"}
    for wrong, values, told in (
        ({}, {}, "columns are not those of votes"),
        ({**columns, "value": "none"}, {}, "not those of votes|has no column none"),
        (columns, {}, f"{len(votes):,} answers are unknown"),
        (columns, {"A": "similar"}, "answers are unknown: 'b'"),
        (columns, {"A": "maybe"}, "the answer is"),
    ):
        with pytest.raises(InputError, match=told):
            project.labels.import_votes(file, "c", columns=wrong, values=values, new_experts=True)
    done = project.labels.import_votes(
        file, "c", columns=columns, values={"A": "similar", "B": "different"}, new_experts=True
    )
    assert done.added == len(votes)
    assert project.read("labels")["value"].sum() == votes["value"].sum()
    with pytest.raises(InputError, match="could both be value"):
        vote_columns.rename(pd.DataFrame(columns=["query", "candidate", "rater", "label", "vote"]), {}, {}, "f")


def test_swapped_columns_and_unknown_images_never_come_in(shop: Shop, project: Project, tmp_path: Path) -> None:
    votes = votes_of(shop, project)
    swapped = votes.rename(columns={"query_id": "candidate_id", "candidate_id": "query_id"})
    ghost = votes.copy()
    ghost.loc[3, "candidate_id"] = "nosuch.png"
    for frame, told in (
        (swapped, "look swapped.*--map query_id=candidate_id,candidate_id=query_id"),
        (ghost, "row 4: candidate_id 'nosuch.png' is no image"),
    ):
        frame.to_csv(tmp_path / "v.csv", index=False)
        with pytest.raises(InputError) as error:
            project.labels.import_votes(tmp_path / "v.csv", "c", new_experts=True, new_pairs=True)
        assert pd.Series([error.value.what, *error.value.faults]).str.contains(told).any()
    assert not project.path("labels").exists()
    swapped.to_csv(tmp_path / "v.csv", index=False)
    back = {"query_id": "candidate_id", "candidate_id": "query_id"}
    assert project.labels.import_votes(tmp_path / "v.csv", "c", columns=back, new_experts=True).added == len(votes)


def test_pairs_that_are_no_suspects_need_a_word(shop: Shop, project: Project, tmp_path: Path) -> None:
    votes = votes_of(shop, project)
    images = shop.images
    queries, candidates = images[images["role"] != "candidate"], images[images["role"] != "query"]
    every = queries[["image_id"]].merge(candidates[["image_id"]], how="cross").set_axis(PAIR, axis=1)
    new = every[every["query_id"] != every["candidate_id"]].merge(
        votes[PAIR].drop_duplicates(), how="left", indicator=True
    )
    extra = new[new["_merge"] == "left_only"][PAIR].head(5).assign(value=0, expert_id="ann")
    pd.concat([votes, extra]).to_csv(tmp_path / "v.csv", index=False)
    with pytest.raises(InputError, match=r"5 of .* pairs are not suspects: --new-pairs takes them"):
        project.labels.import_votes(tmp_path / "v.csv", "c", new_experts=True)
    done = project.labels.import_votes(tmp_path / "v.csv", "c", new_experts=True, new_pairs=True)
    assert done.pairs - done.suspects == 5


def test_seconds_of_json_are_numbers_and_those_out_of_range_are_told(
    shop: Shop, project: Project, tmp_path: Path
) -> None:
    votes = votes_of(shop, project)
    votes.assign(seconds=2.5).to_json(tmp_path / "v.jsonl", orient="records", lines=True)
    assert project.labels.import_votes(tmp_path / "v.jsonl", "crowd", new_experts=True).added == len(votes)
    assert set(project.read("labels")["seconds"]) == {2.5}
    votes.assign(seconds=9.2e18).to_json(tmp_path / "w.jsonl", orient="records", lines=True)
    with pytest.raises(InputError, match="seconds is not a number from 0 to"):
        project.labels.import_votes(tmp_path / "w.jsonl", "others", new_experts=True)


def test_a_json_line_without_an_answer_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "v.jsonl"
    file.write_text('{"query": "q", "candidate": "c", "rater": "a"}\n', encoding="utf-8")
    with pytest.raises(InputError, match="has no value"):
        vote_files.read(file, "jsonl")
