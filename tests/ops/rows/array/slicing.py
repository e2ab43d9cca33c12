"""Rows for `ops/array/strided_slice.py`, `slicing.py` and `pad.py`."""

import numpy as np

from tests.support.table import Case, Row, V

FLOATS = ["float32", "float64", "complex64"]


def _part(begin, end, strides, **masks):
    """A StridedSlice of a (3, 4, 5) tensor."""
    return Case([(3, 4, 5), V(begin), V(end), V(strides)], **masks)


ROWS = [
    Row("StridedSlice", [
            _part([0], [1], [1], shrink_axis_mask=1),
            _part([1, 0], [2, 0], [1, 2], shrink_axis_mask=1, end_mask=2),
            _part([0, -1], [0, 0], [1, -2], ellipsis_mask=1, begin_mask=2, end_mask=2),
            _part([0, 1, 0], [0, 2, 3], [1, 1, 1], new_axis_mask=1, shrink_axis_mask=2),
            _part([-1, -3, 4], [0, 4, 0], [1, 1, -3], shrink_axis_mask=1),
            _part([1, 0, 2], [1, 9, 3], [1, 3, 1]),
            _part([0, 1, 2], [1, 2, 3], [1, 1, 1], shrink_axis_mask=7),
            _part([2, 0, 0, 1], [0, 0, 0, 5], [-1, 1, 1, 2], ellipsis_mask=2, new_axis_mask=4),
            Case([(3, 4), V([1, 0], "int64"), V([3, 4], "int64"), V([1, 2], "int64")]),
            Case([(), V([], "int32"), V([], "int32"), V([], "int32")]),
        ],
        dtypes=FLOATS,
        bad=[(_part([3], [4], [1], shrink_axis_mask=1), "slice index 3 of dimension 0 out of bounds"),
             (_part([0], [1], [0]), r"strides\[0\] must be non-zero"),
             (_part([0] * 4, [1] * 4, [1] * 4), "only has|has only 3 dims"),
             (_part([0, 0], [1], [1]), "must have one length"),
             (_part([0, 0], [0, 0], [1, 1], ellipsis_mask=3), "Multiple ellipses")]),
    Row("StridedSliceGrad", [
            Case([V([3, 4]), V([1]), V([2]), V([1]), (4,)], shrink_axis_mask=1),
            Case([V([3, 4]), V([2, 1]), V([0, 4]), V([-1, 2]), (2, 2)]),
            Case([V([3, 4]), V([0, 0, -1]), V([0, 0, 0]), V([1, 1, 1]), (3, 1)], ellipsis_mask=1, new_axis_mask=2,
                 shrink_axis_mask=4),
            Case([V([3, 4]), V([1, 1]), V([1, 3]), V([1, 1]), (0, 2)]),
        ],
        dtypes=["int32", "int64"]),
    Row("Slice", [[(3, 4), V([1, 0]), V([2, 3])], [(3, 4), V([0, 2]), V([-1, -1])],
                  [(3, 4), V([3, 0], "int64"), V([0, 4], "int64")], [(), V([], "int32"), V([], "int32")]],
        dtypes=FLOATS,
        bad=[([(3, 4), V([2, 0]), V([2, 1])], r"Expected begin\[0\]"), ([(3, 4), V([0]), V([1])], "tensor of rank 2"),
             ([(3,), V([-1]), V([1])], r"begin\[0\] in \[0, 3\]"), ([(3,), V([0]), V([-2])], r"size\[0\] >= -1")]),
    Row("AxisSlice", [Case([(3, 4)], axis=0, begin=1, size=2), Case([(3, 4)], axis=1, begin=0, size=3),
                      Case([(2, 3, 4)], axis=1, begin=3, size=0)],
        dtypes=FLOATS, tf=False, note="graphgrad's own, for plans",
        bad=[(Case([(3, 4)], axis=2, begin=0, size=1), "axis 2 is not one of the 2 axes"),
             (Case([(3, 4)], axis=0, begin=2, size=2), r"slices 2 to 4 are not in axis 0 of \(3, 4\)")]),
    Row("Pad", [[(2, 3), V([[1, 0], [2, 1]])], [(2,), V([[0, 0]], "int64")], [(), V(np.zeros((0, 2), np.int32))]],
        dtypes=FLOATS,
        bad=[([(2, 3), V([[1, 1]])], "must have rank 1"), ([(2,), V([[-1, 0]])], "non-negative")]),
    Row("PadV2", [[(2, 3), V([[1, 0], [2, 1]]), ()], [(0,), V([[1, 2]], "int64"), ()]], dtypes=FLOATS, wrt=["input"],
        bad=[([(2, 3), V([[1, 1]]), ()], "must have rank 1")]),
    Row("PadV2", [[(2,), V([[1, 0]]), ()]], order=0, note="as in TensorFlow, no gradient for the value"),
    Row("MirrorPad", [Case([(3, 4), V([[2, 1], [0, 3]])], mode="REFLECT"),
                      Case([(3, 4), V([[3, 1], [0, 4]], "int64")], mode="SYMMETRIC"),
                      Case([(2,), V([[0, 0]])], mode="REFLECT")], dtypes=FLOATS,
        bad=[(Case([(2,), V([[2, 0]])], mode="REFLECT"), "no greater than 1"),
             (Case([(2,), V([[1, 0]])], mode="EDGE"), "mode 'EDGE'")]),
    Row("MirrorPadGrad", [Case([(6, 7), V([[2, 1], [0, 3]])], mode="REFLECT"),
                          Case([(7, 8), V([[3, 1], [0, 4]])], mode="SYMMETRIC")], dtypes=["float32", "float64"]),
    Row("XlaDynamicSlice", [[(4, 5), V([1, 2]), V([2, 2])], [(4, 5), V([3, -1]), V([2, 3])], [(3,), V([9]), V([0])],
                            [(), V([], "int32"), V([], "int32")]],
        dtypes=FLOATS, tf=False, note="TensorFlow loads it with its compiler only, and has no gradient of it",
        bad=[([(4, 5), V([1]), V([2, 2])], "vector with length equal"),
             ([(4, 5), V([0, 0]), V([2, 9])], "larger than axis 1"),
             ([(4, 5), V([0, 0]), V([2])], "one size for each axis")]),
    Row("XlaDynamicUpdateSlice", [[(4, 5), (2, 2), V([1, 2])], [(4, 5), (2, 3), V([3, -1])], [(3,), (0,), V([9])],
                                  [(), (), V([], "int32")]],
        dtypes=FLOATS, tf=False, note="TensorFlow loads it with its compiler only, and has no gradient of it",
        bad=[([(4, 5), (2, 2), V([1])], "vector with length equal"),
             ([(4, 5), (5, 2), V([0, 0])], "larger than axis 0"),
             ([(4, 5), (3,), V([0, 0])], "same rank")]),
]
