"""Rows for less frequent ops of neural nets: older forms, ranks, morphology, volumes."""

import numpy as np

from graphgrad.errors import InvalidArgumentError
from tests.support.table import Case, R, Row, V, distinct

_BN = [(2, 3, 4, 5), R((5,), domain=(0.5, 2.0)), (5,), V(np.zeros(0)), V(np.zeros(0))]
_BN_GIVEN = [(2, 3, 4, 5), R((5,), domain=(0.5, 2.0)), (5,), (5,), R((5,), domain=(0.5, 2.0))]
_BN_GRAD = [(2, 3, 4, 5), (2, 3, 4, 5), R((5,), domain=(0.5, 2.0)), (5,), R((5,), domain=(0.5, 2.0))]
_GLOBAL = [(2, 2, 3, 4), (4,), R((4,), domain=(0.5, 2.0)), (4,), (4,)]
_NO_OLD = {"tf": False, "note": "TensorFlow has the record but refuses to run it in graphs of today"}
_STEP = {"strides": (1, 1, 1, 1), "rates": (1, 1, 1, 1), "padding": "SAME"}
_HOLES = {"strides": (1, 2, 1, 1), "rates": (1, 1, 2, 1), "padding": "VALID"}
_POOL = {"padding": "SAME"}
_K = V([1, 2, 2, 1], "int32")
_POOLED = {"ksize": (1, 2, 2, 1), "strides": (1, 2, 2, 1), "padding": "VALID"}
_PLACES = V(np.array([[[[0], [2]], [[9], [15]]]]), "int64")


def segments(rng, shape, dtype):
    """Values whose isotonic regression does not change its segments when they move a little."""
    steps = np.cumsum(rng.choice([-1.0, 1.0], shape), -1)
    return (steps + rng.uniform(-0.2, 0.2, shape)).astype(dtype.np_dtype)


_RATIO = {"pooling_ratio": (1.0, 1.4, 1.7, 1.0), "deterministic": True, "seed": 5, "seed2": 7}
_FRACTIONS = [Case([(2, 7, 9, 2)], pseudo_random=r, overlapping=o) for r in (False, True) for o in (False, True)]
_ROWS, _COLUMNS = V([0, 2, 3, 5, 7], "int64"), V([0, 2, 4, 6], "int64")
_SMALL = {"overlapping": True}
_BAD_RATIO = [(Case([(2, 7, 9, 2)], pooling_ratio=(1.0, 0.9, 1.0, 1.0)), "cannot be smaller than 1"),
              (Case([(2, 7, 9, 2)], pooling_ratio=(2.0, 1.1, 1.0, 1.0)), "batch nor channel dimension"),
              (Case([(2, 7, 9, 2)], pooling_ratio=(1.0, 8.0, 1.0, 1.0)), "higher than input dimension size"),
              (Case([(2, 7, 9, 2)], deterministic=False), "should be 0 if deterministic is false")]


