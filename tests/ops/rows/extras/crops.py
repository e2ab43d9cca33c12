"""Rows for images that are cropped, moved, and resized by kernels."""

import numpy as np

from graphgrad.errors import InvalidArgumentError, OutOfRangeError
from tests.support.table import Case, R, Row, V

# Their pixels lie well between those of images of 5 x 6, for crops of 3 x 4 and of 1 x 1.
_BOXES = V([[0.37, 0.12, 0.91, 0.76], [0.66, 1.25, 0.1, 0.95], [-0.19, -0.12, 0.83, 1.11]], "float32")
_IMAGES = V([1, 0, 1], "int32")
_SIZE = V([3, 4], "int32")
_ONE = V([1, 1], "int32")
_KERNELS = ("lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic", "mitchellcubic")
_MOVED = [V([0.62, 1.71], "float32"), V([0.23, -1.3], "float32")]
_TURN = [[1.1, 0.2, -0.37, -0.15, 0.9, 0.41, 0.01, -0.02]]
_TURNS = [[0.9, -0.1, 0.27, 0.25, 1.2, -0.61, 0.0, 0.02], *_TURN]
_EYES = V([[0.31, -0.43], [-0.22, 0.87]], "float32")
_QUIET = {"uniform_noise": False, "noise": "zero"}
_SINGLE = {"rtol": 1e-5, "atol": 1e-5, "note": "computed in single precision whatever the dtype"}


def _turned(transforms, **options):
    return Case([(2, 5, 6, 2), V(transforms, "float32"), V([4, 7], "int32"), V(0.5, "float32")], **options)


def _glimpses(**options):
    offsets = _EYES if options.get("normalized", True) else V([[1.3, -2.4], [4.2, 3.3]], "float32")
    return Case([(2, 5, 6, 2), V([3, 4], "int32"), offsets], **_QUIET, **options)


_GLIMPSES = [_glimpses(centered=c, normalized=n) for c in (True, False) for n in (True, False)]

