"""People come before preparation, nobody keeps others waiting, and what is decoded at a time has a budget."""

import anyio
import pytest

from annotator_ui.picture_queue import MOST_WAITING, PREPARATION, BusyError, PictureQueue

Asked = tuple[str, int]  # who, and how many pixels


def order_of(requests: list[Asked], *, decoders: int = 1, leaves: int | None = None) -> tuple[list[int], int]:
    """In which order requests that come one after the other get their turn, and the most pixels at a time."""
    done: list[int] = []
    at_once: list[int] = []
    most = 0

    async def ask(queue: PictureQueue, number: int, scope: anyio.CancelScope, started: anyio.Event) -> None:
        nonlocal most
        viewer, pixels = requests[number]
        with scope:
            started.set()
            async with queue.turn(viewer, pixels):
                done.append(number)
                at_once.append(pixels)
                most = max(most, sum(at_once))
                await anyio.sleep(0.002)
                at_once.remove(pixels)

    async def together() -> None:
        queue = PictureQueue(decoders, pixels=100)
        async with anyio.create_task_group() as group:
            for number in range(len(requests)):
                scope, started = anyio.CancelScope(), anyio.Event()
                group.start_soon(ask, queue, number, scope, started)
                await started.wait()
                await anyio.lowlevel.checkpoint()
                if number == leaves:
                    scope.cancel()
        assert (len(queue._free), queue._taken, queue._line) == (decoders, 0, [])
        assert not queue._of_viewer

    anyio.run(together)
    return done, most


def test_who_asks_for_one_picture_does_not_wait_for_who_asks_for_many() -> None:
    assert order_of([("ann", 1)] * 5 + [("bob", 1), ("cid", 1)])[0] == [0, 5, 6, 1, 2, 3, 4]


def test_preparation_comes_last() -> None:
    assert order_of([("ann", 1), (PREPARATION, 1), ("ann", 1), ("bob", 1)])[0] == [0, 3, 2, 1]


def test_pixels_are_a_budget_and_a_large_picture_gets_its_turn() -> None:
    requests = [("ann", 40), ("bob", 40), ("cid", 100), ("dan", 40), ("eve", 500)]
    done, most = order_of(requests, decoders=4)
    assert sorted(done) == [0, 1, 2, 3, 4]
    assert done.index(2) < done.index(3)
    assert most == 500  # alone: it counts as the whole budget
    assert order_of(requests[:4], decoders=4)[1] == 100


def test_who_leaves_gives_up_the_place() -> None:
    assert order_of([("ann", 1), ("bob", 1), ("cid", 1)], leaves=1)[0] == [0, 2]


def test_one_viewer_waits_for_so_many_and_no_more() -> None:
    async def ask_for_too_many() -> None:
        queue = PictureQueue(1)
        queue._of_viewer["ann"] = MOST_WAITING
        with pytest.raises(BusyError):
            async with queue.turn("ann", 1):
                pass
        async with queue.turn("bob", 1) as decoder:
            assert decoder is queue._decoders[0]

    anyio.run(ask_for_too_many)
