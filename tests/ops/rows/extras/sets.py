"""Rows for sets, pairs of sparse tensors, serialized tensors, and for what `bits.py`, `hashing.py`, `strided.py` and
`scatter.py` have beside the ops that Python's operators and slices build."""

import numpy as np

from graphgrad.errors import InvalidArgumentError
from tests.support.table import Case, R, Row, V, distinct

FLOATS = ["float32", "float64"]
_NO_WEIGHTS = V(np.zeros(0), "float32")
_COUNT = "how many elements there are depends on the values"
_SHAPE = V([2, 4], "int64")
_A = V([[0, 1], [0, 3], [1, 0]], "int64")
_B = V([[0, 0], [0, 1], [1, 0], [1, 2]], "int64")
_NONE = V(np.zeros((0, 2), np.int64), "int64")
_DENSE = V([[[1, 2, 2], [3, 4, 5]], [[7, 7, 7], [0, 1, 9]]])
_OTHER = V([[[2, 9], [4, 3]], [[8, 8], [9, 1]]])
_PLACES = V([[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 1, 0], [1, 1, 2]], "int64")
_HELD = V([2, 9, 4, 9, 1])
_CUBE = V([2, 2, 3], "int64")
_THREE = V([[0, 0, 0], [1, 0, 0], [1, 1, 0]], "int64")
_TREE = (_PLACES, _HELD, _CUBE)
_BROKEN = "TensorFlow's gradient raises a TypeError"
_WORDS = V(["Hello", "TF", "", "a longer string of more than 16 bytes"], "string")


def _two(kind):
    return Row(f"SparseSparse{kind}", [[_A, (3,), _SHAPE, _B, (4,), _SHAPE], [_A, (3,), _SHAPE, _NONE, (0,), _SHAPE]],
               dtypes=FLOATS, domain={"a_values": _shifted, "b_values": _further}, shapes="rank", tf_grad=False,
               note=f"{_COUNT}; {_BROKEN}",
               bad=[([_A, (3,), _SHAPE, _B, (4,), V([2, 5], "int64")], "differ", InvalidArgumentError)])


def _shifted(rng, shape, dtype):
    return distinct(rng, shape, dtype) + 0.03


def _further(rng, shape, dtype):
    return distinct(rng, shape, dtype) + 0.05


def _updated(begin, end, strides, value, **masks):
    return Case([(3, 4, 5), V(begin), V(end), V(strides), value], **masks)


