"""Hash heads: they learn, they are the same each time, a killed run ends as an uninterrupted one, bad input is told."""

import os
import signal
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd
import pytest
import torch
from tensorboardX.proto import event_pb2

from eds.backbones.hash_head import Head, restore_head
from eds.backbones.tensor_file import read_tensors
from eds.choices import HashObjective
from eds.errors import EdsError, InputError
from eds.hashing.collisions import mlgap
from eds.hashing.single_ranking import ap_at_p
from eds.training import loop
from eds.training.baselines import pca_sign
from eds.training.batches import epoch_batches, split
from eds.training.code_score import draw_queries, measure_codes, score_codes, tied_lists
from eds.training.hash_head import HashRun, fit_hash_head, load_head
from eds.training.hash_losses import Pairing, Scale
from eds.training.hash_objective import Design
from eds.training.plan import Plan
from eds.training.supervision import Supervision, supervise

PLAN = Plan(epochs=6, patience=6, seed=3, warm_up=0, validation_share=0.2)
PRODUCTS, VIEWS, DIMENSION = 40, 4, 24


def catalogue() -> pd.DataFrame:
    names = [f"p{product:02d}/{view}" for product in range(PRODUCTS) for view in range(VIEWS)]
    frame = pd.DataFrame({"image_id": names, "product_id": [name[:3] for name in names]})
    return frame.assign(category=[f"c{int(name[1:3]) % 4}" for name in names])


def fitted_to_one_class(folder: Path, design: Design) -> HashRun:
    labels = supervise("category", catalogue().assign(category="c"))
    return fit_hash_head(vectors(), labels, design, PLAN, folder, {"model": "base"})


def vectors(seed: int = 0) -> np.ndarray:
    """Products are near each other in the quiet directions; the loud ones say nothing."""
    rng = np.random.default_rng(seed)
    loud = np.arange(DIMENSION) < 12
    middle = np.repeat(rng.normal(size=(PRODUCTS, DIMENSION)) * ~loud, VIEWS, axis=0)
    noise = rng.normal(size=middle.shape) * np.where(loud, 2.0, 0.2)
    return (middle + noise).astype(np.float32)


def fitted(folder: Path, design: Design, labels: str = "product", plan: Plan = PLAN) -> HashRun:
    return fit_hash_head(vectors(), supervise(labels, catalogue()), design, plan, folder, {"model": "base"})


def test_trained_codes_beat_the_baselines_on_products_never_seen(tmp_path: Path) -> None:
    plan = replace(PLAN, epochs=30, patience=30)
    found = {}
    for name in ("talr-ap", "pca-sign", "itq"):
        test = fitted(tmp_path / name, Design(bits=16, objective=name), plan=plan).test
        assert test is not None
        found[name] = test.expected
    assert found["talr-ap"] > 1.3 * max(found["pca-sign"], found["itq"])


@pytest.mark.parametrize("objective", get_args(HashObjective))
def test_every_objective_falls_and_its_codes_get_better(objective: str, tmp_path: Path) -> None:
    labels = "both" if objective == "two-level-dsh" else "product"
    plan = replace(PLAN, epochs=60, patience=60, learning_rate=1e-2)
    found = fitted(tmp_path, Design(bits=16, objective=objective), labels, plan)
    assert found.rows[-1]["loss"] < found.rows[0]["loss"]
    assert found.validation_score > found.rows[0]["validation_score"]


