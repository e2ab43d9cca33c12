"""Arrays that processes exchange together: as vectors, and as rows of which each process has another number."""

from __future__ import annotations

import numpy as np

from graphgrad.executor.backend.exchanges.packed_arrays import Rows, pack, unpack


def test_vectors() -> None:
    """What was packed is unpacked; large arrays begin where XLA takes them as they lie."""
    arrays = [np.arange(n, dtype=np.float32).reshape(shape) for n, shape in
              [(3, (3,)), (600, (2, 300)), (0, (0, 4)), (1, ()), (257, (257,))]]
    flat = pack(arrays, np.dtype(np.float32))
    found = unpack(flat, arrays, np.dtype(np.float32))
    for a, b in zip(arrays, found, strict=True):
        np.testing.assert_array_equal(a, b)
    assert [a.ctypes.data % 64 for a in (flat, found[1], found[4])] == [0, 0, 0]
    assert flat.sum() == sum(a.sum() for a in arrays)  # zeros between


def test_rows() -> None:
    """With room enough one exchange does; otherwise all processes see in it how much is needed."""
    given = [[np.arange(2 * n, dtype=np.float32).reshape(n, 2), np.arange(n, dtype=np.uint8)] for n in (3, 5)]
    rows = [Rows(arrays) for arrays in given]
    room, exchanges = [0, 0], []
    for _ in range(3):
        words = np.stack([one.words(room) for one in rows])
        exchanges.append(rows[0].is_short(words, room))
        rooms = [one.room(words, room) for one in rows]
        assert rooms[0] == rooms[1]
        if not exchanges[-1]:
            for one in rows:
                for i, found in enumerate(one.joined(words, room)):
                    np.testing.assert_array_equal(found, np.concatenate([arrays[i] for arrays in given]))
        room = rooms[0]
    assert exchanges == [True, False, False] and room == [5, 5]


def test_room_changes_rarely() -> None:
    """It is rounded up for more rows, and is given back where most of it was not used."""
    room, sizes = [100], set()
    for n in range(100, 200):
        one = Rows([np.zeros((n, 1), np.float32)])
        words = one.words(room)[None]
        assert one.is_short(words, room) == (n > room[0])
        room = one.room(words, room)
        sizes.add(room[0])
    assert len(sizes) < 12 and room[0] < 225
    one = Rows([np.zeros((20, 1), np.float32)])
    assert one.room(one.words(room)[None], room) == [20]