ROWS = [
    _two("Maximum"), _two("Minimum"),
    *[Row(f"SparseReduce{kind}Sparse", [[_B, (4,), _SHAPE, V([1])], [_B, (4,), _SHAPE, V([0])],
                                        Case([_PLACES, (5,), _CUBE, V([0, 2])], keep_dims=True)],
          dtypes=[*FLOATS, "int32"], shapes="any", tf_grad=False,
          note=f"{_COUNT}; TensorFlow has no gradient", domain={"input_values": distinct}) for kind in ("Sum", "Max")],
    *[Row("DenseToDenseSetOperation", [Case([_DENSE, _OTHER], set_operation=kind)], dtypes=["int32"], shapes="rank",
          note=_COUNT) for kind in ("a-b", "b-a", "union")],
    Row("DenseToDenseSetOperation", [Case([_DENSE, _OTHER]),
                                     Case([V([[b"b", b"a", b"b"]], "string"), V([[b"c", b"a"]], "string")])],
        attrs={"set_operation": "intersection"}, dtypes=["int32"], shapes="rank", note=_COUNT,
        bad=[([V([[1, 2]]), V([[1], [2]])], "of all but the last axis differ", InvalidArgumentError),
             (Case([V([[1, 2]]), V([[1]])], set_operation="xor"), "set_operation 'xor'", InvalidArgumentError)]),
    Row("DenseToSparseSetOperation", [Case([_DENSE, *_TREE], set_operation=kind)
                                      for kind in ("a-b", "b-a", "intersection", "union")],
        dtypes=["int32"], shapes="rank", note=_COUNT),
    Row("SparseToSparseSetOperation", [Case([*_TREE, _THREE, V([9, 5, 1]), _CUBE], set_operation=kind)
                                       for kind in ("a-b", "b-a", "intersection", "union")],
        dtypes=["int32"], shapes="rank", note=_COUNT),
    Row("SetSize", [[*_TREE], [_PLACES, V([1, 1, 2, 3, 3]), _CUBE]], dtypes=["int32"], shapes="rank",
        note="the sizes are values"),
    Row("EditDistance", [Case([*_TREE, _THREE, V([9, 5, 1]), _CUBE], normalize=n)
                         for n in (True, False)], dtypes=["int32"]),
    Row("SerializeTensor", [[(2, 3)], [()], [(0, 3)]], dtypes=["float32", "int64", "bool", "bfloat16", "complex64"],
        order=0),
    Row("SerializeTensor", [[V([["a", ""], ["b", "c"]], "string")]], dtypes=["string"]),
    Row("ParseTensor", [Case([V(s, "string")], out_type=t) for s, t in (
            (b'\x08\x01\x12\x08\x12\x02\x08\x01\x12\x02\x08\x02"\x08\x00\x00\x80?\x00\x00\x00@', "float32"),
            (b"\x08\x07\x12\x04\x12\x02\x08\x02B\x01aB\x02bc", "string"),
            (b"\x08\x01\x12\x04\x12\x02\x08\x03*\x08\x00\x00\x80?\x00\x00\x00@", "float32"),
            (b"\x08\x03\x12\x04\x12\x02\x08\x03:\x02\x05\x06", "int32"))],
        shapes="any", note="the shape is in the string", order=0,
        bad=[(Case([V(b"\x08\x03\x12\x00\x22\x04\x03\x00\x00\x00", "string")], out_type="float32"),
              "Type mismatch between parsed tensor \\(int32\\)", InvalidArgumentError),
             (Case([V(b"nonsense", "string")], out_type="float32"), "Could not parse", InvalidArgumentError)]),
    Row("PopulationCount", [[V([0, 1, 2, 3, 100, 127])], [()]], dtypes=["uint8", "int8"], domain=(0, 100)),
    Row("PopulationCount", [[V([0, -1, 2, -3, 100])]], dtypes=["int8", "int32", "int64"]),
    Row("StringToHashBucketStrong", [Case([_WORDS], num_buckets=1000, key=(1, 2)),
                                     Case([_WORDS], num_buckets=7, key=(123456789012345, 42))], order=0,
        bad=[(Case([_WORDS], num_buckets=0, key=(1, 2)), "num_buckets", InvalidArgumentError),
             (Case([_WORDS], num_buckets=9, key=(1,)), "Key must have 2 elements", InvalidArgumentError)]),
    Row("TensorStridedSliceUpdate",
        [_updated([1, 0], [2, 0], [1, 2], (2, 5), shrink_axis_mask=1, end_mask=2), _updated([0], [2], [1], (4, 5)),
         _updated([0, -1], [0, 0], [1, -2], (3, 4, 3), ellipsis_mask=1, begin_mask=2, end_mask=2),
         _updated([1, 1], [3, 4], [1, 2], ())],
        dtypes=FLOATS, bad=[(_updated([0], [2], [1], (3, 4, 5)), "dimension -3 differs")]),
    Row("ScatterNdNonAliasingAdd", [[(5,), V([[1], [3], [1]]), (3,)], [(4, 3), V([[1], [0]], "int64"), (2, 3)]],
        dtypes=FLOATS, bad=[([(5,), V([[5]]), (1,)], "does not index", InvalidArgumentError)]),
    Row("HistogramFixedWidth", [[V([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0]), V([0.0, 5.0]), V(5)],
                                [(3, 4), V([-1.0, 1.0]), V(3)],
                                Case([(20,), V([-2.0, 2.0]), V(4)], dtype="int64")], dtypes=FLOATS,
        bad=[([(3,), V([0.0, 1.0]), V(0)], "positive number", InvalidArgumentError)]),
    Row("HistogramFixedWidth", [[V([-3, 0, 4, 9, 10]), V([0, 10]), V(5)]], dtypes=["int32"]),
    Row("UnsortedSegmentJoin", [Case([V(["a", "b", "c", "d"], "string"), V([0, 2, 0, 2]), V(4)], separator=":"),
                                [V([["a", "b"], ["c", "d"]], "string"), V([1, 1]), V(2)],
                                [V([["a", "b"], ["c", "d"]], "string"), V([[1, 0], [1, 1]], "int64"), V(2)]], order=0,
        inference=False, note="more is inferred than by TensorFlow",
        bad=[([V(["a"], "string"), V([2]), V(2)], "exceed num_segments", InvalidArgumentError)]),
    Row("Fingerprint", [[V(["abc", "x", ""], "string"), V("farmhash64", "string")],
                        [V([["abc", "x"], ["y", ""]], "string"), V("farmhash64", "string")]], dtypes=["string"],
        bad=[([V(["a"], "string"), V("md5", "string")], "Unsupported fingerprint method", InvalidArgumentError)]),
    Row("Fingerprint", [[(2, 3), V("farmhash64", "string")]], dtypes=["float32", "int64"]),
    Row("DenseCountSparseOutput", [Case([V([1, 1, 7]), _NO_WEIGHTS], minlength=3, maxlength=5),
                                   Case([V([[1, 1, 2], [3, 0, 0]]), _NO_WEIGHTS], binary_output=True),
                                   [V([1, 1, 7]), (3,)], [V([[1, 1, 2], [3, 0, 0]]), (2, 3)]],
        attrs={"binary_output": False}, dtypes=["int32", "int64"], shapes="any", inference=False, note=_COUNT,
        dynamic=False, bad=[(Case([V([-1]), _NO_WEIGHTS]), "non-negative", InvalidArgumentError),
                            (Case([V([[[1]]]), _NO_WEIGHTS]), "1 or 2-dimensional", InvalidArgumentError),
                            (Case([V([1, 2]), V([1.0], "float32")]), "1 weights for 2", InvalidArgumentError)]),
    Row("DenseCountSparseOutput", [Case([V([1, 1, 7]), R((3,), "float64")], maxlength=5),
                                   [V([[1, 1, 2], [3, 0, 0]]), R((2, 3), "float64")]], dtypes=["int32"],
        attrs={"binary_output": False}, shapes="any", inference=False, note=_COUNT, dynamic=False),
    Row("SparseCountSparseOutput", [Case([_B, V([1, 1, 2, 3]), _SHAPE, _NO_WEIGHTS], minlength=3),
                                    [_B, V([1, 1, 2, 2]), _SHAPE, R((4,), "float64")]], dtypes=["int32"],
        attrs={"binary_output": False}, shapes="any", inference=False, note=_COUNT, dynamic=False),
]
