"""Rows for convolution, pooling and patches."""

import numpy as np

from tests.support.table import Case, R, Row, V


def distinct(rng, shape, dtype):
    """Values in random order, at least 0.5 apart, so that small steps change no maximum."""
    return (rng.permutation(int(np.prod(shape))).reshape(shape) / 2).astype(dtype.np_dtype)


_ONE = {"strides": (1, 1, 1, 1), "padding": "VALID"}
_TWO = {"strides": (1, 2, 2, 1), "padding": "SAME"}
_HOLES = {"strides": (1, 1, 1, 1), "padding": "SAME", "dilations": (1, 2, 3, 1)}
_EXPLICIT = {"strides": (1, 2, 1, 1), "padding": "EXPLICIT", "explicit_paddings": (0, 0, 1, 2, 0, 1, 0, 0)}
_FIRST = {"strides": (1, 1, 2, 2), "padding": "SAME", "data_format": "NCHW"}
_NO_NCHW = {"tf": False, "note": "TensorFlow has no NCHW kernel on a CPU"}

# A volume whose values grow, and the last, hence largest, of each of its windows of 2 x 2 x 2.
_RAMP = np.arange(120.0).reshape(1, 4, 3, 5, 2)
_TOPS = _RAMP[:, 1::2][:, :, [1, 2]][:, :, :, [1, 3, 4]]
_CONV = [Case([(2, 5, 6, 3), (3, 2, 3, 4)], **_ONE), Case([(2, 5, 6, 3), (3, 2, 3, 4)], **_TWO),
         Case([(1, 7, 8, 2), (3, 2, 2, 2)], **_HOLES), Case([(1, 5, 6, 2), (3, 2, 2, 2)], **_EXPLICIT),
         Case([(1, 1, 1, 1), (1, 1, 1, 1)], **_ONE), Case([(2, 2, 3, 1), (1, 1, 1, 2)], **_TWO)]
_CONV_INPUT = [Case([V([2, 5, 6, 3]), (3, 2, 3, 4), (2, 3, 5, 4)], **_ONE),
               Case([V([2, 5, 6, 3]), (3, 2, 3, 4), (2, 3, 3, 4)], **_TWO),
               Case([V([1, 5, 6, 2]), (3, 2, 2, 2), (1, 3, 6, 2)], **_EXPLICIT)]
_CONV_FILTER = [Case([(2, 5, 6, 3), V([3, 2, 3, 4]), (2, 3, 5, 4)], **_ONE),
                Case([(2, 5, 6, 3), V([3, 2, 3, 4]), (2, 3, 3, 4)], **_TWO),
                Case([(1, 5, 6, 2), V([3, 2, 2, 2]), (1, 3, 6, 2)], **_EXPLICIT)]

_ONE3 = {"strides": (1, 1, 1, 1, 1), "padding": "VALID"}
_TWO3 = {"strides": (1, 2, 1, 2, 1), "padding": "SAME"}


def _pool(k, s, padding, **more):
    return {"ksize": (1, k, k, 1), "strides": (1, s, s, 1), "padding": padding, **more}


def _pool3(k, s, padding, **more):
    return {"ksize": (1, k, k, k, 1), "strides": (1, s, s, s, 1), "padding": padding, **more}


_POOLS = [_pool(2, 2, "VALID"), _pool(3, 2, "SAME"), _pool(2, 1, "SAME"), _pool(4, 1, "VALID"), _pool(1, 2, "SAME"),
          _pool(2, 3, "VALID")]
_POOLED = [(2, 2, 2, 3), (2, 3, 3, 3), (2, 5, 5, 3), (2, 2, 2, 3), (2, 3, 3, 3), (2, 2, 2, 3)]
_POOL_FIRST = {"ksize": (1, 1, 2, 2), "strides": (1, 1, 2, 2), "padding": "SAME", "data_format": "NCHW"}
_POOL_EXPLICIT = _pool(2, 2, "EXPLICIT", explicit_paddings=(0, 0, 1, 0, 0, 1, 0, 0))
_TIES = V(np.array([[1, 1, 2, 0], [1, 0, 2, 2], [0, 0, -1, -1], [0, 0, -1, -1]], np.float64).reshape(1, 4, 4, 1))
_WHOLE = _pool(5, 5, "VALID")