ROWS = [
    Row("BiasAddV1", [[(2, 3), (3,)], [(2, 4, 5, 3), (3,)]], dtypes=["float32", "float64", "int32"],
        bad=[([(2, 4), (3,)], "bias has 3 elements but value has 4 channels")]),
    # -- batch normalization
    Row("FusedBatchNorm", [_BN, Case([(2, 5, 3, 4), *_BN[1:]], data_format="NCHW"), Case(_BN_GIVEN, is_training=False)],
        attrs={"epsilon": 0.01}, ys=[0], wrt=["x", "scale", "offset"],
        bad=[([(2, 3, 4, 6), *_BN[1:]], "scale has 5 elements but x has 6 channels")]),
    Row("FusedBatchNormV2", [_BN, Case(_BN_GIVEN, is_training=False)], attrs={"epsilon": 0.01}, ys=[0],
        wrt=["x", "scale", "offset"]),
    *[Row(name, [Case(_BN_GRAD, is_training=False)], attrs={"epsilon": 0.01}, ys=[0, 1, 2],
          wrt=["y_backprop", "x", "scale"]) for name in ("FusedBatchNormGrad", "FusedBatchNormGradV2")],
    *[Row("BatchNormWithGlobalNormalization", [_GLOBAL],
          attrs={"variance_epsilon": 0.1, "scale_after_normalization": scaled}, **_NO_OLD,
          bad=[([(2, 2, 3, 5), *_GLOBAL[1:]], "m has 4 elements but t has 5 channels")]) for scaled in (True, False)],
    *[Row("BatchNormWithGlobalNormalizationGrad", [[*_GLOBAL[:3], (4,), (2, 2, 3, 4)]],
          attrs={"variance_epsilon": 0.1, "scale_after_normalization": scaled}, **_NO_OLD) for scaled in (True, False)],
    # -- ranks
    Row("TopK", [Case([(5,)], k=2), Case([(2, 5)], k=3)], domain=distinct, tf=False,
        note="TensorFlow has the record but no kernel",
        bad=[(Case([(2, 3)], k=4), "last dimension >= k = 4 but is 3")]),
    Row("ApproxTopK", [Case([(5,)], k=2), Case([(2, 5)], k=3), Case([(2, 3, 4)], k=4, reduction_dimension=-1)],
        domain=distinct, dtypes=["float32"],
        bad=[(Case([(2, 3)], k=4), "last dimension >= k = 4 but was 3"), (Case([()], k=0), "rank at least 1")]),
    Row("ApproxTopK", [Case([(2, 5, 3)], k=2, reduction_dimension=1), Case([(2, 5)], k=3, is_max_k=False)],
        domain=distinct, tf=False, note="TensorFlow has no kernel for these on a CPU"),
    Row("NthElement", [[(5,), V(0)], [(2, 5), V(3)], Case([(2, 3, 4), V(1)], reverse=True)], domain=distinct,
        dtypes=["float32", "float64", "float16", "int32"],
        bad=[([(2, 3), V(3)], "last dimension > n = 3 but is 3"), ([(2, 3), V(-1)], "must be non-negative"),
             ([(), V(0)], "rank at least 1"), ([(2, 3), V([1])], "must be a scalar")]),
    Row("NthElement", [[V([[1.0, 3.0, 3.0, 2.0]]), V(2)]], order=0, note="equal elements share the gradient"),
    Row("InTopK", [Case([R((4, 3), "float32"), V([0, 2, 1, 2])], k=2)], dtypes=["int32", "int64"]),
    Row("IsotonicRegression", [[(2, 7)]], domain=segments, ys=[0],
        bad=[([V(1.0)], "rank at least 1")]),
    Row("IsotonicRegression", [[(5,)], [(2, 1, 6)]], domain=segments, ys=[0], tf_grad=False,
        note="TensorFlow's gradient is right for matrices only"),
    Row("IsotonicRegression", [Case([(2, 7)], output_dtype="float64")], dtypes=["float64", "int32"], domain=segments,
        ys=[0]),
    Row("CheckNumericsV2", [Case([(2, 3)], message="here")], dtypes=["float32", "float64", "float16"],
        bad=[(Case([V([1.0, np.inf, np.nan, -np.inf])], message="here"), "here : Tensor had -Inf, .Inf, and NaN",
              InvalidArgumentError)]),
    # -- morphology, patches
    Row("Dilation2D", [Case([(2, 4, 5, 3), (3, 2, 3)], **_STEP), Case([(1, 6, 7, 2), (2, 3, 2)], **_HOLES)],
        dtypes=["float32", "float64", "float16", "int32"],
        bad=[(Case([(2, 4, 5, 3), (3, 2, 2)], **_STEP), "3 channels but the filter is for 2"),
             (Case([(2, 1, 5, 3), (3, 2, 3)], **_HOLES), "Negative dimension size")]),
    Row("Dilation2DBackpropInput", [Case([(2, 4, 5, 3), (3, 2, 3), (2, 4, 5, 3)], **_STEP),
                                    Case([(1, 6, 7, 2), (2, 3, 2), (1, 3, 3, 2)], **_HOLES)],
        dtypes=["float32", "float64"]),
    Row("Dilation2DBackpropFilter", [Case([(2, 4, 5, 3), (3, 2, 3), (2, 4, 5, 3)], **_STEP),
                                     Case([(1, 6, 7, 2), (2, 3, 2), (1, 3, 3, 2)], **_HOLES)],
        dtypes=["float32", "float64"]),
    Row("Dilation2DBackpropInputGrad", [Case([(2, 4, 5, 3), (3, 2, 3), (2, 4, 5, 3)], **_STEP)], tf=False,
        note="TensorFlow has no second gradient"),
    Row("Dilation2DBackpropFilterGrad", [Case([(2, 4, 5, 3), (3, 2, 3), (3, 2, 3)], **_STEP)], tf=False,
        note="TensorFlow has no second gradient"),
    Row("ExtractVolumePatches", [Case([(2, 3, 4, 5, 2)], ksizes=(1, 2, 1, 3, 1), strides=(1, 1, 2, 1, 1), padding=p)
                                 for p in ("SAME", "VALID")], dtypes=["float32", "int32"],
        bad=[(Case([(2, 3, 4, 2)], ksizes=(1, 2, 1, 3, 1), strides=(1, 1, 2, 1, 1), padding="SAME"), "rank 5")]),
    # -- fractional pooling
    *[Row(name, _FRACTIONS, attrs=_RATIO, domain=distinct, dtypes=["float32", "float64", "int32"], ys=[0],
          tf_grad=False, dynamic=False, bad=_BAD_RATIO, inference=False,
          note="recorded in a session, without gradients; TensorFlow infers too few sequence elements")
      for name in ("FractionalMaxPool", "FractionalAvgPool")],
    Row("FractionalMaxPoolGrad", [Case([(2, 7, 6, 2), (2, 4, 3, 2), (2, 4, 3, 2), _ROWS, _COLUMNS], overlapping=o)
                                  for o in (False, True)],
        domain=distinct, wrt=["out_backprop"], tf=False,
        note="random inputs and outputs do not belong to each other, which TensorFlow supposes"),
    Row("FractionalMaxPoolGradGrad", [Case([(2, 7, 6, 2), (2, 4, 3, 2), (2, 7, 6, 2), _ROWS, _COLUMNS], **_SMALL)],
        domain=distinct, wrt=["grad"], tf=False, note="TensorFlow has no second gradient"),
    Row("FractionalAvgPoolGrad", [Case([V([2, 7, 6, 2], "int64"), (2, 4, 3, 2), _ROWS, _COLUMNS], overlapping=o)
                                  for o in (False, True)], dtypes=["float32", "float64"]),
    Row("FractionalAvgPoolGradGrad", [Case([(2, 7, 6, 2), _ROWS, _COLUMNS], **_SMALL)], tf=False,
        note="TensorFlow has no second gradient"),
    # -- max pooling
    Row("MaxPoolV2", [Case([(2, 5, 5, 3), _K, _K], padding=p) for p in ("SAME", "VALID")], domain=distinct,
        dtypes=["float32", "float64"]),
    Row("MaxPoolGradV2", [Case([(2, 5, 5, 3), (2, 3, 3, 3), (2, 3, 3, 3), _K, _K], **_POOL)], wrt=["grad"], tf=False,
        note="random inputs and outputs do not belong to each other, which TensorFlow supposes", domain=distinct),
    Row("MaxPoolGradGradV2", [Case([(2, 5, 5, 3), (2, 3, 3, 3), (2, 5, 5, 3), _K, _K], **_POOL)], wrt=["grad"],
        tf=False, note="as for MaxPoolGradV2", domain=distinct),
    Row("MaxPoolGradGradWithArgmax", [Case([(1, 4, 4, 1), (1, 4, 4, 1), _PLACES], **_POOLED),
                                      Case([(1, 4, 4, 1), (1, 4, 4, 1), _PLACES], **_POOLED,
                                           include_batch_in_index=True)],
        wrt=["grad"], tf=False, note="TensorFlow has no kernel on a CPU"),
]
