"""Search by image, file and text: the exact engine's lists, the libraries' own vectors, and one clear line else."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import pytest
import torch
from PIL import Image

import eds
from eds.errors import EdsError, InputError, ProjectError
from eds.vectors import Vectors

CLIP = "eds-tiny-searching-clip"
CONFIG = (
    '{"embed_dim": 24, "vision_cfg": {"image_size": 32, "layers": 1, "width": 32, "head_width": 16, "patch_size": 16},'
    ' "text_cfg": {"context_length": 16, "vocab_size": 49408, "width": 16, "heads": 2, "layers": 1}}'
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> eds.Project:
    """Drawn images, vectors of a descriptor and of a tiny CLIP with random weights, lists, and labels."""
    folder = tmp_path_factory.mktemp("searching")
    (folder / f"{CLIP}.json").write_text(CONFIG)
    open_clip.add_model_config(folder / f"{CLIP}.json")
    project = eds.Project.create(folder / "p", {"suspects.k": 2, "neighbors.k": 6})
    project.draw_catalogue(products=8, views=2, wild=3, size=32, workers=1)
    project.embed("hsv=descriptor:hsv")
    project.embed(f"clip=open_clip:{CLIP}", random_init=True)
    project.mine()
    project.pool()
    project.simulate_experts()
    project.decide()
    return project


def test_an_image_finds_the_exact_engines_list_of_every_model(project: eds.Project) -> None:
    truth = project.read("truth").set_index(["query_id", "candidate_id"])["value"]
    seen = set()
    for name in ("clip", "hsv"):
        lists = project.read("neighbors", name)
        for query in lists["query_id"].unique():
            found = project.search(query, k=6).table
            wanted = lists[lists["query_id"] == query].sort_values("rank")
            rows = found[found["model"] == name]
            assert rows["candidate_id"].tolist() == wanted["candidate_id"].tolist()
            assert rows["score"].tolist() == wanted["score"].tolist()
            assert rows["rank"].tolist() == list(range(1, len(wanted) + 1))
            for row in rows.itertuples():
                value = truth.get((query, row.candidate_id))
                assert row.label == {1: "similar", 0: "different"}.get(value, "not judged")
                seen.add(row.label)
    assert seen == {"similar", "different", "not judged"}


def test_a_picture_from_elsewhere_finds_what_it_shows(project: eds.Project, tmp_path: Path) -> None:
    images = project.read("images").set_index("image_id")
    chosen = images[images["role"] != "query"].index[3]
    shutil.copy(Path(str(project.pictures)) / images.loc[chosen, "path"], tmp_path / "mine.png")
    found = project.search(file=tmp_path / "mine.png", models="hsv", k=3).table
    assert found["candidate_id"].iloc[0] == chosen
    assert found["score"].iloc[0] == pytest.approx(1, abs=1e-6)
    assert set(found["label"]) == {""}


def test_a_text_is_compared_by_open_clips_own_encode_text(project: eds.Project) -> None:
    found = project.search(text="a red dress", k=5)
    assert [one.model for one in found.skipped] == ["hsv"]
    assert set(found.table["model"]) == {"clip"}
    with torch.random.fork_rng(devices=[]):
        from eds.backbones.weights import build_seeded

        model: Any = build_seeded(lambda: open_clip.create_model(CLIP)).eval()
    with torch.inference_mode():
        text = model.encode_text(open_clip.get_tokenizer(CLIP)(["a red dress"])).numpy()[0]
    vectors = Vectors.open(project.path("embeddings", "clip"))
    scores = vectors.gather(vectors.ids) @ (text / np.linalg.norm(text))
    images = project.read("images").set_index("image_id").loc[vectors.ids]
    best: dict[str, float] = {}
    for product, role, score in zip(images["product_id"], images["role"], scores, strict=True):
        if role != "query":
            best[product] = max(best.get(product, -2.0), float(score))
    wanted = sorted(best.items(), key=lambda item: -item[1])[:5]
    assert [images.loc[one, "product_id"] for one in found.table["candidate_id"]] == [product for product, _ in wanted]
    assert found.table["score"].tolist() == pytest.approx([score for _, score in wanted], abs=1e-5)


def test_what_cannot_be_searched_is_one_clear_error(project: eds.Project, tmp_path: Path) -> None:
    (tmp_path / "no.jpg").write_bytes(b"\xff\xd8no picture")
    Image.new("RGB", (4, 4)).save(tmp_path / "tiny.png")
    some = str(project.read("images")["image_id"].iloc[0])
    with pytest.raises(InputError, match="takes no text") as refused:
        project.search(text="a dress", models="hsv")
    assert "open_clip" in refused.value.hint
    with pytest.raises(InputError, match="no image") as caught:
        project.search(some + "x")
    assert some in caught.value.hint
    with pytest.raises(InputError, match="no image") as caught:
        project.search(str(tmp_path / "tiny.png"))
    assert f"--file {tmp_path / 'tiny.png'}" in caught.value.hint
    wrong: list[tuple[str | None, dict[str, Any]]] = [
        (None, {}),
        (some, {"text": "both"}),
        (None, {"text": "  "}),
        (some, {"k": 0}),
        (None, {"file": tmp_path / "no.jpg"}),
        (None, {"file": tmp_path / "nowhere.jpg"}),
        (some, {"models": "unknown"}),
    ]
    for image, options in wrong:
        with pytest.raises(EdsError):
            project.search(image, **options)


def test_before_there_are_vectors_the_remedy_is_said(tmp_path: Path) -> None:
    project = eds.Project.create(tmp_path / "p")
    project.draw_catalogue(products=2, views=1, size=32, workers=1)
    with pytest.raises(ProjectError) as caught:
        project.search(text="anything")
    assert "eds embeddings compute" in caught.value.hint
