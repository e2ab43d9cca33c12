"""Rows for `training/summaries/summary_ops.py`."""

import numpy as np

from graphgrad.errors import InvalidArgumentError
from tests.support.table import Case, L, Row, V

_TAG = V("a/tag", "string")
_VALUE = bytes([10, 9, 10, 2, 97, 98, 21, 0, 0, 128, 63])  # tag "ab", simple_value 1
_OTHER = bytes([10, 8, 10, 1, 97, 21, 0, 0, 0, 64])
_TEXT = V(b"\n\x06\n\x04text", "string")

ROWS = [
    Row("ScalarSummary", [[_TAG, ()], [V(["a", "b"], "string"), (2,)]], dtypes=["float32", "float64", "float16"],
        bad=[([_TAG, (2,)], r"(?s)not the same shape: \[\] != \[2\] \(tag 'a/tag'\).*Fix:", InvalidArgumentError)]),
    Row("ScalarSummary", [[_TAG, V(0)], [_TAG, V(200)]], dtypes=["int32", "int64", "uint8"], order=0),
    Row("HistogramSummary", [[_TAG, (3, 40)], [_TAG, V([1, 2.5, -3, 0, 1e-13])], [_TAG, (0, 3)],
                             [_TAG, V([1e30, -1e30])], [_TAG, V([0.0])]],
        dtypes=["float32", "float64"],
        bad=[([_TAG, V([1.0, np.nan])], "(?s)Nan in summary histogram for: a/tag.*Fix:", InvalidArgumentError),
             ([_TAG, V([1.0, np.inf])], "(?s)Infinity in summary histogram for: a/tag.*Fix:", InvalidArgumentError)]),
    Row("HistogramSummary", [[_TAG, V([[1, 2], [3, 100]])]], dtypes=["int32", "uint8"], order=0),
    Row("ImageSummary", [Case([_TAG, (1, 2, 3, 3)], max_images=1), Case([_TAG, (4, 3, 2, 1)])], tf=False,
        note="PNG files can be compressed in several ways: tests/training/test_summaries.py compares pixels",
        bad=[([_TAG, (1, 2, 2, 2)], r"(?s)last dim 1, 3, or 4, not \[1, 2, 2, 2\].*Fix:", InvalidArgumentError),
             (Case([_TAG, (1, 2, 2, 1)], max_images=0), "(?s)passed 0 less than minimum 1.*Fix:")]),
    Row("TensorSummaryV2", [[_TAG, V([["a"], ["b c"]], "string"), _TEXT], [_TAG, V("x", "string"), _TEXT]], order=0),
    Row("TensorSummaryV2", [[_TAG, (2, 2), V(b"", "string")]], tf=False, wrt=[],
        note="TensorFlow writes numbers one by one, not as bytes, where there are few"),
    Row("MergeSummary", [[L(V(_VALUE, "string"), V([_OTHER], "string"))], [L(V(_VALUE, "string"))]], order=0,
        bad=[([L(V(_VALUE, "string"), V(_VALUE, "string"))], "(?s)Duplicate tag ab found in summary inputs.*Fix:",
              InvalidArgumentError)]),
]
