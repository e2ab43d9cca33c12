"""Rows for `ops/common/broadcast.py`."""

from tests.support.table import Row, V

ROWS = [
    Row("BroadcastGradientArgs",
        [[V([2, 3]), V([3])], [V([2, 1, 4]), V([5, 4])], [V([]), V([2])], [V([3]), V([3])], [V([1, 1]), V([1])]],
        dtypes=["int32", "int64"], shapes="rank", order=0,
        note="how many axes were repeated depends on the values"),
]
