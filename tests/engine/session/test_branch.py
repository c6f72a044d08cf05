from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldpager.engine.errors import InputError
from worldpager.engine.session.branch import ChunkTree
from worldpager.engine.types import BlockId, Pose

HERE = (Pose(0, 0, 0, 0, 0),)


def grown(tree: ChunkTree, count: int) -> list[int]:
    return [tree.grow(BlockId(len(tree) * 7 + 1000 * len(tree.branches)), HERE, 1.0, False, None, 0.0)[0].id for _ in range(count)]


def test_a_walk_is_one_branch() -> None:
    tree = ChunkTree()
    ids = grown(tree, 3)
    assert [chunk.number for chunk in tree.path()] == [0, 1, 2]
    assert [branch.name for branch in tree.branches.values()] == ["main"]
    assert tree.tip(1) == tree.head == ids[-1]


def test_going_back_and_on_forks_where_one_stood() -> None:
    tree = ChunkTree()
    ids = grown(tree, 5)
    tree.stand(ids[2])
    assert len(tree.branches) == 1, "who only looks back begins nothing"
    new = grown(tree, 2)
    assert tree.branches[2].fork == ids[2]
    assert [chunk.id for chunk in tree.path()] == [*ids[:3], *new]
    tree.stand(ids[-1])
    assert tree.branch == 1
    grown(tree, 1)
    assert len(tree.branches) == 2, "a tip's branch goes on"
    tree.check()


def test_deleting_a_branch_takes_its_own_chunks_alone() -> None:
    tree = ChunkTree()
    trunk = grown(tree, 4)
    tree.stand(trunk[1])
    side = grown(tree, 2)
    tree.stand(side[0])
    twig = grown(tree, 2)
    assert {chunk.id for chunk in tree.delete(2)} == {side[1]}, "the twig needs the rest of the side branch"
    tree.stand(trunk[-1])
    assert {chunk.id for chunk in tree.delete(3)} == {side[0], *twig}, "now nobody needs any of it"
    tree.check()
    assert sorted(tree.chunks) == trunk


def test_the_branch_one_stands_on_stays() -> None:
    tree = ChunkTree()
    trunk = grown(tree, 3)
    with pytest.raises(InputError, match="stand on"):
        tree.delete(1)
    tree.stand(trunk[1])
    with pytest.raises(InputError, match="stand on"):
        tree.delete(1)


def test_trunk_goes_and_leaves_what_a_fork_needs() -> None:
    tree = ChunkTree()
    trunk = grown(tree, 4)
    tree.stand(trunk[1])
    grown(tree, 1)
    assert {chunk.id for chunk in tree.delete(1)} == set(trunk[2:])
    tree.check()
    assert len(tree.path()) == 3


def test_what_the_model_saw_before_a_recall_is_another_place() -> None:
    tree = ChunkTree()
    ids = grown(tree, 5)
    tree.grow(BlockId(99), HERE, 1.0, False, ids[1], 0.0)
    assert [chunk.id for chunk in tree.seen_before(5, 3)] == [5, ids[1], ids[0]]
    assert [chunk.id for chunk in tree.path()] == [*ids, 5]


def test_unknown_chunks_and_branches_are_named() -> None:
    tree = ChunkTree()
    grown(tree, 1)
    for call in (lambda: tree.stand(7), lambda: tree.path(7), lambda: tree.tip(9), lambda: tree.delete(9), lambda: tree.rename(9, "x")):
        with pytest.raises(InputError, match=r"no (chunk 7|branch 9)"):
            call()
    with pytest.raises(InputError, match="needs a name"):
        tree.rename(1, "  ")


@given(st.lists(st.tuples(st.sampled_from(["grow", "stand", "delete"]), st.integers(0, 30)), max_size=60))
def test_any_play_leaves_a_tree_that_comes_back_whole(steps: list[tuple[str, int]]) -> None:
    tree = ChunkTree()
    block = 0
    for what, number in steps:
        if what == "grow":
            block += 1
            tree.grow(BlockId(block), HERE, 1.0, False, None, 0.0)
        elif what == "stand" and len(tree):
            tree.stand(sorted(tree.chunks)[number % len(tree)])
        elif what == "delete" and tree.branches:
            before = [chunk.id for chunk in tree.path()]
            branch = sorted(tree.branches)[number % len(tree.branches)]
            others = {other: [c.id for c in tree.path(tree.tip(other))] for other in tree.branches if other != branch}
            try:
                tree.delete(branch)
            except InputError:
                continue
            assert [chunk.id for chunk in tree.path()] == before, "where one stands stays reachable"
            for other, path in others.items():
                assert [chunk.id for chunk in tree.path(tree.tip(other))] == path, "so do all other branches"
        tree.check()
    again = ChunkTree(tree, tree.branches.values(), tree.head)
    assert again.chunks == tree.chunks
    assert (again.head, again.branch) == (tree.head, tree.branch)
    assert {branch: again.tip(branch) for branch in again.branches} == {branch: tree.tip(branch) for branch in tree.branches}
    again.check()
