import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eds.config import SECTIONS, Config, load, template
from eds.errors import ConfigError
from eds.registry import SAMPLING_ORDERS, VOTING_RULES


def loaded(tmp_path: Path, text: str, environment: dict[str, str] | None = None) -> Config:
    path = tmp_path / "eds.toml"
    path.write_text(text, encoding="utf-8")
    return load(path, environment or {})


def test_an_empty_file_is_all_defaults(tmp_path: Path) -> None:
    assert loaded(tmp_path, "") == Config()


def test_values_replace_defaults(tmp_path: Path) -> None:
    config = loaded(tmp_path, '[neighbors]\nk = 7\n[embeddings]\nmodels = ["descriptor:hsv"]\n[budget]\nhourly = 40\n')
    assert config.neighbors.k == 7
    assert config.embeddings.models == ("descriptor:hsv",)
    assert config.value("embeddings.models") == ["descriptor:hsv"]
    assert config.budget.hourly == 40.0


def test_all_faults_are_reported_at_once(tmp_path: Path) -> None:
    text = (
        '[neighbours]\nk = 1\n[neighbors]\nkk = 1\nk = 0\nsearch = "fast"\none_per_product = 1\n'
        '[embeddings]\nmodels = "x"\n[budget]\nseconds = "long"\n'
    )
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, text, {"EDS_SUSPECTS_K": "many"})
    message = str(caught.value)
    for part in (
        "unknown section [neighbours]; did you mean neighbors?",
        "unknown key neighbors.kk; did you mean k?",
        "neighbors.k is 0; it must be greater than or equal to 1",
        "neighbors.search is 'fast'; it must be exact or faiss",
        "neighbors.one_per_product is 1; it must be a valid boolean",
        "embeddings.models is 'x'; it must be a valid list",
        "budget.seconds is 'long'; it must be a valid number",
        "EDS_SUSPECTS_K is 'many'; it must be a valid integer",
    ):
        assert part in message
    assert len(caught.value.faults) == 8


def test_one_unknown_key_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, "[neighbors]\ndepth = 3\n")
    assert "\n" not in str(caught.value)
    assert "unknown key neighbors.depth; known are k, search" in str(caught.value)


def test_advice_names_where_the_keys_are_and_a_variable_is_blamed_alone(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"eds init writes a new eds.toml"):
        loaded(tmp_path, "[neighbors]\ndepth = 3\n")
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, "", {"EDS_EXECUTOR": "nix"})
    assert str(caught.value).startswith("variable EDS_EXECUTOR is 'nix'; it must be plain or")
    assert "eds.toml" not in str(caught.value)
    with pytest.raises(ConfigError, match=r"eds.toml and variables: 2 faults"):
        loaded(tmp_path, "[neighbors]\nk = 0\n", {"EDS_EXECUTOR": "nix"})


def test_broken_toml_names_the_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="line 2"):
        loaded(tmp_path, "[neighbors]\nk = = 3\n")


def test_a_variable_beats_the_file(tmp_path: Path) -> None:
    variables = {
        "EDS_NEIGHBORS_K": "9",
        "EDS_NEIGHBORS_ONE_PER_PRODUCT": "false",
        "EDS_EMBEDDINGS_MODELS": "a:b, c:d",
        "EDS_BUDGET_SECONDS": "2.5",
    }
    config = loaded(tmp_path, "[neighbors]\nk = 7\n", variables)
    assert (config.neighbors.k, config.neighbors.one_per_product) == (9, False)
    assert config.embeddings.models == ("a:b", "c:d")
    assert config.budget.seconds == 2.5


@given(name=st.text(max_size=30), k=st.integers(1, 10**9), models=st.lists(st.text(max_size=9), max_size=3))
def test_a_template_gives_back_its_values(
    tmp_path_factory: pytest.TempPathFactory, name: str, k: int, models: list[str]
) -> None:
    text = template(name, {"neighbors.k": k, "embeddings.models": models})
    config = loaded(tmp_path_factory.mktemp("c"), text)
    assert (config.project.name, config.neighbors.k, list(config.embeddings.models)) == (name, k, models)


def test_a_template_names_every_setting_with_its_default() -> None:
    text = template("x")
    uncommented = "\n".join(
        line.removeprefix("# ") for line in text.splitlines() if not line.startswith(("# Settings", "# Models"))
    )
    given = tomllib.loads(uncommented)
    for section, settings in SECTIONS.items():
        for key, field in settings.model_fields.items():
            assert field.description
            name = f"{section}.{key}"
            assert given[section][key] == ("x" if name == "project.name" else Config().value(name))


def test_a_number_that_is_not_finite_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"budget.hourly is inf; it must be a finite number"):
        loaded(tmp_path, "[budget]\nhourly = inf\n")


def test_the_address_of_the_database_is_never_shown(tmp_path: Path) -> None:
    secret = "postgresql://lead:hush@host/labels"
    assert secret not in repr(loaded(tmp_path, f'[labels]\nurl = "{secret}"\n'))
    for text in (f'[labels]\nurl = ["{secret}"]\n', f'[labels]\nurls = "{secret}"\n', f'labels = "{secret}"\n'):
        with pytest.raises(ConfigError) as caught:
            loaded(tmp_path, text)
        assert "hush" not in str(caught.value)
        assert caught.value.__cause__ is None


def test_names_of_plug_ins_are_checked_and_offered(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, '[suspects]\norder = "worst"\n[truth]\nrule = "loudest"\n')
    assert len(caught.value.faults) == 2
    for name in (*SAMPLING_ORDERS, *VOTING_RULES):
        assert name in str(caught.value)
        assert name in template("x")
