"""Rows for connectionist temporal classification."""

import numpy as np

from graphgrad.errors import FailedPreconditionError, InvalidArgumentError
from tests.support.table import Case, Row, V

_PLACES = V([[0, 0], [0, 1], [0, 2], [1, 0], [2, 0], [2, 1]], "int64")
_LABELS = V([0, 0, 2, 1, 2, 0], "int32")
_STEPS = V([6, 4, 5], "int32")
_CASE = [(6, 3, 4), _PLACES, _LABELS, _STEPS]
_X = V(np.sin(np.arange(72.0)).reshape(6, 3, 4), "float32")
_DENSE = [(6, 3, 4), V([[1, 1, 3], [2, 0, 0], [3, 1, 0]], "int32"), V([3, 1, 2], "int32"), _STEPS]
_SHORT = V([2, 4, 5], "int32")


def _bad(pattern, places=_PLACES, labels=_LABELS, steps=_STEPS):
    return ([_X, places, labels, steps], pattern, InvalidArgumentError)


ROWS = [
    Row("CTCLoss", [_CASE, Case(_CASE, ctc_merge_repeated=False), Case(_CASE, preprocess_collapse_repeated=True),
                    Case([(6, 3, 4), _PLACES, _LABELS, _SHORT], ignore_longer_outputs_than_inputs=True)],
        dtypes=["float32", "float64"], ys=[0], dynamic=False, rtol=1e-4, atol=1e-5, order=1,
        note="TensorFlow sums in single precision; higher derivatives need a known number of steps",
        bad=[([(6, 3), *_CASE[1:]], "inputs must have rank 3"),
             ([(6, 3, 4), _PLACES, V([0], "int32"), _STEPS], "1 labels but 6 indices"),
             _bad(r"Not enough time for target transition sequence .required: 4, available: 2", steps=_SHORT),
             _bad(r"sequence_length.0. <= 6", steps=V([7, 4, 5], "int32")),
             _bad(r"Labels length is zero in batch 2", V([[0, 0], [1, 0]], "int64"), V([0, 1], "int32")),
             _bad(r"out of bounds", V([[0, 0], [3, 0]], "int64"), V([0, 1], "int32")),
             _bad(r"must be nonnegative", labels=V([0, -1, 2, 1, 2, 0], "int32")),
             _bad(r"non-null label", labels=V([0, 3, 2, 1, 2, 0], "int32"))]),
    Row("CTCLoss", [[(4, 2, 3), V([[0, 0], [0, 1], [1, 0]], "int64"), V([0, 0, 1], "int32"), V([4, 3], "int32")]],
        dtypes=["float64"], ys=[0], dynamic=False, rtol=1e-4, atol=1e-5, note="all orders, of a small case"),
    Row("CTCLoss", [_CASE], ys=[1], order=1, tf=False, dynamic=False, dtypes=["float64"],
        note="the gradient, as an output; its higher derivatives are those of the row above"),
    Row("CTCLossV2", [[(4, 2, 3), V([[0, 0], [0, 1], [1, 0]], "int64"), V([1, 1, 2], "int32"), V([4, 3], "int32")]],
        dtypes=["float64"], ys=[0], dynamic=False, order=2, tf=False, note="TensorFlow has a kernel for GPUs only",
        bad=[([(6, 3), *_CASE[1:]], "inputs must have rank 3")]),
    Row("CTCLossStates", [_CASE], tf=False, shapes="rank", note="an op of graphgrad's own"),
    Row("CTCLossDense", [_DENSE], dtypes=["float64"], ys=[0], order=3, tf=False, dynamic=False,
        note="an op of graphgrad's own; tf.nn.ctc_loss is compared with TensorFlow's",
        bad=[(Case(_DENSE, blank_index=4), "not one of 4 classes"),
             ([*_DENSE[:2], V([3, 1], "int32"), _STEPS], "label_length has 2 elements for 3 rows"),
             ([_DENSE[0], V([[1]], "int32"), *_DENSE[2:]], "1 rows of labels but 3")]),
    Row("CTCLossDenseStates", [_DENSE], tf=False, shapes="rank", note="an op of graphgrad's own"),
    Row("CTCGreedyDecoder", [[(6, 3, 4), _STEPS], Case([(6, 3, 4), _STEPS], merge_repeated=True, blank_index=1)],
        dtypes=["float32", "float64"], shapes="rank", order=0, note="how many labels there are depends on the values",
        bad=[([(6, 3, 4), V([1, 2], "int32")], "2 elements for 3 rows"),
             ([_X, V([7, 4, 5], "int32")], "sequence_length.0. <= 6", FailedPreconditionError)]),
    Row("CTCBeamSearchDecoder", [Case([(6, 3, 4), _STEPS], beam_width=5, top_paths=3, merge_repeated=False),
                                 Case([(6, 3, 4), _STEPS], beam_width=40, top_paths=2)],
        dtypes=["float32"], shapes="rank", order=0, rtol=1e-4, note="how many labels there are depends on the values",
        bad=[(Case([(6, 3, 4), _STEPS], beam_width=2, top_paths=3), "more paths than the beam width"),
             (Case([_X, V([7, 4, 5], "int32")], beam_width=2, top_paths=1), "sequence_length.0. <= 6",
              FailedPreconditionError)]),
    Row("CTCUniqueLabels", [[V([[3, 4, 4, 3], [1, 2, 2, 0]])]], dtypes=["int32", "int64"], tf=False,
        note="an op of graphgrad's own; tf.nn.ctc_unique_labels is compared with TensorFlow's",
        bad=[([V([1, 2])], "labels must have rank 2")]),
    Row("CollapseRepeated", [[V([[1, 1, 2, 2, 1], [3, 3, 0, 0, 0], [1, 2, 3, 4, 5]]), V([5, 2, 0], "int32")]],
        dtypes=["int32", "int64"], tf=False, shapes="rank",
        note="an op of graphgrad's own; tf.nn.collapse_repeated is compared with TensorFlow's"),
]
