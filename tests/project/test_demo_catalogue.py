"""The demo's catalogue in small: fewer garments, one view each at 64 pixels, and models without weights."""

from pathlib import Path

from eds.project import Project
from eds.synthetic.experts import draw_experts
from eds.synthetic.panel import true_value

PAIR = ["query_id", "candidate_id"]


def test_rare_positives_make_up_about_half_of_the_pool(tmp_path: Path) -> None:
    """A p_k of 40 to 80 %; test_products.py checks, without pictures, that p is below 1 % for 1200 garments."""
    project = Project.create(tmp_path / "shop")
    project.draw_catalogue(products=400, views=1, queries=60, size=64, seed=4, workers=1)
    project.embed(["hsv=descriptor:hsv", "hog=descriptor:hog"])
    project.mine(k=6)
    project.pool(k=6)
    pool = project.read("suspects")[PAIR]
    rate = float(true_value(pool, project.read("images"), draw_experts(3, 0)).mean())
    assert 0.4 < rate < 0.8
