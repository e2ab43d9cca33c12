"""Rows for boxes in images."""

import numpy as np

from graphgrad.errors import InvalidArgumentError
from tests.support.table import Case, R, Row, V

_MARKS = V([[[0.1, 0.2, 0.7, 0.9], [-0.5, 0.3, 0.5, 1.4], [0.6, 0.2, 0.4, 0.9]], [[0.0, 0.0, 1.0, 1.0]] * 3], "float32")
_NONE, _PART = V(np.zeros((1, 0, 4)), "float32"), V(0.1, "float32")
_SIZE, _BOX = V([40, 60, 3]), V([[[0.1, 0.2, 0.6, 0.9]]], "float32")
_SEEDS = {"seed": 5, "seed2": 7}
_CORNERS = np.asarray([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 0.4, 1, 1.4], [1, 2.9, 0, 1.9], [0, 2, 1, 3], [0, 5, 0, 6]])
_BOXES, _SCORES, _N = V(_CORNERS, "float32"), V([0.9, 0.75, 0.6, 0.95, 0.5, 0.3], "float32"), V(5)
_IOU, _LEAST = V(0.5, "float32"), V(0.35, "float32")
_OVERLAPS = V(1 / (1 + np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0)))), "float32")
_MANY = {"order": 0, "shapes": "rank", "note": "how many stay depends on the values"}
_BAD = [([V(np.ones((3, 3)), "float32"), V([1.0, 2.0, 3.0], "float32"), _N, _IOU], "must have 4 columns"),
        ([_BOXES, V([1.0], "float32"), _N, _IOU], "6 boxes but 1 scores"),
        ([_BOXES, _SCORES, _N, V(1.5, "float32")], "must be in .0, 1.", InvalidArgumentError)]

_CLASSES = V([[[0.9, 0.2], [0.8, 0.7], [0.3, 0.95], [0.85, 0.1]]], "float32")
_OF_ONE = V(_CORNERS[None, :4, None], "float32")
_OF_EACH = V(np.stack([_CORNERS[:4], _CORNERS[[4, 1, 0, 2]] * 1.2], 1)[None], "float32")
_LOW = V(0.15, "float32")
_INFO = V([[40, 60, 1.5, 0, 0], [30, 30, 1, 0, 0]], "float32")
_NET = R((2, 2, 3, 2), "float32"), R((2, 2, 3, 8), "float32", (-0.5, 0.5))
_GRID = R((2, 3, 8), "float32", (0.0, 40.0))


def _bad(more):
    return [([*entries, *more], *rest) for entries, *rest in _BAD]


