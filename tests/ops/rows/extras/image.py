"""Rows for images: resizing, colours, patches."""

import numpy as np

from tests.support.table import Case, R, Row, V

_SMALL = [{}, {"align_corners": True}, {"half_pixel_centers": True}]
_MANY = ["float32", "float64", "float16", "int32", "uint8"]


def _resize(shape, size, **options):
    return Case([shape, V(size, "int32")], **options)


def _cases():
    return [*[_resize((2, 3, 5, 2), [6, 4], **o) for o in _SMALL],
            *[_resize((1, 4, 4, 1), [3, 9], **o) for o in _SMALL], _resize((1, 3, 3, 1), [1, 1])]


_GRADS = [Case([R((2, 6, 4, 2), "float32"), (2, 3, 5, 2)], **o) for o in _SMALL]


def colours(rng, shape, dtype):
    """Channels in [0, 1], not near to each other."""
    steps = rng.permuted(np.broadcast_to(np.arange(shape[-1]), shape), axis=-1) if shape else 0
    return (0.1 + 0.3 * steps + rng.uniform(-0.1, 0.1, shape)).astype(dtype.np_dtype)


def hues(rng, shape, dtype):
    """Colours whose hue stays between two multiples of a sixth, also when it is turned by 0.3 or -0.8."""
    h = rng.integers(0, 6, shape[:-1]) + rng.uniform(0.4, 0.6, shape[:-1])
    s, v = rng.uniform(0.3, 0.45, shape[:-1]) + rng.choice([0.0, 0.35], shape[:-1]), rng.uniform(0.7, 1.0, shape[:-1])
    ramps = np.stack([abs(h - 3) - 1, 2 - abs(h - 2), 2 - abs(h - 4)], -1)
    rgb = ((np.clip(ramps, 0, 1) - 1) * s[..., None] + 1) * v[..., None]
    return (np.round(rgb * 65536) / 65536).astype(dtype.np_dtype)


_BAD_SIZE = [(_resize((2, 3, 5, 2), [6, 0]), "must be positive"),
             (_resize((3, 5, 2), [6, 1]), "images must have rank 4"),
             (_resize((2, 3, 5, 2), [6, 1, 1]), "size must have 2 elements")]
_SINGLE = {"rtol": 1e-5, "atol": 1e-6, "note": "computed in single precision whatever the dtype"}
_PATCH = {"ksizes": (1, 2, 3, 1), "strides": (1, 1, 2, 1), "rates": (1, 1, 1, 1)}

ROWS = [
    Row("ResizeBilinear", _cases(), dtypes=_MANY, bad=_BAD_SIZE, **_SINGLE),
    Row("ResizeBilinearGrad", _GRADS, dtypes=["float32", "float64"], tf_grad=False, rtol=1e-5, atol=1e-6,
        fd_rtol=5e-3,
        note="computed in single precision; TensorFlow declares it constant, which second derivatives are not"),
    Row("ResizeNearestNeighbor", _cases(), dtypes=_MANY, bad=_BAD_SIZE),
    Row("ResizeNearestNeighborGrad", [Case([(2, 6, 4, 2), V([3, 5], "int32")], **o) for o in _SMALL],
        dtypes=["float32", "float64", "float16"]),
    Row("ResizeBicubic", _cases(), dtypes=_MANY, bad=_BAD_SIZE, **_SINGLE),
    Row("ResizeBicubicGrad", _GRADS, dtypes=["float32", "float64"], **_SINGLE),
    Row("ResizeArea", [_resize((2, 3, 5, 2), [6, 4]), _resize((1, 4, 4, 1), [3, 9]), _resize((1, 6, 6, 1), [3, 2]),
                       _resize((1, 6, 6, 1), [3, 2], align_corners=True)], dtypes=["float32", "uint8"], bad=_BAD_SIZE,
        tf_grad=False, note="TensorFlow does not differentiate it; computed in single precision"),
    Row("ResizeAreaGrad", [Case([R((2, 6, 4, 2), "float32"), (2, 3, 5, 2)], align_corners=c) for c in (False, True)],
        dtypes=["float32"], tf=False, note="TensorFlow has no such op"),
    Row("ExtractImagePatches", [Case([(2, 4, 5, 3)], padding="VALID"), Case([(2, 4, 5, 3)], padding="SAME"),
                                Case([(1, 5, 7, 2)], padding="SAME", rates=(1, 2, 2, 1), strides=(1, 1, 1, 1))],
        attrs=_PATCH, dtypes=["float32", "float64", "int32"],
        bad=[(Case([(1, 1, 5, 2)], padding="VALID"), "Negative dimension size"),
             (Case([(1, 5, 2)], padding="VALID"), "images must have rank 4")]),
    Row("RGBToHSV", [[(3,)], [(2, 4, 3)], [(1, 2, 2, 3)]], dtypes=["float32", "float64", "float16"],
        domain=colours, bad=[([(2, 4)], "4 channels instead of 3")]),
    Row("RGBToHSV", [[V([[0.0, 0.0, 0.0], [0.5, 0.5, 0.5], [1.0, 0.0, 0.0], [0.0, 0.5, 0.5], [0.7, 0.2, 0.7]])]],
        order=0, tf_grad=False, note="where channels are equal, hue and saturation have no derivative"),
    Row("HSVToRGB", [[(3,)], [(2, 4, 3)]], dtypes=["float32", "float64", "float16"], domain=(0.0, 1.0),
        tf_grad=False, note="TensorFlow declares it constant", bad=[([(2, 4)], "4 channels instead of 3")]),
    Row("AdjustHue", [[(2, 4, 3), V(0.3, "float32")], [(2, 2, 4, 3), V(-0.8, "float32")]], domain=hues, atol=1e-5,
        tf_grad=False, note="TensorFlow does not differentiate it",
        bad=[([R((2, 4, 4), domain=(0.0, 1.0)), V(0.3, "float32")], "4 channels instead of 3")]),
    Row("AdjustSaturation", [[(2, 4, 3), V(0.3, "float32")], [(2, 2, 4, 3), V(1.8, "float32")]], domain=hues,
        atol=1e-5, tf_grad=False, note="TensorFlow does not differentiate it",
        bad=[([R((2, 4), domain=(0.0, 1.0)), V(0.3, "float32")], "images must have rank at least 3")]),
    Row("AdjustContrastv2", [[(2, 4, 3), ()], [(2, 3, 4, 1), ()]], tf_grad=False,
        note="TensorFlow does not differentiate it", bad=[([(2, 4), ()], "images must have rank at least 3")]),
]
