"""Workers: order of service, failures as outcomes, limits on an injected clock, clean ends."""

from __future__ import annotations

import threading

from worldpager.engine.memory.tier import RecordLost
from worldpager.engine.memory.transfer import Move, Outcome, Priority, ThreadedMover, TokenBucket


def _collect(mover: ThreadedMover, count: int) -> list[Outcome]:
    found: list[Outcome] = []
    ended = threading.Event()
    for _ in range(2000):
        found += mover.outcomes()
        if len(found) >= count:
            return found
        ended.wait(0.005)
    raise AssertionError(f"only {len(found)} of {count} moves ended")


def test_exact_reads_go_before_speculation() -> None:
    gate, order = threading.Event(), []
    mover = ThreadedMover(readers=1)
    mover.submit(Move("gate", 0, Priority.EXACT, 0, lambda: gate.wait(10) and None))
    for block, priority in ((1, Priority.SPECULATION), (2, Priority.EXACT), (3, Priority.SPECULATION), (4, Priority.EXACT)):
        mover.submit(Move("read", block, priority, 0, lambda block=block: order.append(block)))  # type: ignore[misc]
    gate.set()
    _collect(mover, 5)
    assert order == [2, 4, 1, 3]
    mover.close()


def test_a_failing_move_is_an_outcome_and_the_worker_lives() -> None:
    def lost() -> None:
        raise RecordLost("the file is too short")

    def broken() -> None:
        raise ZeroDivisionError

    mover = ThreadedMover(readers=1)
    for work in (lost, broken, lambda: None):
        mover.submit(Move("read", 1, Priority.EXACT, 0, work))
    errors = [outcome.error for outcome in _collect(mover, 3)]
    assert errors[0] == "the file is too short"
    assert "ZeroDivisionError" in errors[1]
    assert errors[2] == ""
    mover.close()


def test_writes_do_not_hold_up_reads() -> None:
    gate = threading.Event()
    mover = ThreadedMover(readers=1)
    mover.submit(Move("write back", 1, Priority.WRITE_BACK, 0, lambda: gate.wait(10) and None))
    mover.submit(Move("read", 2, Priority.EXACT, 0, lambda: None))
    assert _collect(mover, 1)[0].move.block == 2
    gate.set()
    _collect(mover, 1)
    mover.close()


def test_closing_ends_the_threads_and_drops_what_waits() -> None:
    gate, started, ran = threading.Event(), threading.Event(), []
    mover = ThreadedMover(readers=1)

    def block() -> None:
        started.set()
        gate.wait(10)

    mover.submit(Move("read", 1, Priority.EXACT, 0, block))
    assert started.wait(10)
    mover.submit(Move("read", 2, Priority.EXACT, 0, lambda: ran.append(2)))
    closing = threading.Thread(target=mover.close)
    closing.start()
    gate.set()
    closing.join(10)
    assert not closing.is_alive()
    assert ran == []
    assert not any(t.name.startswith("worldpager-read") and t.is_alive() for t in mover._threads)


def test_token_bucket_spreads_bytes_over_time() -> None:
    now = [0.0]
    bucket = TokenBucket(100.0, lambda: now[0])
    assert bucket.wait_for(50) == 0.5
    assert bucket.wait_for(50) == 1.0
    now[0] = 5.0
    assert bucket.wait_for(100) == 1.0