ROWS = [
    Row("CropAndResize", [[(2, 5, 6, 2), _BOXES, _IMAGES, _SIZE],
                          Case([(2, 5, 6, 2), _BOXES, _IMAGES, _ONE], extrapolation_value=1.5)],
        dtypes=["float32", "float64", "uint8"], wrt=["image", "boxes"], atol=2e-4,
        note="computed in single precision whatever the dtype",
        bad=[([(2, 5, 6, 2), _BOXES, _IMAGES, V([0, 4], "int32")], "crop dimensions must be positive"),
             ([(2, 5, 6, 2), R((2, 3), "float32"), V([0, 1]), _SIZE], "boxes must have 4 columns"),
             ([(2, 5, 6, 2), _BOXES, V([0, 1]), _SIZE], "3 boxes but 2 numbers of images"),
             ([V(np.ones((1, 2, 2, 1)), "float32"), _BOXES, _IMAGES, _SIZE], "outside .0, batch_s", OutOfRangeError),
             (Case([(2, 5, 6, 2), _BOXES, _IMAGES, _SIZE], method="cubic"), "unknown method")]),
    Row("CropAndResize", [Case([(2, 5, 6, 2), _BOXES, _IMAGES, _SIZE], method="nearest")], wrt=["image"], atol=2e-4,
        note="rounding in single precision"),
    Row("CropAndResizeGradImage", [Case([(3, 3, 4, 2), _BOXES, _IMAGES, V([2, 5, 6, 2])], method=m)
                                   for m in ("bilinear", "nearest")],
        attrs={"T": "float32"}, wrt=["grads"], atol=2e-4, note="rounding in single precision"),
    Row("CropAndResizeGradImage", [Case([(3, 3, 4, 2), _BOXES, _IMAGES, V([2, 5, 6, 2])], T="float32")],
        wrt=["grads", "boxes"], tf=False, note="TensorFlow has no second gradient; recorded above"),
    Row("CropAndResizeGradBoxes", [[(3, 3, 4, 2), R((2, 5, 6, 2), "float32"), _BOXES, _IMAGES],
                                   [(3, 1, 1, 2), R((2, 5, 6, 2), "float32"), _BOXES, _IMAGES]],
        dtypes=["float32"], wrt=["grads", "image", "boxes"], atol=2e-4, note="rounding in single precision"),
    # -- kernels
    Row("ScaleAndTranslate", [Case([(2, 4, 5, 2), _SIZE, *_MOVED], kernel_type=k, antialias=a)
                              for k in _KERNELS for a in (True, False)],
        wrt=["images"], rtol=1e-4, atol=1e-4, xla=False, note="XLA is compared in another row"),
    Row("ScaleAndTranslate", [[(2, 4, 5, 2), _SIZE, *_MOVED], [(1, 4, 5, 1), V([8, 3], "int32"), *_MOVED]],
        dtypes=["float32", "uint8", "float16"], wrt=["images"], rtol=1e-4, atol=1e-4,
        note="computed in single precision whatever the dtype", tf_grad=False,
        bad=[(Case([(2, 4, 5, 2), _SIZE, *_MOVED], kernel_type="round"), "Unrecognized kernel type"),
             ([(2, 4, 5, 2), V([0, 3], "int32"), *_MOVED], "output dimensions must be positive"),
             ([(2, 4, 5, 2), _SIZE, V([1.0], "float32"), _MOVED[1]], "must have two elements"),
             ([V(np.ones((1, 2, 2, 1)), "float32"), _SIZE, V([0.0, 1.0], "float32"), _MOVED[1]],
              "must be greater than zero", InvalidArgumentError)]),
    Row("ScaleAndTranslateGrad", [[(2, 3, 4, 2), (2, 4, 5, 2), *_MOVED]], wrt=["grads"], rtol=1e-4, atol=1e-4),
    # -- projective transforms
    Row("ImageProjectiveTransformV3", [_turned(_TURN, interpolation="BILINEAR"),
                                       _turned(_TURNS, interpolation="NEAREST"),
                                       *[_turned(_TURNS, interpolation="BILINEAR", fill_mode=m)
                                         for m in ("REFLECT", "WRAP", "NEAREST", "CONSTANT")]],
        dtypes=["float32", "float64", "uint8"], wrt=["images"], tf_grad=False, rtol=1e-5, atol=1e-4,
        note="TensorFlow transforms the gradient by the inverse, which is near to the derivative but not equal to it",
        bad=[(Case([(2, 5, 6, 2), R((3, 8), "float32"), _SIZE, V(0.0)], interpolation="BILINEAR"), "num_images x 8"),
             (Case([(2, 5, 6, 2), R((1, 7), "float32"), _SIZE, V(0.0)], interpolation="BILINEAR"), "or 1 x 8"),
             (Case([(2, 5, 6, 2), R((1, 8), "float32"), V([0, 1]), V(0.0)], interpolation="BILINEAR"), "be positive")]),
    Row("ImageProjectiveTransformV2", [Case([(2, 5, 6, 2), V(_TURN, "float32"), V([4, 7])], interpolation="BILINEAR")],
        wrt=["images"], tf_grad=False, atol=1e-4, note="as for the third version"),
    Row("ImageProjectiveTransformGrad",
        [Case([(2, 4, 7, 2), V(_TURNS, "float32"), V([2, 5, 6, 2])], interpolation=i, fill_mode=m)
         for i, m in (("BILINEAR", "REFLECT"), ("NEAREST", "CONSTANT"))],
        wrt=["grads"], tf=False, note="TensorFlow has no such op"),
    # -- glimpses
    *[Row(name, _GLIMPSES, wrt=["input"], tf_grad=False, note="TensorFlow does not differentiate it",
          bad=[(Case([(2, 5, 6, 2), _SIZE, R((2, 3), "float32")], **_QUIET), "must have 2 columns"),
               (Case([(2, 5, 6, 2), _SIZE, R((3, 2), "float32")], **_QUIET), "3 offsets but 2 images"),
               (Case([(2, 5, 6, 2), _SIZE, _EYES], noise="zero"), "at the same time")])
      for name in ("ExtractGlimpse", "ExtractGlimpseV2")],
    Row("ExtractGlimpseGrad", [Case([V([2, 5, 6, 2]), _EYES, (2, 3, 4, 2)], version=v) for v in (1, 2)], wrt=["grads"],
        tf=False, note="TensorFlow has no such op"),
]