def test_the_same_seed_gives_the_same_bytes_and_another_one_others(tmp_path: Path) -> None:
    first, again, other = (
        fitted(tmp_path / name, Design(bits=8), plan=replace(PLAN, seed=seed)).file.read_bytes()
        for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    assert first == again != other


def test_neither_the_order_of_rows_nor_the_callers_random_state_matters(tmp_path: Path) -> None:
    plain = fitted(tmp_path / "a", Design(bits=8))
    torch.manual_seed(99)
    mixed = supervise("product", catalogue().sample(frac=1, random_state=1))
    other = fit_hash_head(vectors(), mixed, Design(bits=8), PLAN, tmp_path / "b", {"model": "base"})
    assert plain.sha256 == other.sha256


def test_a_run_is_logged_for_tensorboard_epoch_by_epoch(tmp_path: Path) -> None:
    plain = fitted(tmp_path / "plain", Design(bits=8))
    logged = fitted(tmp_path / "run", Design(bits=8), plan=replace(PLAN, log="tensorboard"))
    assert logged.sha256 == plain.sha256
    (file,) = (tmp_path / "run" / "tensorboard").iterdir()
    content, found = file.read_bytes(), dict[str, list[float]]()
    while content:  # records: length, its check sum, the event, its check sum
        size = int.from_bytes(content[:8], "little")
        event = event_pb2.Event.FromString(content[12 : 12 + size])
        for value in event.summary.value:
            found.setdefault(value.tag, []).append(value.simple_value)
        content = content[16 + size :]
    assert found["loss"] == pytest.approx([row["loss"] for row in logged.rows])
    assert set(found) == {"loss", "validation_score", "learning_rate", "seconds"}
    again = fitted(tmp_path / "plain", Design(bits=8), plan=replace(PLAN, log="tensorboard"))
    assert again.resumed_at == len(plain.rows)  # how a run is logged is not part of what it is


KILLED = """
    import os, signal, sys
    from pathlib import Path
    from eds.io.files import unfinished
    from eds.training import loop
    from tests.training.test_hash_head import Design, fitted

    kept, saved = loop.save, []

    def save(path, state):
        saved.append(state.epoch)
        if len(saved) == 3:
            Path(sys.argv[1], "dying").touch()
            unfinished(path).write_bytes(b"half")
            os.kill(os.getpid(), signal.SIGKILL)
        kept(path, state)

    loop.save = save
    fitted(Path(sys.argv[1]), Design(bits=8, head="mlp", hidden=16))
"""


def test_a_run_killed_in_the_middle_ends_with_the_weights_of_one_that_never_stopped(tmp_path: Path) -> None:
    design = Design(bits=8, head="mlp", hidden=16)
    whole = fitted(tmp_path / "whole", design)
    there = tmp_path / "killed"
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILLED), str(there)],
        cwd=root,
        check=False,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    assert (there / "dying").exists()
    resumed = fitted(there, design)
    assert resumed.resumed_at == 2
    assert resumed.sha256 == whole.sha256
    heads = {(folder / loop.LOG).read_text().splitlines()[0] for folder in (there, tmp_path / "whole")}
    assert heads == {"epoch,loss,validation_score,learning_rate,seconds"}
    ours, theirs = (read_tensors(folder / loop.STATE)[0] for folder in (there, tmp_path / "whole"))
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(tensor, theirs[name]) for name, tensor in ours.items())
    assert not list(there.glob(".*.tmp"))


def test_a_loss_that_is_no_number_stops_and_keeps_the_last_good_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from eds.training import hash_head

    def poisoned(self: hash_head._HashTask, rows: np.ndarray, epoch: int) -> torch.Tensor:
        return plain(self, rows, epoch) * (float("nan") if epoch == 2 else 1.0)

    plain = hash_head._HashTask.loss
    monkeypatch.setattr(hash_head._HashTask, "loss", poisoned)
    with pytest.raises(EdsError, match=r"the loss is nan in epoch 3, batch 1; the checkpoint after epoch 2 is kept"):
        fitted(tmp_path, Design(bits=8))
    tensors, told = read_tensors(tmp_path / loop.STATE)
    assert told["epoch"] == 2
    assert all(torch.isfinite(tensor).all() for tensor in tensors.values())
    assert len((tmp_path / loop.LOG).read_text().splitlines()) == 3


def test_a_finished_head_reads_back_and_gives_the_same_codes(tmp_path: Path) -> None:
    found = fitted(tmp_path, Design(bits=12, head="mlp", hidden=8))
    again = load_head(found.file)
    np.testing.assert_array_equal(again.codes(vectors()), found.head.codes(vectors(), block=7))


