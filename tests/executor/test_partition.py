"""How pieces of a program are joined to clusters: as by the plain way of counting pairs, in less time."""

from __future__ import annotations

import itertools
import random
from typing import Any, NamedTuple

import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.plan import partition, stages


class Part(NamedTuple):
    """An instruction of a piece: its symbol, which piece it is in, and whether it is heavy."""

    symbol: Any
    piece: int
    heavy: bool


def _plainly(pieces: list[list[Part]]) -> tuple[list[list[Part]], int]:
    """Joins the most frequent pair, counted anew, until none may be joined: not one of a long recurring piece that
    would remain elsewhere, unless a heavy one is behind it."""
    kinds: list[Any] = [tuple(p.symbol for p in piece) for piece in pieces]
    while True:
        counted: dict[Any, int] = {}
        size: dict[Any, int] = {}
        heavy = {kind: any(p.heavy for p in piece) for kind, piece in zip(kinds, pieces, strict=True)}
        length = {kind: len(piece) for kind, piece in zip(kinds, pieces, strict=True)}
        for (a, one), (b, other) in itertools.pairwise(zip(kinds, pieces, strict=True)):
            both = [*one, *other]
            if len(both) <= partition.LARGEST and sum(p.heavy for p in both) <= partition.HEAVY_IN_ONE:
                counted[a, b] = counted.get((a, b), 0) + 1
                size[a, b] = len(both)
        for a, b in list(counted):
            left = {kind: kinds.count(kind) - counted[a, b] * (a, b).count(kind)
                    for kind in ([b] if heavy[b] else [a, b])}
            if any(count > 0 and length[kind] >= partition.RECURRING for kind, count in left.items()):
                del counted[a, b]
        if not counted:
            return pieces, sum(map(len, dict(zip(kinds, pieces, strict=True)).values()))
        best = max(counted, key=lambda pair: (counted[pair], -size[pair]))
        joined: list[Any] = []
        i = 0
        while i < len(pieces):
            is_best = i + 1 < len(pieces) and (kinds[i], kinds[i + 1]) == best
            joined.append((best, pieces[i] + pieces[i + 1]) if is_best else (kinds[i], pieces[i]))
            i += 1 + is_best
        kinds, pieces = [kind for kind, _ in joined], [piece for _, piece in joined]


@pytest.mark.parametrize("seed", range(200))
def test_joined(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Random sequences, half of them with repetitions."""
    monkeypatch.setattr(partition, "symbol", lambda part: part.symbol)
    monkeypatch.setattr(partition, "is_heavy", lambda part: part.heavy)
    monkeypatch.setattr(partition, "_length", len)
    rng = random.Random(seed)
    kinds = rng.randint(1, 8)
    lengths = [rng.choice([1, 2, 5, 20, 24, 40]) for _ in range(kinds)]
    sequence = [rng.randrange(kinds) for _ in range(rng.randint(1, 60))]
    if seed % 2:
        sequence = (sequence[: rng.randint(1, 8)] * 20)[: len(sequence)]
    pieces = [[Part((kind, j), n, j == 0 and kind % 2 == 0) for j in range(lengths[kind])]
              for n, kind in enumerate(sequence)]
    assert partition._join([list(piece) for piece in pieces]) == _plainly(pieces)


def test_binding_looks_nothing_up_in_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """What many clusters read (here a variable each) is found at once: the time is proportional to their number."""
    looked_up: list[Any] = []

    class Listed(list[Any]):
        def __contains__(self, item: Any) -> bool:
            looked_up.append(item)
            return super().__contains__(item)

    make = stages.Stage.__init__

    def made(self: Any, *args: Any) -> None:
        make(self, *args)
        self.outside, self.ins = Listed(self.outside), Listed(self.ins)

    monkeypatch.setattr(stages.Stage, "__init__", made)
    monkeypatch.setattr(partition, "WHOLE", 4)
    monkeypatch.setattr(partition, "UNLIKE", 0)
    monkeypatch.setenv("GRAPHGRAD_FIRST_RUN", "xla")
    with tf.Graph().as_default(), tf.Session() as session:
        y = tf.ones([2, 3])
        for _ in range(12):
            y = tf.tanh(tf.matmul(y, tf.Variable(tf.fill([3, 3], 0.5)))) + 0.1
        session.run(tf.global_variables_initializer())
        report = session.explain(y)
        assert len(report.steps) > 2
        session.run(y)
    assert not looked_up