ROWS = [
    Row("Conv2D", _CONV, dtypes=["float32", "float64", "float16"],
        bad=[(Case([(2, 5, 6, 3), (3, 2, 2, 4)], **_ONE), r"Depth of input \(3\) is not a multiple of input depth"),
             (Case([(2, 5, 6, 3), (7, 2, 3, 4)], **_ONE), "Negative dimension size caused by subtracting 7 from 5"),
             (Case([(5, 6, 3), (3, 2, 3, 4)], **_ONE), "input must have rank 4"),
             (Case([(2, 5, 6, 3), (3, 2, 3, 4)], strides=(1, 1, 1, 1), padding="FULL"), "unknown padding 'FULL'"),
             (Case([(2, 5, 6, 3), (3, 2, 3, 4)], strides=(1, 0, 1, 1), padding="SAME"), "must be positive")]),
    Row("Conv2D", [Case([(2, 5, 6, 4), (3, 2, 2, 6)], **_TWO)], note="groups"),
    Row("Conv2D", [Case([(2, 3, 5, 6), (3, 2, 3, 4)], **_FIRST)], **_NO_NCHW),
    Row("Conv2DBackpropInput", _CONV_INPUT, dtypes=["float32", "float64"],
        bad=[(Case([V([2, 5, 6, 3]), (3, 2, 3, 4), (2, 4, 5, 4)], **_ONE), "out_backprop has shape"),
             (Case([V([5, 6]), (3, 2, 3, 4), (2, 4, 5, 4)], **_ONE), "out_backprop has shape")]),
    Row("Conv2DBackpropInput", [Case([V([2, 5, 6, 4]), (3, 2, 2, 6), (2, 3, 3, 6)], **_TWO),
                                Case([V([1, 7, 8, 2]), (3, 2, 2, 2), (1, 7, 8, 2)], **_HOLES)],
        tf=False, note="TensorFlow has neither groups nor dilations here on a CPU"),
    Row("Conv2DBackpropInput", [Case([V([2, 3, 5, 6]), (3, 2, 3, 4), (2, 4, 3, 3)], **_FIRST)], **_NO_NCHW),
    Row("Conv2DBackpropFilter", _CONV_FILTER, dtypes=["float32", "float64"],
        bad=[(Case([(2, 5, 6, 3), V([3, 2, 3, 4]), (2, 4, 5, 4)], **_ONE), "out_backprop has shape"),
             (Case([(2, 5, 6, 3), V([3, 2, 3]), (2, 3, 5, 4)], **_ONE), "filter_sizes must have 4 elements")]),
    Row("Conv2DBackpropFilter", [Case([(2, 5, 6, 4), V([3, 2, 2, 6]), (2, 3, 3, 6)], **_TWO),
                                 Case([(1, 7, 8, 2), V([3, 2, 2, 2]), (1, 7, 8, 2)], **_HOLES)],
        tf=False, note="TensorFlow has neither groups nor dilations here on a CPU"),
    Row("Conv2DBackpropFilter", [Case([(2, 3, 5, 6), V([3, 2, 3, 4]), (2, 4, 3, 3)], **_FIRST)], **_NO_NCHW),
    # -- three dimensions
    Row("Conv3D", [Case([(1, 4, 5, 4, 2), (2, 3, 2, 2, 3)], **_ONE3),
                   Case([(1, 4, 5, 4, 2), (2, 3, 2, 2, 3)], **_TWO3)],
        bad=[(Case([(1, 4, 5, 4, 2), (2, 3, 2, 3, 3)], **_ONE3), "Depth of input")]),
    Row("Conv3DBackpropInputV2", [Case([V([1, 4, 5, 4, 2]), R((2, 3, 2, 2, 3), t), R((1, 3, 3, 3, 3), t)], **_ONE3)
                                  for t in ("float32", "float64")]
        + [Case([V([1, 4, 5, 4, 2]), R((2, 3, 2, 2, 3), "float64"), R((1, 2, 5, 2, 3), "float64")], **_TWO3)],
        dtypes=["int32"]),
    Row("Conv3DBackpropFilterV2", [Case([(1, 4, 5, 4, 2), V([2, 3, 2, 2, 3]), (1, 3, 3, 3, 3)], **_ONE3),
                                   Case([(1, 4, 5, 4, 2), V([2, 3, 2, 2, 3]), (1, 2, 5, 2, 3)], **_TWO3)]),
    # -- depthwise
    Row("DepthwiseConv2dNative", [Case([(2, 5, 6, 3), (3, 2, 3, 2)], **_ONE),
                                  Case([(2, 5, 6, 3), (3, 2, 3, 1)], **_TWO)],
        dtypes=["float32", "float64", "float16"],
        bad=[(Case([(2, 5, 6, 3), (3, 2, 2, 2)], **_ONE), "3 channels but the filter is for 2")]),
    Row("DepthwiseConv2dNative", [Case([(1, 7, 8, 2), (3, 2, 2, 2)], **_HOLES),
                                  Case([(1, 5, 6, 2), (3, 2, 2, 2)], **_EXPLICIT),
                                  Case([(2, 3, 5, 6), (3, 2, 3, 2)], **_FIRST)],
        tf=False, note="TensorFlow has no kernels for these on a CPU"),
    Row("DepthwiseConv2dNativeBackpropInput", [Case([V([2, 5, 6, 3]), (3, 2, 3, 2), (2, 3, 5, 6)], **_ONE),
                                               Case([V([2, 5, 6, 3]), (3, 2, 3, 1), (2, 3, 3, 3)], **_TWO)]),
    Row("DepthwiseConv2dNativeBackpropInput", [Case([V([1, 7, 8, 2]), (3, 2, 2, 2), (1, 7, 8, 4)], **_HOLES),
                                               Case([V([1, 5, 6, 2]), (3, 2, 2, 2), (1, 3, 6, 4)], **_EXPLICIT),
                                               Case([V([2, 3, 5, 6]), (3, 2, 3, 2), (2, 6, 3, 3)], **_FIRST)],
        tf=False, note="TensorFlow has no kernels for these on a CPU"),
    Row("DepthwiseConv2dNativeBackpropFilter", [Case([(2, 5, 6, 3), V([3, 2, 3, 2]), (2, 3, 5, 6)], **_ONE),
                                                Case([(2, 5, 6, 3), V([3, 2, 3, 1]), (2, 3, 3, 3)], **_TWO)]),
    Row("DepthwiseConv2dNativeBackpropFilter", [Case([(1, 7, 8, 2), V([3, 2, 2, 2]), (1, 7, 8, 4)], **_HOLES),
                                                Case([(1, 5, 6, 2), V([3, 2, 2, 2]), (1, 3, 6, 4)], **_EXPLICIT),
                                                Case([(2, 3, 5, 6), V([3, 2, 3, 2]), (2, 6, 3, 3)], **_FIRST)],
        tf=False, note="TensorFlow has no kernels for these on a CPU"),
    # -- pooling
    Row("MaxPool", [Case([(2, 5, 5, 3)], **a) for a in [*_POOLS, _WHOLE]], domain=distinct,
        dtypes=["float32", "float64", "float16", "int32"],
        bad=[(Case([(2, 5, 5, 3)], **_pool(6, 1, "VALID")), "Negative dimension size caused by subtracting 6 from 5"),
             (Case([(2, 5, 5, 3)], ksize=(1, 2, 2, 2), strides=(1, 1, 1, 1), padding="SAME"), "across depth or"),
             (Case([(2, 5, 5, 3)], ksize=(1, 2, 2), strides=(1, 1, 1, 1), padding="SAME"), "expected 4 numbers")]),
    Row("MaxPool", [Case([_TIES], **_pool(2, 2, "VALID")), Case([_TIES], **_pool(3, 1, "SAME"))], order=0,
        note="ties have no derivative; the first maximum gets the gradient"),
    Row("MaxPool", [Case([(2, 5, 5, 3)], **_POOL_EXPLICIT)], domain=distinct, tf_grad=False,
        note="TensorFlow has no gradient kernel for explicit paddings on a CPU"),
    Row("MaxPool", [Case([(2, 3, 5, 5)], **_POOL_FIRST)], domain=distinct, **_NO_NCHW),
    Row("MaxPoolGrad", [Case([(2, 5, 5, 3), s, s], **a) for a, s in zip(_POOLS, _POOLED)], wrt=["grad"], tf=False,
        note="random inputs and outputs do not belong to each other, which TensorFlow supposes", domain=distinct),
    Row("MaxPoolGradGrad", [Case([(2, 5, 5, 3), s, (2, 5, 5, 3)], **a) for a, s in zip(_POOLS, _POOLED)], wrt=["grad"],
        tf=False, note="as for MaxPoolGrad", domain=distinct),
    Row("AvgPool", [Case([(2, 5, 5, 3)], **a) for a in [*_POOLS, _WHOLE]], dtypes=["float32", "float64", "float16"],
        bad=[(Case([(5, 5, 3)], **_pool(2, 1, "VALID")), "input must have rank 4")]),
    Row("AvgPool", [Case([(2, 3, 5, 5)], **_POOL_FIRST)], **_NO_NCHW),
    Row("AvgPoolGrad", [Case([V([2, 5, 5, 3]), s], **a) for a, s in zip(_POOLS, _POOLED)]),
    Row("MaxPool3D", [Case([(1, 4, 3, 5, 2)], **_pool3(2, 2, "SAME")),
                      Case([(1, 4, 3, 5, 2)], **_pool3(3, 1, "VALID"))],
        domain=distinct),
    Row("MaxPool3DGrad", [Case([V(_RAMP), V(_TOPS), (1, 2, 2, 3, 2)], **_pool3(2, 2, "SAME"))],
        wrt=["grad"], tf=False, note="the input and its maxima are given, as they belong to each other"),
    Row("MaxPool3DGradGrad", [Case([V(_RAMP), V(_TOPS), (1, 4, 3, 5, 2)], **_pool3(2, 2, "SAME"))],
        wrt=["grad"], tf=False, note="as for MaxPool3DGrad"),
    Row("AvgPool3D", [Case([(1, 4, 3, 5, 2)], **_pool3(2, 2, "SAME")),
                      Case([(1, 4, 3, 5, 2)], **_pool3(3, 1, "VALID"))]),
    Row("AvgPool3DGrad", [Case([V([1, 4, 3, 5, 2]), (1, 2, 2, 3, 2)], **_pool3(2, 2, "SAME"))]),
    Row("MaxPoolWithArgmax", [Case([(2, 5, 5, 3)], **_pool(2, 2, "VALID")),
                              Case([(2, 5, 5, 3)], **_pool(3, 2, "SAME"), include_batch_in_index=True)],
        domain=distinct),
    Row("MaxPoolGradWithArgmax", [Case([(1, 4, 4, 1), (1, 2, 2, 1), V(np.array([[[[0], [2]], [[9], [15]]]]), "int64")],
                                       **_pool(2, 2, "VALID"))], dtypes=["float32"], wrt=["grad"]),
]