def test_components_are_those_of_a_singular_value_decomposition() -> None:
    points = vectors()
    head = pca_sign.fit(points, 5, 0)
    _, _, right = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    parts = (points - points.mean(axis=0)) @ right[:5].T
    codes = head.codes(points)
    agree = (np.sign(parts) == codes).mean(axis=0)
    assert (np.maximum(agree, 1 - agree) > 0.999).all()


def test_the_held_out_score_is_the_mean_over_orders_of_ties() -> None:
    """Many random orders of equal distances, each ranked plainly, average to it."""
    rng = np.random.default_rng(5)
    codes = rng.choice([-1, 1], (12, 3)).astype(np.int8)
    labels = Supervision("product", [f"{row:02d}" for row in range(12)], np.arange(12) // 3)
    rows = np.arange(12)
    means = []
    for query in rows:
        others = rows[rows != query]
        apart = (codes[others] != codes[query]).sum(axis=1)
        drawn = []
        for _ in range(1500):
            order = np.lexsort((rng.random(len(others)), apart))
            drawn.append(ap_at_p((others[order] // 3 == query // 3).astype(int).tolist(), 11)["total"])
        means.append(np.mean(drawn))
    assert score_codes(codes, labels, rows) == pytest.approx(np.mean(means), abs=0.01)
    assert tied_lists(codes, labels, rows).counts.sum() == 12 * 11


def test_queries_are_drawn_from_the_whole_split_not_its_first_ids() -> None:
    """A catalogue in the order of its categories: the codes tell the first category apart, the others not at all."""
    classes = np.repeat(np.arange(10), 300)
    codes = np.ones((3000, 4), np.int8)
    codes[classes == 0] = -1
    labels = Supervision("category", [f"{row:04d}" for row in range(3000)], np.arange(3000), category=classes)
    rows = np.arange(3000)
    score = measure_codes(codes, labels, rows)
    own, others = 1.0, 299 / 2699  # expected AP of a list without order is its share of positives, nearly
    assert score.expected == pytest.approx(own / 10 + others * 9 / 10, abs=0.02)
    assert score.pessimistic is not None
    assert score.optimistic is not None
    assert score.pessimistic < score.expected < score.optimistic
    assert (score.queries, score.drawn, score.items, score.codes_in_use) == (2000, 2000, 3000, 2)
    assert score_codes(codes, labels, rows) == score.expected
    relevant = (classes[draw_queries(rows)][:, None] == classes) & (draw_queries(rows)[:, None] != rows)
    assert score.mlgap == mlgap(codes[draw_queries(rows)], codes, relevant, 2)


def test_a_product_stands_on_one_side_and_every_row_in_one_batch() -> None:
    labels = supervise("product", catalogue())
    parts = split(labels, 0.1, 0.25, 7)
    train = parts.train
    sides = [set(labels.product[rows].tolist()) for rows in (train, parts.validation, parts.test)]
    assert [len(side) for side in sides] == [26, 4, 10]
    assert len(set.union(*sides)) == PRODUCTS
    batches = epoch_batches(train, labels.partners(train), 16, 4, 7, 0)
    assert sorted(np.concatenate(batches).tolist()) == train.tolist()
    assert all(len(np.unique(labels.product[part], return_counts=True)[1]) <= 5 for part in batches)
    assert min(map(len, batches)) > 1


def test_truth_is_taken_both_ways_and_torn_pairs_are_told() -> None:
    images = catalogue()
    rows = [("p00/0", "p01/0", 1), ("p02/0", "p03/0", 0), ("p04/0", "p05/0", 1), ("p05/0", "p04/0", 0)]
    truth = pd.DataFrame(rows, columns=["query_id", "candidate_id", "value"])
    with pytest.raises(InputError, match="not symmetric: 1 pairs"):
        supervise("truth", images, truth)
    found = supervise("truth", images, truth, one_way_as_negative=True)
    place = {name: row for row, name in enumerate(found.ids)}
    few = np.array([place[name] for name in ("p00/0", "p01/0", "p02/0", "p03/0", "p04/0", "p05/0", "p00/1")])
    affinity = found.affinity(few, few)
    assert np.array_equal(affinity, affinity.T)
    assert (affinity[0, 1], affinity[2, 3], affinity[4, 5], affinity[0, 6]) == (1, 0, 0, 1)


@pytest.mark.parametrize(
    ("act", "told"),
    [
        (lambda folder: fitted(folder, Design(bits=65)), "65 bits"),
        (lambda folder: fitted(folder, Design(bits=0)), "0 bits"),
        (lambda folder: fitted(folder, Design(objective="two-level-dsh")), "two levels"),
        (lambda folder: fitted(folder, Design(bits=32, objective="pca-sign")), "32 bits of"),
        (lambda folder: Plan(batch=1, epochs=0), "batch is 1"),
        (lambda folder: Plan(validation_share=0.5, test_share=0.5), "1 together"),
        (lambda folder: Plan(keep="first"), "keep is 'first'"),
        (lambda folder: fitted(folder, Design(), plan=Plan(validation_share=0.02)), "too few for three parts"),
        (lambda folder: Pairing(margin=0.0), "the margin is 0.0"),
        (lambda folder: Pairing(alpha=-1.0), "alpha is -1.0"),
        (lambda folder: fitted(folder, Design(pairing=Pairing(alpha=0.1))), "neither margin nor alpha"),
        (lambda folder: Scale.parse("0:3"), "scale of tanh"),
        (lambda folder: supervise("truth", catalogue()), "no decided pairs"),
        (lambda folder: supervise("category", catalogue().assign(category=None)), "160 images have no category"),
        (lambda folder: fitted_to_one_class(folder, Design()), "training images are of one class"),
        (lambda folder: fitted_to_one_class(folder, Design(8, "itq")), "training images are of one class"),
        (lambda folder: restore_head(4, 2, "linear", 1, Head(5, 2).state_dict()), "another architecture"),
        (lambda folder: load_head(folder / "none"), "damaged"),
    ],
)
def test_bad_input_is_told(act: object, told: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        act(tmp_path)  # type: ignore[operator]
    assert told in str(error.value)


def test_another_run_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    fitted(tmp_path, Design(bits=8))
    with pytest.raises(InputError, match="the folder holds another run"):
        fitted(tmp_path, Design(bits=9))


def test_the_last_epoch_is_kept_if_it_is_asked_for(tmp_path: Path) -> None:
    """No early stop by AP: all epochs run, whatever the patience."""
    plan = replace(PLAN, epochs=5, patience=1, keep="last")
    found = fitted(tmp_path, Design(bits=8, objective="dsh"), plan=plan)
    assert len(found.rows) == found.best_epoch == 5
    assert found.validation_score == pytest.approx(found.rows[-1]["validation_score"], abs=1e-12)


def test_a_band_on_activations_is_kept_within_one_code(tmp_path: Path) -> None:
    """Why a dispersed DSH of a weak pull to corners collapses: pairs of a class are apart, their signs are not."""
    rng, kind = np.random.default_rng(0), np.arange(PRODUCTS * VIEWS) // VIEWS % 4
    points = (3 * rng.normal(size=(4, DIMENSION))[kind] + rng.normal(size=(len(kind), DIMENSION))).astype(np.float32)
    first, second = np.triu_indices(len(kind), 1)
    first, second = (side[kind[first] == kind[second]] for side in (first, second))
    plan = replace(PLAN, epochs=60, keep="last", learning_rate=5e-3)
    inside = []
    for pull in (0.01, 0.2):
        design = Design(6, "dispersed-dsh", "mlp", 64, pairing=Pairing(1.0, pull))
        head = fit_hash_head(points, supervise("category", catalogue()), design, plan, tmp_path / str(pull), {}).head
        with torch.no_grad():
            found = head(torch.from_numpy(points)).numpy()
        apart = np.abs(found[first] - found[second]).sum(axis=1)
        inside.append(float(((apart >= 1) & (apart <= 2)).mean()))
        assert (head.codes(points)[first] == head.codes(points)[second]).all(axis=1).mean() > 0.95
    assert inside[0] > 0.5
    assert inside[1] < 0.5 * inside[0]
