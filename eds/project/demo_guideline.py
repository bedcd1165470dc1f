"""The demo's guideline with examples of every category, its known pairs, and what its product pages say.

Examples and known pairs are pairs of catalogue pictures that no campaign asks, so that they give no answer away.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from eds.labels.guidelines import Example

VERSION = "garments 2"
TEXT = """# When are two garments similar?

Would a customer who likes the one look at the other as a likely replacement?

- What counts: the kind of garment, its cut, its pattern and its colours, in about this order.
- What does not: the background, the light, the person who wears it, how much of it is visible.
- If you cannot tell, press **U** for unsure. The pair comes back once, at the end.
"""
CLOSE_HUES, CLOSE_LIGHTNESS = 40, 0.1  # degrees; of 1
PRODUCTS = 40  # of a category, at most
PATTERNS = {"plain": "", "gradient": "shaded ", "stripes": "striped ", "checks": "checked ", "dots": "dotted "}
PATTERNS["floral"] = "floral "
PRICES = {"bag": 79, "coat": 149, "dress": 89, "shirt": 39, "shoe": 99, "skirt": 49, "trousers": 69}  # from


@dataclass(frozen=True)
class KnownPairs:
    """Examples of the guideline, and known pairs (query_id, candidate_id, value, note) that are none of them."""

    examples: "list[Example]"
    gold: "pd.DataFrame"


def known_pairs(images: "pd.DataFrame", suspects: "pd.DataFrame") -> KnownPairs:
    """Of each category a similar pair, one that clearly is not and one between; then two known pairs each."""
    import pandas as pd

    from eds.labels.guidelines import Example

    examples: list[Example] = []
    gold: list[tuple[str, str, int, str]] = []
    known = {str(row["image_id"]): row for _, row in images.iterrows()}
    for _, pairs in _ranked(images, suspects).groupby("category", sort=True):
        similar, other = pairs[pairs["value"] == 1], pairs[pairs["value"] == 0]
        chosen = [
            ("positive", _apart(similar.iloc[len(similar) // 2 :], 2)),  # alike, not the same
            ("negative", _apart(other, 2)),
            ("border", _apart(pairs.loc[pairs["margin"].abs().sort_values(kind="stable").index], 1)),
        ]
        for kind, rows in chosen:
            for number, (query, candidate, value) in enumerate(rows):
                note = _reason(known[query], known[candidate], kind)
                if number == 0:
                    examples.append(Example(query, candidate, kind, note))
                else:
                    gold.append((query, candidate, value, note))
    kinds = ("positive", "negative", "border")
    examples.sort(key=lambda one: kinds.index(one.kind))
    return KnownPairs(examples, pd.DataFrame(gold, columns=["query_id", "candidate_id", "value", "note"]))


def product_pages(images: "pd.DataFrame") -> "pd.DataFrame":
    """The images with the title and price that a shop would show; a snapshot has none."""
    return images.assign(title=images.apply(_title, axis="columns"), price=images.apply(_price, axis="columns"))


def _ranked(images: "pd.DataFrame", suspects: "pd.DataFrame") -> "pd.DataFrame":
    """Pairs of two products' first pictures within a category, the least similar first; none that is a suspect."""
    import numpy as np
    import pandas as pd

    from eds.synthetic.experts import draw_experts, seen_similarity
    from eds.synthetic.panel import true_value

    panel = draw_experts(3, 0)
    first = images[~images["image_id"].str.startswith("wild")].drop_duplicates("product_id")
    first = first.groupby("category").head(PRODUCTS)[["image_id", "category", "product_id"]]
    pairs = first.merge(first, on="category", suffixes=("", "_other"))
    pairs = pairs[pairs["product_id"] < pairs["product_id_other"]]
    pairs = pairs.rename(columns={"image_id": "query_id", "image_id_other": "candidate_id"})
    asked = pd.MultiIndex.from_frame(suspects[["query_id", "candidate_id"]])
    pairs = pairs[~pd.MultiIndex.from_frame(pairs[["query_id", "candidate_id"]]).isin(asked)]
    seen = np.mean(seen_similarity(pairs, images, panel), axis=0)
    threshold = np.mean([expert.threshold for expert in panel])
    pairs = pairs.assign(value=true_value(pairs, images, panel), margin=seen - threshold)
    return pairs.sort_values(["category", "margin", "query_id", "candidate_id"], kind="stable")


def _apart(pairs: "pd.DataFrame", count: int) -> list[tuple[str, str, int]]:
    """The first pairs that have no picture in common."""
    result: list[tuple[str, str, int]] = []
    taken: set[str] = set()
    for row in pairs[["query_id", "candidate_id", "value"]].itertuples(index=False):
        query, candidate, value = str(row[0]), str(row[1]), int(row[2])
        if not {query, candidate} & taken:
            result.append((query, candidate, value))
            taken |= {query, candidate}
        if len(result) == count:
            break
    return result


def _reason(one: "pd.Series[Any]", other: "pd.Series[Any]", kind: str) -> str:
    """What two drawn garments of a kind have in common, and what not."""
    turn = abs(one["true_hue"] - other["true_hue"]) % 360
    alike = {
        "cut": one["true_silhouette"] == other["true_silhouette"],
        "pattern": one["true_pattern"] == other["true_pattern"],
        "colour": min(turn, 360 - turn) < CLOSE_HUES,
        "shade": abs(one["true_lightness"] - other["true_lightness"]) < CLOSE_LIGHTNESS,
    }
    same, different = ([name for name, equal in alike.items() if bool(equal) is wanted] for wanted in (True, False))
    parts = [_listed("same", same), _listed("another", different)]
    if kind == "border":
        return f"Between the two: {' but '.join(part for part in parts if part)}."
    return f"{', '.join(part for part in parts if part)}.".capitalize()


def _listed(word: str, names: list[str]) -> str:
    """The word and the names: same cut, pattern and colour."""
    if not names:
        return ""
    return f"{word} {', '.join(names[:-1])}{' and ' if names[1:] else ''}{names[-1]}"


def _title(row: "pd.Series[Any]") -> str | None:
    if str(row["image_id"]).startswith("wild"):
        return None
    return f"{PATTERNS.get(row['true_pattern'], '')}{row['true_fabric']} {row['category']}".capitalize()


def _price(row: "pd.Series[Any]") -> str | None:
    if str(row["image_id"]).startswith("wild"):
        return None
    step = int("".join(filter(str.isdigit, str(row["product_id"]))) or 0) % 5
    return f"{PRICES.get(str(row['category']), 59) + 10 * step}.00 EUR"
