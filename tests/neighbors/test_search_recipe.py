"""The recipe of CONTRIBUTING.md for a search engine, carried out: one file, and every door offers it."""

from pathlib import Path

from tests.recipes import follow

COMPARE = """
import numpy as np, pandas as pd
from pathlib import Path
from eds.neighbors import Rules, mine
from eds.vectors import Model, write

ids = [f"i{n:03d}" for n in range(200)]
images = pd.DataFrame({"image_id": ids, "product_id": [f"p{n // 3}" for n in range(200)], "role": "both"})
images["category"] = None
values = np.random.default_rng(0).integers(-2, 3, (200, 6)).astype(np.float32) + np.float32(0.5)
vectors = write(Path("m"), Model("m", {}, 6, "float32", "cosine", "", ""), ids, values)
for rules in (Rules(7), Rules(7, False, False, keep_ties=True)):
    exact, other = (mine(vectors, images, rules, search=name) for name in ("exact", "one-by-one"))
    pd.testing.assert_frame_equal(other, exact, check_exact=True)
print(len(exact))
"""


def test_a_search_engine_is_one_file(tmp_path: Path) -> None:
    copy = follow("Add a search engine", tmp_path)
    assert "one-by-one" in copy.eds("neighbors", "mine", "--help")
    assert "one-by-one" in copy.python("from eds.config import template; print(template('x'))")
    assert int(copy.python(COMPARE)) >= 200 * 7
