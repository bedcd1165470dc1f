"""The command line as a whole, called in a process of its own, as a person does."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pandas as pd
import pytest

from eds import cli
from eds.cli.render import format_table
from eds.distribution import VERSION
from eds.project.results import to_jsonable
from tests.generated import every_command


def eds(*arguments: str | Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    program = [sys.executable, "-c", "from eds.cli import main; main()", *map(str, arguments)]
    return subprocess.run(program, capture_output=True, text=True, env={**os.environ, **variables}, check=False)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    assert eds("init", tmp_path / "p").returncode == 0
    return tmp_path / "p"


def test_help_loads_neither_pandas_nor_torch_nor_rich() -> None:
    call = "cli.main(['--help'], standalone_mode=False)"
    program = f"import sys; from eds.cli import cli; {call}; print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert loaded & {"pandas", "numpy", "pyarrow", "pydantic", "torch", "rich", "PIL"} == set()
    assert "eds.cli" in loaded
    for name, (_, meaning) in cli.GROUPS.items():
        assert name in done.stdout
        assert meaning.split()[0] in done.stdout


def test_the_help_of_every_group_loads_no_tables() -> None:
    calls = "[cli.main([name, '--help'], standalone_mode=False) for name in GROUPS]"
    program = f"import sys; from eds.cli import GROUPS, cli; {calls}; print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert set(done.stderr.split()) & {"pandas", "numpy", "pyarrow", "pydantic", "torch"} == set()


def test_every_group_and_command_has_help_with_an_example() -> None:
    missing = []
    for words, command in every_command(cli.cli, ["eds"]):
        call = " ".join(words)
        if not command.help or f"Example: {call}" not in (command.epilog or ""):
            missing.append(call)
        options = [option for option in command.params if isinstance(option, click.Option)]
        missing += [f"{call} {option.name}" for option in options if not option.help]
    assert missing == []


def test_the_version_is_that_of_the_distribution() -> None:
    assert eds("--version").stdout == f"eds, version {VERSION}\n"


def test_status_as_json_is_one_document(project: Path) -> None:
    done = eds("status", "--project", project, "--json")
    document = json.loads(done.stdout)
    assert [table["condition"] for table in document["tables"]] == ["absent"] * len(document["tables"])
    assert done.stderr == ""


def test_the_project_may_come_from_a_variable(project: Path) -> None:
    assert "images.parquet" in eds("status", EDS_PROJECT=str(project)).stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["status"], "no project here: eds.toml is missing. Run eds init"),
        (["nonsense"], "No such command 'nonsense'"),
        (["status", "--nonsense"], "No such option '--nonsense'"),
    ],
)
def test_a_users_mistake_is_one_line_and_exit_code_2(tmp_path: Path, arguments: list[str], told: str) -> None:
    done = eds(*arguments, EDS_PROJECT=str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("arguments", [["status"], ["statsu"], ["status", "--nonsense"]])
def test_with_json_a_users_mistake_is_one_document_too(tmp_path: Path, arguments: list[str]) -> None:
    done = eds(*arguments, "--json", EDS_PROJECT=str(tmp_path))
    error = json.loads(done.stdout)["error"]
    assert error["exit_code"] == done.returncode == 2
    assert error["what"] in done.stderr


def test_a_mistyped_command_is_answered_with_the_nearest(tmp_path: Path) -> None:
    assert "Did you mean 'status'? See eds --help." in eds("statsu").stderr
    assert "behind the command: eds status --project DIR" in eds("--project", "shop", "status").stderr


@pytest.mark.parametrize("words", [[], ["synthetic"]])
def test_a_group_alone_prints_its_help(words: list[str]) -> None:
    done = eds(*words)
    assert done.returncode == 0
    assert "Commands" in done.stdout


def test_an_unknown_key_in_eds_toml_is_one_line(project: Path) -> None:
    (project / "eds.toml").write_text("[neighbors]\ndept = 3\n")
    done = eds("status", "-p", project)
    assert done.returncode == 2
    assert "unknown key neighbors.dept" in done.stderr
    assert "eds.toml" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_damaged_table_is_told_by_status_and_refused_by_use(project: Path) -> None:
    (project / "images.parquet").write_bytes(b"no table")
    status = eds("status", "-p", project)
    assert status.returncode == 0
    assert "damaged" in status.stdout


def test_a_bug_of_ours_exits_1_with_a_traceback(tmp_path: Path) -> None:
    program = "import eds.cli.project; from eds import cli; cli.GROUPS = {'x': ('eds.no_module', '')}; cli.main()"
    done = subprocess.run([sys.executable, "-c", program, "x"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Traceback" in done.stderr


def test_a_reader_that_closes_the_pipe_is_no_error(project: Path) -> None:
    program = f"{sys.executable} -c 'from eds.cli import main; main()' status -p {project} | true"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {program}"], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_that_knows_eds(shell: str) -> None:
    assert "_EDS_COMPLETE" in eds("completion", shell).stdout


def test_completion_completes_groups() -> None:
    done = eds(_EDS_COMPLETE="bash_complete", COMP_WORDS="eds sta", COMP_CWORD="1")
    assert "plain,status" in done.stdout


def test_json_has_null_for_whatever_is_undefined() -> None:
    frame = pd.DataFrame({"a": [1.5, float("nan")], "b": pd.array([1, None], dtype="Int64"), "c": ["x", None]})
    assert to_jsonable({"rows": frame, 3: float("inf")}) == {
        "rows": [{"a": 1.5, "b": 1, "c": "x"}, {"a": None, "b": None, "c": None}],
        "3": None,
    }


def test_lines_are_aligned_and_numbers_stand_to_the_right() -> None:
    assert format_table(("name", "n"), [("long name", 1), ("x", 1234)]) == (
        "name           n\nlong name      1\nx          1,234"
    )


def all_commands(command: click.Command, words: tuple[str, ...]) -> Iterator[tuple[str, click.Command]]:
    """Every command and group below `command`."""
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            found = command.get_command(click.Context(command), name)
            assert found is not None
            yield " ".join((*words, name)), found
            yield from all_commands(found, (*words, name))


def test_short_helps_fit_in_a_line() -> None:
    helps = {words: command.get_short_help_str(limit=500) for words, command in all_commands(cli.cli, ("eds",))}
    assert {words: text for words, text in helps.items() if not text or len(text) > 60} == {}
