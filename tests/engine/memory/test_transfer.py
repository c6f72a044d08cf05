"""Workers: order of service, failures as outcomes, clean ends. Interleavings are forced by events."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from tests.helpers.clocks import HandClock
from worldpager.engine.memory import transfer
from worldpager.engine.memory.block import Block
from worldpager.engine.memory.tier import DamagedError, Purpose, Stamp
from worldpager.engine.memory.transfer import Move, Outcome, ThreadedTransfers
from worldpager.engine.types import BlockId

PATIENCE = 20.0


class Gate:
    """A move that begins, tells, and ends when allowed."""

    def __init__(self, purpose: Purpose, number: int = 0) -> None:
        self.begun, self.may_end = threading.Event(), threading.Event()
        self.move = move(purpose, number, self._pass)

    def _pass(self) -> None:
        self.begun.set()
        assert self.may_end.wait(PATIENCE)


def move(purpose: Purpose, number: int, work: Callable[[], object] = lambda: None) -> Move:
    def run() -> Stamp:
        work()
        return Stamp(number, 0, b"")

    return Move(purpose, Block(BlockId(number)), 0, run)


@pytest.fixture
def transfers() -> Iterator[ThreadedTransfers]:
    made = ThreadedTransfers(readers=1, landing=True)
    yield made
    made.close()


def outcomes(transfers: ThreadedTransfers, count: int) -> list[Outcome]:
    """The next ``count`` outcomes, in order of their ends."""
    found: list[Outcome] = []
    patience = threading.Event()
    for _ in range(int(PATIENCE / 0.002)):
        found += transfers.collect()
        if len(found) >= count:
            return found
        patience.wait(0.002)
    raise AssertionError(f"only {len(found)} of {count} moves ended")


def test_exact_reads_go_before_speculation_and_each_in_order(transfers: ThreadedTransfers) -> None:
    gate = Gate(Purpose.EXACT)
    transfers.submit([gate.move])
    assert gate.begun.wait(PATIENCE)
    wishes = [(1, Purpose.AHEAD), (2, Purpose.EXACT), (3, Purpose.AHEAD), (4, Purpose.EXACT)]
    transfers.submit([move(purpose, number) for number, purpose in wishes])
    gate.may_end.set()
    assert [outcome.move.block.id for outcome in outcomes(transfers, 5)] == [0, 2, 4, 1, 3]


def test_a_write_waits_for_an_exact_read_but_not_for_speculation(transfers: ThreadedTransfers) -> None:
    exact = Gate(Purpose.EXACT)
    transfers.submit([exact.move])
    assert exact.begun.wait(PATIENCE)
    write = Gate(Purpose.WRITE_BACK, 1)
    transfers.submit([write.move])
    assert not write.begun.wait(0.05)
    ahead = Gate(Purpose.AHEAD, 2)
    transfers.submit([ahead.move])
    exact.may_end.set()
    assert write.begun.wait(PATIENCE)
    assert ahead.begun.wait(PATIENCE)
    for gate in (write, ahead):
        gate.may_end.set()
    outcomes(transfers, 3)


def test_exact_reads_that_come_later_keep_no_write_waiting(transfers: ThreadedTransfers) -> None:
    first, later, write = Gate(Purpose.EXACT), Gate(Purpose.EXACT, 2), Gate(Purpose.WRITE_BACK, 1)
    transfers.submit([first.move])
    assert first.begun.wait(PATIENCE)
    transfers.submit([write.move])
    transfers.submit([later.move])
    first.may_end.set()
    assert later.begun.wait(PATIENCE)
    assert write.begun.wait(PATIENCE)
    for gate in (later, write):
        gate.may_end.set()
    outcomes(transfers, 3)


def test_a_slow_write_keeps_no_read_waiting(transfers: ThreadedTransfers) -> None:
    write = Gate(Purpose.WRITE_BACK, 1)
    transfers.submit([write.move])
    assert write.begun.wait(PATIENCE)
    transfers.submit([move(Purpose.AHEAD, 2)])
    assert [outcome.move.block.id for outcome in outcomes(transfers, 1)] == [2]
    write.may_end.set()
    outcomes(transfers, 1)


@pytest.mark.parametrize("purpose", Purpose)
def test_a_failing_move_is_an_outcome_and_the_worker_lives(transfers: ThreadedTransfers, purpose: Purpose) -> None:
    def damaged() -> None:
        raise DamagedError("the checksum is wrong")

    def broken() -> None:
        raise ZeroDivisionError

    transfers.submit([move(purpose, 1, damaged), move(purpose, 2, broken), move(purpose, 3)])
    errors = [type(outcome.error) for outcome in outcomes(transfers, 3)]
    assert errors == [DamagedError, ZeroDivisionError, type(None)]


def test_a_queued_move_can_be_withdrawn_and_a_begun_one_cannot(transfers: ThreadedTransfers) -> None:
    gate = Gate(Purpose.AHEAD)
    queued, kept = move(Purpose.AHEAD, 1), move(Purpose.AHEAD, 2)
    transfers.submit([gate.move])
    assert gate.begun.wait(PATIENCE)
    transfers.submit([queued, kept])
    assert transfers.withdraw({gate.move, queued}) == {queued}
    gate.may_end.set()
    assert [outcome.move for outcome in outcomes(transfers, 2)] == [gate.move, kept]


def test_says_since_when_a_move_has_been_running() -> None:
    clock = HandClock(5.0)
    transfers, gate = ThreadedTransfers(readers=1, clock=clock), Gate(Purpose.EXACT)
    assert transfers.oldest_start() is None
    transfers.submit([gate.move])
    assert gate.begun.wait(PATIENCE)
    clock.now = 25.0
    assert transfers.oldest_start() == 5.0
    gate.may_end.set()
    outcomes(transfers, 1)
    transfers.close()


def test_closing_gives_up_what_is_queued(transfers: ThreadedTransfers) -> None:
    gate, ran = Gate(Purpose.EXACT), threading.Event()
    transfers.submit([gate.move])
    assert gate.begun.wait(PATIENCE)
    transfers.submit([move(Purpose.EXACT, 1, ran.set)])
    closing = threading.Thread(target=transfers.close)
    closing.start()
    gate.may_end.set()
    closing.join(PATIENCE)
    assert not closing.is_alive()
    assert not ran.is_set()


def test_closing_does_not_wait_for_a_worker_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "CLOSING_SECONDS", 0.05)
    transfers, gate = ThreadedTransfers(readers=1), Gate(Purpose.EXACT)
    transfers.submit([gate.move])
    assert gate.begun.wait(PATIENCE)
    transfers.close()
    gate.may_end.set()
