import os

import pytest

from tests.privileges import needs_root


@pytest.mark.parametrize(("told", "ends"), [
    (None, pytest.skip.Exception), ("", pytest.skip.Exception), ("false", pytest.skip.Exception),
    ("true", pytest.fail.Exception), ("1", pytest.fail.Exception),
])  # fmt: skip
def test_what_needs_root_is_skipped_elsewhere_and_fails_in_integration(
    told: str | None, ends: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    if told is not None:
        monkeypatch.setenv("CI", told)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(ends, match="only root may fly"):
        needs_root("fly")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    needs_root("fly")
