"""The short form of commands that are killed or meet a full disk; `python -m tests.faults.commands` is the long one."""

from tests.faults.commands import run

COMMAND = "embeddings compute -m descriptor:hog"


def test_a_command_that_is_killed_or_meets_a_full_disk_goes_on_when_it_is_given_again() -> None:
    tally = run([COMMAND], ["kill", "disk"], times=1, seed=1, say=False)
    assert tally.faults == []
    assert tally.runs == 4
    assert tally.refused >= 1