ROWS = [
    Row("DrawBoundingBoxes", [[(2, 5, 7, c), _MARKS] for c in (1, 3, 4)], dtypes=["float32", "float16"], order=0,
        bad=[([(2, 5, 7, 2), _MARKS], "images have 2 channels"), ([(1, 5, 7, 3), _MARKS], "for 2 images but 1 images"),
             ([(2, 5, 7, 3), R((2, 1, 3), "float32")], "3 columns instead of 4")]),
    Row("DrawBoundingBoxesV2", [[(2, 5, 7, 3), _MARKS, R((2, 3), "float32")]], dtypes=["float32", "float16"], order=0),
    Row("SampleDistortedBoundingBoxV2", [Case([_SIZE, _BOX, V(m, "float32")], **_SEEDS) for m in (0.1, 0.7)]
        + [Case([_SIZE, _NONE, _PART], seed=1, use_image_if_no_bounding_boxes=True)],
        dtypes=["int32", "int64"], order=0,
        bad=[([V([40, 60]), _BOX, _PART], "must contain 3 elements"),
             ([_SIZE, R((1, 1, 3), "float32"), _PART], "3 columns"),
             (Case([_SIZE, _BOX, _PART], max_attempts=0), "Max attempts"),
             (Case([_SIZE, _BOX, _PART], area_range=(0.0, 1.0)), "Area range must be non-negative"),
             ([_SIZE, _NONE, _PART], "No bounding boxes", InvalidArgumentError),
             ([_SIZE, _BOX, V(-0.1, "float32")], "must be non-negative", InvalidArgumentError),
             ([_SIZE, V([[[0.0, 0.0, 1.0, 1.4]]], "float32"), _PART], "in .0.0, 1", InvalidArgumentError)]),
    Row("SampleDistortedBoundingBox", [Case([_SIZE, _BOX], min_object_covered=m, **_SEEDS) for m in (0.1, 0.7)],
        order=0, bad=[([V([40, 60]), _BOX], "must contain 3 elements")]),
    Row("StatelessSampleDistortedBoundingBox", [[_SIZE, _BOX, V(0.1, "float32"), V([1, 2])]], order=0),
    Row("NonMaxSuppression", [[_BOXES, _SCORES, _N], Case([_BOXES, _SCORES, _N], iou_threshold=0.2)], **_MANY),
    Row("NonMaxSuppressionV2", [[_BOXES, _SCORES, _N, _IOU]], bad=_BAD, **_MANY),
    Row("NonMaxSuppressionV3", [[_BOXES, _SCORES, n, _IOU, _LEAST] for n in (_N, V(2))], bad=_bad([_LEAST]), **_MANY),
    Row("NonMaxSuppressionV4", [Case([_BOXES, _SCORES, _N, _IOU, _LEAST], pad_to_max_output_size=p)
                                for p in (False, True)], bad=_bad([_LEAST]), **_MANY),
    Row("NonMaxSuppressionV5", [Case([_BOXES, _SCORES, _N, i, _LEAST, V(s, "float32")], pad_to_max_output_size=p)
                                for i, s, p in ((_IOU, 0.0, False), (V(1.0, "float32"), 0.5, True))],
        bad=_bad([_LEAST, V(0.0, "float32")]), **_MANY),
    Row("NonMaxSuppressionWithOverlaps", [[_OVERLAPS, _SCORES, _N, V(0.4, "float32"), V(0.0, "float32")]],
        bad=[([R((3, 2), "float32"), V([1.0] * 3, "float32"), _N, _IOU, _LEAST], "must be square"),
             ([_OVERLAPS, V([1.0], "float32"), _N, _IOU, _LEAST], "6 boxes but 1 scores")], **_MANY),
    Row("CombinedNonMaxSuppression",
        [[_OF_ONE, _CLASSES, V(2), V(5), _IOU, _LOW],
         Case([_OF_EACH, _CLASSES, V(2), V(5), _IOU, _LOW], clip_boxes=False),
         Case([_OF_EACH, _CLASSES, V(2), V(5), _IOU, _LOW], pad_per_class=True)], order=0,
        bad=[([V(np.ones((1, 4, 1, 3)), "float32"), _CLASSES, V(2), V(5), _IOU, _LOW], "must have 4 columns"),
             ([V(np.ones((1, 3, 1, 4)), "float32"), _CLASSES, V(2), V(5), _IOU, _LOW], "incompatible shape"),
             ([V(np.ones((1, 4, 3, 4)), "float32"), _CLASSES, V(2), V(5), _IOU, _LOW], "either 1 or num classes"),
             ([_OF_ONE, _CLASSES, V(0), V(5), _IOU, _LOW], "max_size_per_class must be positive", InvalidArgumentError),
             ([_OF_ONE, _CLASSES, V(2), V(0), _IOU, _LOW], "max_total_size must be positive", InvalidArgumentError),
             ([_OF_ONE, _CLASSES, V(2), V(2), V(2.0, "float32"), _LOW], "in .0, 1.", InvalidArgumentError)]),
    Row("BatchNonMaxSuppression", [[V(np.stack([_CORNERS, _CORNERS[::-1]]), "float32"),
                                    V([[0.9, 0.75, 0.6, 0.95, 0.5, 0.3]] * 2, "float32"), _N, _IOU, _LEAST]],
        order=0, inference=False, tf=False, note="TensorFlow has no such op: tests/extras/test_image_codecs.py"),
    Row("GenerateBoundingBoxProposals", [Case([*_NET, _INFO, _GRID, _IOU, V(9), V(2.0, "float32")], post_nms_topn=4)],
        order=0, tf=False, note="TensorFlow has it on GPUs alone: tests/extras/test_image_codecs.py",
        bad=[(Case([*_NET, _INFO, _GRID, V(1.5, "float32"), V(9), _LOW]), "between 0 and 1", InvalidArgumentError),
             ([*_NET, _INFO, _GRID, _IOU, V(0), _LOW], "should be greater than 0", InvalidArgumentError),
             (Case([*_NET, _INFO, _GRID, _IOU, V(9), _LOW], post_nms_topn=0), "can't be 0 or less"),
             ([_NET[0], R((2, 2, 3, 7), "float32"), _INFO, _GRID, _IOU, V(9), _LOW], "bbox_deltas must end in"),
             ([*_NET, R((2, 4), "float32"), _GRID, _IOU, V(9), _LOW], "must have 5 columns")]),
]
