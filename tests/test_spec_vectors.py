"""Every vector of the specification, at its tolerance (section 16)."""

import builtins
import json
import math
from pathlib import Path
from typing import Any

import pytest

from tests.privileges import in_ci
from tests.spec_adapter import QUANTITIES, evaluate

PLACE = Path(__file__).parents[2] / "shared" / "spec" / "vectors.json"

# Somebody's clone may stand alone; where the project is checked, the specification must be there.
pytestmark = pytest.mark.skipif(not PLACE.is_file() and not in_ci(), reason=f"the specification is not at {PLACE}")


def vectors() -> list[dict[str, Any]]:
    if not PLACE.is_file() and not in_ci():
        return []
    found: list[dict[str, Any]] = json.loads(PLACE.read_text(encoding="utf-8"))["vectors"]
    return found


def differences(actual: Any, expected: Any, tol: float, at: str = "") -> list[str]:
    """Where the two differ by the specification's rules of comparison."""
    if isinstance(expected, dict):
        return [
            fault
            for key, part in expected.items()
            for fault in (
                differences(actual[key], part, tol, f"{at}.{key}") if key in actual else [f"{at}.{key} missing"]
            )
        ]
    if isinstance(expected, list):
        if not isinstance(actual, (list, tuple)) or len(actual) != len(expected):
            return [f"{at}: {actual!r} for {expected!r}"]
        pairs = enumerate(zip(actual, expected, strict=True))
        return [fault for place, (a, e) in pairs for fault in differences(a, e, tol, f"{at}[{place}]")]
    if expected is None:
        undefined = actual is None or (isinstance(actual, float) and math.isnan(actual))
        return [] if undefined else [f"{at}: {actual!r} where nothing is defined"]
    exact = isinstance(expected, (str, bool)) or isinstance(actual, (str, bool)) or actual is None
    if not exact and (isinstance(expected, float) or isinstance(actual, float)):
        return [] if abs(actual - expected) <= tol * max(1, abs(expected)) else [f"{at}: {actual!r} for {expected!r}"]
    return [] if actual == expected else [f"{at}: {actual!r} for {expected!r}"]


@pytest.mark.parametrize("vector", [pytest.param(item, id=item["id"]) for item in vectors()])
def test_vector(vector: dict[str, Any]) -> None:
    expected = vector["expected"]
    if isinstance(expected, dict) and set(expected) == {"raises"}:
        with pytest.raises(getattr(builtins, expected["raises"])):
            evaluate(vector["quantity"], vector["inputs"])
    else:
        assert differences(evaluate(vector["quantity"], vector["inputs"]), expected, vector["tol"]) == []


def test_no_quantity_is_forgotten() -> None:
    assert {item["quantity"] for item in vectors()} - set(QUANTITIES) == set()


def test_comparison_sees_differences() -> None:
    assert differences({"a": [1, 2.0]}, {"a": [1, 2.0 + 1e-9]}, 1e-12) == [".a[1]: 2.0 for 2.000000001"]
    assert differences(0.0, None, 1e-12)
    assert differences(float("nan"), 1.0, 1e-12)
    assert differences(1, True, 1e-12) == []
    assert differences("1", 1, 1e-12)
