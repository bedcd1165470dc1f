"""Long names made short for a chart, so that each can still be told from the others."""

from collections.abc import Callable, Sequence


def shorten(names: Sequence[str], letters: int) -> list[str]:
    """The names with at most `letters` letters each, cut where most of them stay different.

    Paths are cut at the left first, as their ends differ, other names in the middle. Names that no cut tells apart stay
    whole.

    >>> shorten(["symbols/alphabets/english/upper", "symbols/alphabets/spanish/upper", "food"], 16)
    ['…/english/upper', '…/spanish/upper', 'food']
    """
    if letters < 3 or all(len(name) <= letters for name in names):
        return list(names)
    kept = letters - 1
    half = kept // 2
    cuts: dict[str, Callable[[str], str]] = {
        "right": lambda name: f"{name[:kept]}…",
        "middle": lambda name: f"{name[: kept - half]}…{name[-half:]}",
        "left": lambda name: f"…{_from_a_part(name[-kept:])}",
    }
    paths = sum("/" in name for name in names if len(name) > letters) * 2 >= sum(len(name) > letters for name in names)
    tried = []
    for side in ("left", "middle", "right") if paths else ("middle", "right", "left"):
        cut = cuts[side]
        tried.append([name if len(name) <= letters else cut(name) for name in names])
    best = max(tried, key=lambda short: len(set(short)))
    return [name if best.count(short) > 1 else short for name, short in zip(names, best, strict=True)]


def _from_a_part(end: str) -> str:
    """The end of a path from a slash on, unless that leaves less than half of it.

    >>> _from_a_part("ets/english/upper"), _from_a_part("abcdefgh/i")
    ('/english/upper', 'abcdefgh/i')
    """
    at = end.find("/")
    return end[at:] if 0 <= at <= len(end) // 2 else end
