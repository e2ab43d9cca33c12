"""Rows for rounding to few bits."""

from tests.support.table import Case, Row, V

_ENDS, _CHANNELS = [V(-1.1), V(0.9)], [V([-1.0, -0.5, 0.0]), V([1.0, 0.7, 0.8])]
_THROUGH = {"order": 0, "note": "a straight-through gradient, which finite differences of steps do not show"}
_CONSTANT = {"tf_grad": False, "note": "TensorFlow declares it constant"}
_FEW = {"signed_input": True, "num_bits": 4}
_ROWS = [V([-1.0, -0.7]), V([1.1, 0.5])]



def clear(rng, shape, dtype):
    """Values below, within and above the ranges, not near to their ends."""
    return (rng.choice([-1.6, -0.3, 0.3, 1.5], shape) + rng.uniform(-0.1, 0.1, shape)).astype(dtype.np_dtype)


ROWS = [
    Row("FakeQuantWithMinMaxArgs", [[(3, 4)], Case([(3, 4)], min=-1.0, max=0.7, num_bits=4, narrow_range=True)],
        bad=[(Case([(2,)], min=1.0, max=1.0), "min has to be smaller than max"),
             (Case([(2,)], num_bits=1), "num_bits")], **_THROUGH),
    Row("FakeQuantWithMinMaxArgsGradient", [Case([(3, 4), (3, 4)], min=-1.0, max=0.7, num_bits=4)], domain=clear,
        **_CONSTANT),
    Row("FakeQuantWithMinMaxVars", [[(3, 4), *_ENDS], [(3, 4), V(0.0), V(0.0)],
                                    Case([(3, 4), V(0.3), V(1.1)], num_bits=4, narrow_range=True)], **_THROUGH,
        bad=[([(2,), V([0.0]), V(1.0)], "min must have rank 0")]),
    Row("FakeQuantWithMinMaxVarsGradient", [[(3, 4), (3, 4), *_ENDS]], domain=clear, **_CONSTANT),
    Row("FakeQuantWithMinMaxVarsPerChannel", [[(3,), *_CHANNELS], [(2, 4, 3), *_CHANNELS]], **_THROUGH,
        bad=[([(2, 4), *_CHANNELS], "4")]),
    Row("FakeQuantWithMinMaxVarsPerChannelGradient", [[(4, 3), (4, 3), *_CHANNELS]], domain=clear, **_CONSTANT),
    Row("QuantizeAndDequantize", [Case([(3, 4)], num_bits=4), Case([(3, 4)], range_given=True, input_max=1.0)],
        order=0, tf=False, note="TensorFlow has the record but refuses to run it in graphs of today"),
    Row("QuantizeAndDequantizeV2", [[(3, 4), *_ENDS], Case([(3, 4), *_ENDS], range_given=True, **_FEW),
                                    Case([(3, 4), *_ENDS], range_given=True, round_mode="HALF_UP", signed_input=False),
                                    Case([(2, 4), *_ROWS], range_given=True, axis=0, narrow_range=True, num_bits=3),
                                    Case([(2, 4), *_ROWS], axis=0)],
        dtypes=["float32", "float64"], wrt=["input"], **_THROUGH),
    Row("QuantizeAndDequantizeV3", [Case([(3, 4), *_ENDS, V(4, "int32")], range_given=g) for g in (True, False)],
        wrt=["input"], **_THROUGH),
    Row("QuantizeAndDequantizeV4", [Case([(3, 4), *_ENDS], range_given=True, **_FEW),
                                    Case([(2, 4), *_ROWS], range_given=True, axis=0)], **_THROUGH,
        bad=[(Case([(2, 4), *_ENDS], axis=2), "axis 2 is not one of the input's")]),
    Row("QuantizeAndDequantizeV4Grad", [[(3, 4), (3, 4), *_ENDS], Case([(2, 4), (2, 4), *_ROWS], axis=0)],
        dtypes=["float32", "float64"], wrt=["gradients", "input"], tf_grad=False,
        note="TensorFlow declares that it is the identity, which it is only in range"),
]
