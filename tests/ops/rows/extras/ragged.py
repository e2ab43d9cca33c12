"""Rows for `extras/ragged/ragged_ops.py`."""

import numpy as np

from graphgrad.errors import InvalidArgumentError
from tests.support.table import Case, L, Row, V

FLOATS = ["float32", "float64"]
_COUNT = "how large the result is depends on the values"
_SPLITS, _OUTER = V([0, 2, 2, 5], "int64"), V([0, 1, 3], "int64")
_FREE = V(-1, "int32")
_DEEP = {"row_partition_types": ("ROW_SPLITS", "ROW_SPLITS")}
_WRONG = "TensorFlow does not differentiate the gradient"

ROWS = [
    Row("RaggedTensorToTensor",
        [Case([_FREE, (5,), (), L(_SPLITS)], row_partition_types=("ROW_SPLITS",)),
         Case([V([-1, 2]), (5,), (), L(_SPLITS)], row_partition_types=("ROW_SPLITS",)),
         Case([V([4, 4, 2]), (5, 2), (), L(_SPLITS)], row_partition_types=("ROW_SPLITS",)),
         Case([V([-1, -1, 2]), (5, 2), (2,), L(_SPLITS)], row_partition_types=("ROW_SPLITS",)),
         Case([V([-1, -1, -1]), (5,), (), L(V([0, 1, 3], "int64"), _SPLITS)], **_DEEP),
         Case([_FREE, (3,), (), L(V(4, "int64"), V([0, 0, 3], "int64"))],
              row_partition_types=("FIRST_DIM_SIZE", "VALUE_ROWIDS"))],
        dtypes=FLOATS, shapes="any", inference=False, dynamic=False, note=_COUNT,
        bad=[(Case([_FREE, (5,), (), L(V([0, 3, 2, 5], "int64"))], row_partition_types=("ROW_SPLITS",)),
              "must begin with 0 and not decrease", InvalidArgumentError),
             (Case([_FREE, (4,), (), L(_SPLITS)], row_partition_types=("ROW_SPLITS",)), "for 5 values, but there are 4",
              InvalidArgumentError),
             (Case([V([2]), (5,), (), L(_SPLITS)], row_partition_types=("ROW_SPLITS",)), "1 sizes for a tensor",
              InvalidArgumentError)]),
    Row("RaggedTensorToSparse", [[L(_SPLITS), (5,)], [L(_SPLITS), (5, 2)], [L(_OUTER, _SPLITS), (5,)]], dtypes=FLOATS,
        shapes="any", inference=False, note=_COUNT),
    Row("RaggedRange", [[V([0, 5, 8]), V([3, 5, 2]), V(1)], [V(0), V([2, 4]), V(2)], [V(3), V(0), V(-1)]],
        dtypes=["int32"], shapes="any", inference=False, note=_COUNT,
        bad=[([V(0), V(1), V(0)], "delta != 0", InvalidArgumentError)]),
    Row("RaggedRange", [[V([0.0, 1.0]), V([1.0, 2.5]), V(0.5)]], order=0, shapes="any", inference=False, note=_COUNT),
    Row("RaggedGather", [Case([L(_SPLITS), (5,), V([2, 0, 2])], OUTPUT_RAGGED_RANK=1),
                         Case([L(_SPLITS), (5, 2), V([[2, 0], [1, 1]], "int64")], OUTPUT_RAGGED_RANK=2),
                         Case([L(_OUTER, _SPLITS), (5,), V([1, 0])], OUTPUT_RAGGED_RANK=2)],
        dtypes=FLOATS, shapes="any", inference=False, note=_COUNT,
        bad=[(Case([L(_SPLITS), (5,), V([3])], OUTPUT_RAGGED_RANK=1), "= 3 is not in", InvalidArgumentError)]),
    Row("RaggedFillEmptyRows", [[V([0, 0, 2], "int64"), (3,), V(4, "int64"), ()],
                                [V(np.zeros(0, np.int64), "int64"), (0,), V(2, "int64"), ()]],
        dtypes=FLOATS, shapes="rank", inference=False, note=_COUNT, wrt=["values", "default_value"]),
    Row("RaggedFillEmptyRowsGrad", [[V([0, 1, 3], "int64"), (4,)]], tf_grad=False, note=_WRONG),
]
