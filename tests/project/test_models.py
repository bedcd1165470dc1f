"""Models and their roles: what makes the pool, what is only compared, and what is removed or renamed."""

import json
import shutil
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eds.cli.render_analyses import render_analysis
from eds.errors import ConfigError, DeclinedError, InputError
from eds.project import Project
from eds.project.models import find_model
from eds.tables import Provenance
from tests.project.shops import Design, Shop, draw_shop, judge, make_project

DESIGN = Design(products=40, queries=12, models=3)


@pytest.fixture(scope="module")
def shop() -> Shop:
    return draw_shop(DESIGN, 3)


@pytest.fixture(scope="module")
def made(shop: Shop, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Two generators, a pool of them, and a label for each of its pairs."""
    folder = tmp_path_factory.mktemp("made")
    result = make_project(shop, folder, {"neighbors.k": 20, "suspects.k": 3})
    result.remove_model("m2")
    result.mine()
    result.pool()
    judge(shop, result, result.read("suspects"), folder / "votes.csv")
    return result


@pytest.fixture
def project(made: Project, tmp_path: Path) -> Project:
    """A copy of it, with the files beside it."""
    shutil.copytree(made.root.parent, tmp_path, dirs_exist_ok=True)
    return Project.open(tmp_path / made.root.name)


def bring(project: Project, shop: Shop, folder: Path, name: str = "m2", **options: Any) -> None:
    """Import the vectors of the third model."""
    np.save(folder / f"{name}.npy", shop.vectors["m2"])
    project.import_vectors(name, folder / f"{name}.npy", folder / "ids.txt", **options)


def roles(project: Project) -> dict[str, str]:
    return {item.name: item.role for item in project.list_models().models}


def test_a_model_that_is_only_scored_never_makes_the_pool(shop: Shop, project: Project, tmp_path: Path) -> None:
    before = project.read("suspects")
    new = {"ours": str(tmp_path / "m2.npy")}
    np.save(tmp_path / "m2.npy", shop.vectors["m2"])
    first = project.score("VSD-HR@3", new=new, ids={"ours": tmp_path / "ids.txt"}, resamples=0)
    assert first.comparison.newcomers == ("ours",)
    project.run()
    assert roles(project)["ours"] == "evaluated"
    assert project.read("suspects").equals(before)
    assert project.score("VSD-HR@3", resamples=0).comparison.newcomers == ("ours",)


def test_a_model_that_comes_after_the_labels_is_evaluated_unless_told_otherwise(
    shop: Shop, project: Project, tmp_path: Path
) -> None:
    bring(project, shop, tmp_path, "late")
    bring(project, shop, tmp_path, "asked", role="generator")
    assert roles(project) == {
        "m0": "generator",
        "m1": "generator",
        "asked": "generator",
        "late": "evaluated",
        "m2": "removed",
    }
    project.mine()
    planned = project.pool(dry_run=True)
    grown = project.pool()
    assert planned.price == grown.price
    assert grown.price.pairs == grown.new > 0
    assert not project.read("suspects")["sources"].str.contains("late").any()
    assert project.score("VSD-HR@3", resamples=0).comparison.newcomers == ("asked", "late"), (
        "what only the new generator found is not judged yet"
    )


def test_a_delta_pool_does_not_make_a_model_a_generator(shop: Shop, project: Project, tmp_path: Path) -> None:
    bring(project, shop, tmp_path)
    project.mine()
    project.add_model_pairs("m2", k=3)
    judge(shop, project, project.read("suspects"), tmp_path / "more.csv")
    bias = project.analyse("bias", k=3, other_models=("m2",)).tables["models"].set_index("model")["generator"]
    assert bias.to_dict() == {"m0": True, "m1": True, "m2": False}
    assert project.score("VSD-HR@3", resamples=0).comparison.newcomers == ("m2",)
    assert roles(project)["m2"] == "evaluated"


def test_who_names_a_model_for_the_pool_makes_it_a_generator(shop: Shop, project: Project, tmp_path: Path) -> None:
    bring(project, shop, tmp_path)
    project.mine()
    project.pool(["m2"], dry_run=True)
    assert roles(project)["m2"] == "evaluated"
    project.pool(["m0", "m1", "m2"])
    assert roles(project)["m2"] == "generator"


def test_nothing_is_added_where_nobody_agrees(shop: Shop, project: Project, tmp_path: Path) -> None:
    def refuse(price: Any) -> None:
        raise DeclinedError(price.text)

    bring(project, shop, tmp_path, role="generator")
    before = project.read("suspects")
    project.approve = refuse
    done = project.run()
    assert done.price is None
    assert {"neighbors", "scores", "report"} <= set(done.made), "what costs nothing is made"
    with pytest.raises(DeclinedError, match="judgements"):
        project.pool()
    with pytest.raises(DeclinedError):
        project.draw_random(20)
    assert project.read("suspects").equals(before)


def test_models_of_older_projects_have_the_roles_that_the_pool_says(
    shop: Shop, project: Project, tmp_path: Path
) -> None:
    bring(project, shop, tmp_path)
    file = project.root / "eds.toml"
    file.write_text(file.read_text().partition("[[models]]")[0])
    again = Project.open(project.root)
    assert roles(again) == {"m0": "generator", "m1": "generator", "m2": "evaluated"}
    again.add_model("m2", role="generator")
    assert roles(Project.open(project.root)) == dict.fromkeys(["m0", "m1", "m2"], "generator")


def test_comments_in_eds_toml_stay(project: Project) -> None:
    file = project.root / "eds.toml"
    text = file.read_text().replace('name = "m0"', 'name = "m0"  # the old one')
    file.write_text(f"# ours\n{text}")
    project.add_model("x=descriptor:hsv", role="evaluated")
    changed = file.read_text()
    assert changed.startswith("# ours\n")
    assert 'name = "m0"  # the old one' in changed
    assert tomllib.loads(changed)["models"][-1] == {"name": "x", "spec": "descriptor:hsv", "role": "evaluated"}


def test_tables_of_models_stand_apart_in_eds_toml(project: Project) -> None:
    for name in ("x", "y"):
        project.add_model(f"{name}=descriptor:hsv", role="evaluated")
        project.remove_model(name)
    lines = (project.root / "eds.toml").read_text().splitlines()
    before = [lines[at - 1] for at, line in enumerate(lines) if line == "[[models]]"]
    assert len(before) >= 4
    assert all(not line or line.startswith("#") for line in before)


@pytest.mark.parametrize(
    "text", ['name = "a"\nrole = "z"', 'role = "evaluated"', 'name = "m0"', 'name = "a"\nrol = ""']
)
def test_faults_of_model_tables_are_told(project: Project, text: str) -> None:
    file = project.root / "eds.toml"
    file.write_text(f"{file.read_text()}\n[[models]]\n{text}\n")
    with pytest.raises(ConfigError, match=r"\[\[models\]\]"):
        Project.open(project.root)


def test_a_removed_model_leaves_its_pairs_and_labels(project: Project) -> None:
    project.score("VSD-HR@3", resamples=0)
    suspects, truth = project.read("suspects"), project.read("truth")
    planned = project.remove_model("m1", dry_run=True)
    assert {item.role for item in planned.models} == {"generator", "removed"}
    assert project.models("embeddings") == ["m0", "m1"]
    project.remove_model("m1")
    assert project.models("embeddings") == project.models("neighbors") == ["m0"]
    assert set(project.read("scores")["model"]) == {"m0"}
    project.run()
    assert project.read("truth").equals(truth)
    pairs = ["query_id", "candidate_id", "position", "sources"]
    assert project.read("suspects")[pairs].equals(suspects[pairs])
    assert {state.condition for state in project.status().tables} == {"fresh"}
    with pytest.raises(InputError, match="no model 'm1'"):
        project.remove_model("m1")


def test_a_renamed_model_has_its_new_name_everywhere_and_stays_fresh(project: Project) -> None:
    project.score("VSD-HR@3", resamples=0)
    before = {state.path: state.condition for state in project.states()}
    value = project.read("scores").set_index("model")["value"].to_dict()
    project.rename_model("m1", "first")
    assert roles(project) == {"first": "generator", "m0": "generator", "m2": "removed"}
    assert {state.path.replace("first", "m1"): state.condition for state in project.states()} == before
    assert project.read("scores").set_index("model")["value"].to_dict() == {"m0": value["m0"], "first": value["m1"]}
    assert project.score("VSD-HR@3", resamples=0).comparison.generators == ("first", "m0")
    assert project.pool().new == 0
    with pytest.raises(InputError, match="already"):
        project.rename_model("first", "m0")


def test_a_model_is_found_by_its_spec_and_by_the_end_of_its_name(shop: Shop, project: Project, tmp_path: Path) -> None:
    project.rename_model("m1", "wheel-m1")
    assert {row.model for row in project.mine(["m1"], force=True).lists} == {"wheel-m1"}
    scores = project.score("VSD-HR@3", models=["m1", "m0"], resamples=0)
    assert set(scores.table["model"]) == {"wheel-m1", "m0"}
    bring(project, shop, tmp_path, "checkpoint-m1")
    with pytest.raises(Exception, match="no vectors of m1"):
        project.mine(["m1"])


def test_a_model_that_learned_from_the_labels_is_marked_wherever_its_value_stands(
    shop: Shop, project: Project, tmp_path: Path
) -> None:
    bring(project, shop, tmp_path, "plain")
    before = project.score("ROC-AUC", resamples=0).comparison["ROC-AUC"]
    file = project.root / "eds.toml"
    text = file.read_text().replace('name = "plain"', 'name = "plain"\ntrained_on = ["labels"]')
    file.write_text(text)
    assert before["plain"].ranked
    scores = project.score("ROC-AUC", resamples=0)
    marked = scores.comparison["ROC-AUC"]["plain"]
    assert (marked.trained_on, marked.ranked, marked.best) == (("labels",), False, False)
    assert {row["model"]: row["trained_on"] for row in scores.rows()}["plain"] == ["labels"]
    assert "these labels" in scores.notes[0]
    assert {item.not_for for item in scores.fairness} == {("plain",)}
    assert scores.summary.set_index("model")["trained on"].to_dict() == {"m0": "", "m1": "", "plain": "labels"}
    board = project.leaderboard(tmp_path / "board.html", measures=["VSD-HR@3", "ROC-AUC"], resamples=0)
    assert {row.name: row.trained_on for row in board.rows if row.trained_on} == {"plain": ("labels",)}
    assert all(
        "trained on these labels" in (tmp_path / name).read_text() for name in ("board.html", "board.md", "board.json")
    )
    assert not any("plain -k" in note for note in board.notes), "no judgement would rank it"
    project.report(tmp_path / "report.html", resamples=0, pictures=False)
    sections = json.loads((tmp_path / "report.json").read_text())["sections"]
    tables = [block for section in sections for block in section["blocks"] if block["kind"] == "table"]
    named = [row for block in tables for row in block["rows"] if row.get("model") == "plain"]
    assert len(named) > 2
    assert all(row["trained_on"] == ["labels"] for row in named)
    assert all(
        "trained_on" not in row or not row["trained_on"]
        for block in tables
        for row in block["rows"]
        if row.get("model") in ("m0", "m1")
    )
    assert "plain †" in (tmp_path / "report.html").read_text()
    for name in ("bias", "leave-one-out"):
        analysis = project.analyse(name)
        document = json.loads(analysis.file.read_text())
        assert document["trained_on"] == {"plain": ["labels"]}
        assert "plain †" in render_analysis(analysis) or "new †" in render_analysis(analysis)


def test_a_generator_that_learned_from_the_labels_is_marked_where_the_work_stands(project: Project) -> None:
    assert "trained on" not in project.standing().looking
    file = project.root / "eds.toml"
    file.write_text(file.read_text().replace('name = "m0"', 'name = "m0"\ntrained_on = ["labels"]'))
    assert "m0: trained on these labels" in Project.open(project.root).standing().looking


def test_the_codes_of_a_head_have_seen_what_it_was_fitted_to(shop: Shop, project: Project) -> None:
    from eds.project.train import HashOptions

    options = HashOptions(base="m0", bits=8, epochs=1, labels="truth", objective="dsh")
    project.train_hash("codes", options)
    assert {item.name: item.trained_on for item in project.list_models().models}["codes"] == ("labels",)
    assert roles(project)["codes"] == "evaluated"
    assert tomllib.loads((project.root / "eds.toml").read_text())["models"][-1]["trained_on"] == ["labels"]


def test_a_new_model_is_scored_beside_the_generators_and_other_rows_stay(
    shop: Shop, project: Project, tmp_path: Path
) -> None:
    bring(project, shop, tmp_path, "late")
    project.score("VSD-HR@3", resamples=0)
    first = project.read("scores").set_index(["model", "measure"])["value"]
    found = project.score("RR@3", models=["late"], resamples=0)
    assert set(found.table["model"]) == {"m0", "m1", "late"}
    table = project.read("scores").set_index(["model", "measure"])["value"]
    assert len(table) == 6
    assert table.loc[first.index].to_dict() == first.to_dict()
    assert project.state("scores").condition == "fresh"
    again = project.score("VSD-HR@3", models=["late"], resamples=0)
    assert set(again.table["measure"]) == {"VSD-HR@3"}
    assert project.read("scores").set_index(["model", "measure"])["value"].to_dict() == table.to_dict()
    project.score("VSD-HR@3", resamples=0, with_random=True)
    assert set(project.read("scores")["measure"]) == {"VSD-HR@3"}, "values that were made otherwise are not mixed in"


def test_vectors_are_brought_up_to_date_without_naming_a_model(tmp_path: Path) -> None:
    project = Project.create(tmp_path / "p")
    project.draw_catalogue(products=4, views=2, wild=0, size=32, workers=1)
    images = project.read("images")
    project.write(images.head(6), "images", Provenance("images.scan"))
    project.embed(["colour=descriptor:hsv"])
    (project.root / "mine.py").write_text(
        "import numpy as np\n"
        "from eds.backbones.preprocessing import Preprocessing\n"
        "class Own:\n"
        "    def __init__(self, request):\n"
        "        steps = Preprocessing('squash', 32, 'bilinear', None, 'RGB', mean=(0, 0, 0), std=(1, 1, 1))\n"
        "        self.spec = request.spec(steps, dimension=2, runtime='numpy', normalise=False)\n"
        "    def encode(self, batch):\n"
        "        return batch.reshape(len(batch), -1)[:, :2].astype('float32') + 1\n"
    )
    project.embed(["own=mine:Own"])  # a module in the project's folder
    project.write(images, "images", Provenance("images.scan"))
    found = project.embed()
    assert {item.model: item.computed for item in found.models} == {"colour": 2, "own": 2}
    assert {state.condition for state in project.states() if state.table == "embeddings"} == {"fresh"}


def test_two_recorded_models_of_one_spec_both_get_vectors(tmp_path: Path) -> None:
    project = Project.create(tmp_path / "twins")
    project.draw_catalogue(products=4, views=1, wild=0, size=32)
    project.embed(["first=descriptor:hsv"])
    project.add_model("second=descriptor:hsv", role="evaluated")
    project.embed()
    assert project.models("embeddings") == ["first", "second"]


def test_negatives_need_a_generator(project: Project) -> None:
    for name in ("m0", "m1"):
        project.add_model(name, role="evaluated")
    with pytest.raises(InputError, match="no generator has lists"):
        project.draw_negatives(1, min_rank=2, max_rank=4)


def test_the_name_of_a_preset_names_a_model_of_its_spec(tmp_path: Path) -> None:
    project = Project.create(tmp_path / "p")
    project.add_model("ours=wheel:efficientnet_lite0")
    assert find_model(project, "lite0", whole=True) == "ours"  # it is not computed a second time
    assert find_model(project, "lite1", whole=True) == "lite1"
    assert find_model(project, "second=lite0", whole=True) == "second=lite0"
