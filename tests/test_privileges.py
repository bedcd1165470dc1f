"""A package that a test needs is skipped where it may be missing, and missed where it must be there."""

import pytest

from tests.privileges import is_lean, needed


def test_what_is_installed_is_given() -> None:
    assert needed("json").dumps([]) == "[]"


def test_a_missing_package_is_a_failure_in_continuous_integration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.skip.Exception if is_lean() else pytest.fail.Exception, match="nosuchpackage"):
        needed("nosuchpackage")
    monkeypatch.delenv("CI")
    with pytest.raises(pytest.skip.Exception, match="nosuchpackage"):
        needed("nosuchpackage")


def test_a_module_of_ours_that_is_gone_is_no_missing_package() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"eds\.nosuchmodule"):
        needed("eds.nosuchmodule")
