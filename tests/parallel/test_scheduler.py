"""Which task comes next, by a clock that the test turns."""

import pytest

from eds.errors import EdsError
from eds.parallel.scheduler import Scheduler
from tests.parallel.tasks import Square


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def board(count: int, deadline: float | None, retries: int = 1) -> tuple[Scheduler, Clock]:
    clock = Clock()
    specs = [Square(f"{number}", number, "") for number in range(count)]
    return Scheduler(specs, deadline, retries, clock), clock


def test_tasks_come_in_order_and_overdue_ones_again() -> None:
    made, clock = board(2, deadline=10)
    for number, runner in ((0, "a"), (1, "b")):
        assert made.next() == number
        made.begin(number, runner)
    assert (made.next(), made.patience()) == (None, 10)
    clock.now = 4
    assert made.end(1) == {"b"}
    clock.now = 10
    assert (made.next(), made.patience()) == (0, 0)
    made.begin(0, "c")
    assert made.next() is None
    clock.now = 19
    made.refuse_hopeless()
    assert (made.next(), made.patience()) == (None, 1)  # one copy for each retry, no more
    assert (made.hangs(0, "a"), made.hangs(0, "c"), made.hangs(None, "d")) == (True, False, False)
    clock.now = 20
    with pytest.raises(EdsError, match=r"^0: a task did not end within 20 s, though 2 are at it\. .*run again"):
        made.refuse_hopeless()
    assert made.end(0) == {"a", "c"}
    assert made.end(0) == set()
    assert not made.open


def test_a_lost_task_waits_again_unless_another_is_at_it() -> None:
    made, clock = board(1, deadline=5)
    made.begin(0, "a")
    clock.now = 5
    made.begin(0, "b")
    made.lose(0, "a", "killed")
    assert made.next() is None
    made.lose(0, "a", "told twice")
    with pytest.raises(EdsError, match=r"0: a task was lost 2 times \(killed\)"):
        made.lose(0, "b", "killed")


def test_a_task_that_was_lost_has_all_its_time_again() -> None:
    made, clock = board(1, deadline=5)
    made.begin(0, "a")
    clock.now = 9
    made.lose(0, "a", "killed")
    made.begin(0, "b")
    clock.now = 18
    made.refuse_hopeless()
    clock.now = 19
    with pytest.raises(EdsError, match="within 10 s, though 1 are at it"):
        made.refuse_hopeless()


def test_time_runs_on_while_another_is_at_a_task_whose_first_runner_was_lost() -> None:
    made, clock = board(1, deadline=5)
    made.begin(0, "a")
    clock.now = 5
    made.begin(0, "b")
    made.lose(0, "a", "killed")
    clock.now = 10
    with pytest.raises(EdsError, match="within 10 s, though 1 are at it"):
        made.refuse_hopeless()


def test_what_is_done_cannot_be_lost() -> None:
    made, _ = board(1, deadline=None)
    made.begin(0, "a")
    made.end(0)
    made.lose(0, "a", "killed")
    assert (made.next(), made.open, made.unfinished()) == (None, False, [])
