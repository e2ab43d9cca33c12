"""Non-maximum suppression: selection of the boxes with the best scores among overlapping ones."""

from __future__ import annotations

import heapq

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import float16, float32, int32
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.shape import with_rank
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.common.rank_limits import limit_ranks

_T = frozenset({float16, float32})
_PREFERS = {"T": "float32", "T_threshold": "float32"}
_SIZE = "max_output_size: int32"


def _overlap(boxes):
    """Returns a function of two numbers of boxes: the intersection over the union."""
    corners = boxes.astype(np.float32).reshape(-1, 2, 2)
    low, high = corners.min(1), corners.max(1)
    area = np.prod(high - low, axis=1)

    def similarity(i, j):
        if area[i] <= 0 or area[j] <= 0:
            return np.float32(0)
        common = np.prod(np.maximum(np.minimum(high[i], high[j]) - np.maximum(low[i], low[j]), 0))
        return common / (area[i] + area[j] - common)

    return similarity


def _select(similarity, scores, size, threshold, least, sigma=0.0):
    """Selects boxes; returns their numbers and scores."""
    scores = scores.astype(np.float32)
    waiting = [(-s, i, 0) for i, s in enumerate(scores) if s > least]
    heapq.heapify(waiting)
    chosen, values = [], []
    scale = np.float32(-0.5 / sigma) if sigma > 0 else np.float32(0)
    while len(chosen) < size and waiting:
        before, i, first = heapq.heappop(waiting)
        score, suppressed = -before, False
        for j in reversed(chosen[first:]):
            shared = similarity(i, j)
            if shared > threshold:
                suppressed = True
                break
            score = score * np.exp(scale * shared * shared) if sigma > 0 else score
            if score <= least:
                break
        if suppressed:
            continue
        if score == -before:
            chosen.append(i)
            values.append(score)
        elif score > least:
            heapq.heappush(waiting, (-score, i, len(chosen)))
    return np.asarray(chosen, np.int32).reshape(-1), np.asarray(values, np.float32).reshape(-1)


def _thresholds(iou, **others):
    if not 0 <= iou <= 1:
        raise Complaint(f"iou_threshold must be in [0, 1] but is {iou}", "use a number from 0 to 1")


def _padded(chosen, size):
    return np.concatenate([chosen, np.zeros(size - len(chosen), chosen.dtype)])


def _check(boxes, scores, max_output_size=None):
    n, four = with_rank(boxes, 2, "boxes")
    (m,) = with_rank(scores, 1, "scores")
    if four not in (4, None):
        raise Complaint(f"boxes must have 4 columns but have {four}", "give [y1, x1, y2, x2] for each box")
    if None not in (n, m) and n != m:
        raise Complaint(f"there are {n} boxes but {m} scores", "give one score for each box")


def _chosen_shape(boxes, scores, *unused):
    _check(boxes, scores)
    return (None,)


@op("NonMaxSuppression", f"boxes: float32, scores: float32, {_SIZE} -> selected_indices: int32", flags=("host",),
    shape=_chosen_shape)
def suppression(xp, boxes, scores, size, *, iou_threshold=0.5):
    """Selects boxes; returns their numbers, best first."""
    _thresholds(iou_threshold)
    return _select(_overlap(boxes), scores, int(size), iou_threshold, -np.inf)[0]


suppression.grad(NOT_DIFFERENTIABLE)


@op("NonMaxSuppressionV2", f"boxes: T, scores: T, {_SIZE}, iou_threshold: T_threshold -> selected_indices: int32", T=_T,
    T_threshold=_T, prefers=_PREFERS, flags=("host",), shape=_chosen_shape)
def suppression_v2(xp, boxes, scores, size, iou_threshold):
    """Selects boxes; returns their numbers, best first."""
    _thresholds(iou_threshold)
    return _select(_overlap(boxes), scores, int(size), iou_threshold, -np.inf)[0]


suppression_v2.grad(NOT_DIFFERENTIABLE)


@op("NonMaxSuppressionV3", f"boxes: T, scores: T, {_SIZE}, iou_threshold: T_threshold, score_threshold: T_threshold -> "
    "selected_indices: int32", T=_T, T_threshold=_T, prefers=_PREFERS, flags=("host",), shape=_chosen_shape)
def suppression_v3(xp, boxes, scores, size, iou_threshold, score_threshold):
    """Selects boxes whose score is above a threshold; returns their numbers, best first."""
    _thresholds(iou_threshold)
    return _select(_overlap(boxes), scores, int(size), iou_threshold, score_threshold)[0]


def _padded_shape(boxes, scores, size, pad_to_max_output_size):
    _check(boxes, scores)
    return (size if pad_to_max_output_size else None,)


@op("NonMaxSuppressionV4", f"boxes: T, scores: T, {_SIZE}, iou_threshold: T_threshold, score_threshold: T_threshold -> "
    "selected_indices: int32, valid_outputs: int32", T=_T, T_threshold=_T, prefers=_PREFERS, flags=("host",),
    peek=("max_output_size",))
def suppression_v4(xp, boxes, scores, size, iou_threshold, score_threshold, *, pad_to_max_output_size=False):
    """Selects boxes; returns their numbers, padded with zeros if requested, and how many there are."""
    chosen = suppression_v3.kernel(xp, boxes, scores, size, iou_threshold, score_threshold)
    return _padded(chosen, int(size)) if pad_to_max_output_size else chosen, np.asarray(len(chosen), np.int32)


@suppression_v4.shape
def _suppression_v4_shape(boxes, scores, max_output_size, iou_threshold, score_threshold, pad_to_max_output_size):
    return [_padded_shape(boxes, scores, max_output_size, pad_to_max_output_size), ()]


@op("NonMaxSuppressionV5", f"boxes: T, scores: T, {_SIZE}, iou_threshold: T, score_threshold: T, soft_nms_sigma: T -> "
    "selected_indices: int32, selected_scores: T, valid_outputs: int32", T=_T, prefers=_PREFERS, flags=("host",),
    peek=("max_output_size",))
def suppression_v5(xp, boxes, scores, size, iou_threshold, score_threshold, sigma, *, pad_to_max_output_size=False):
    """Selects boxes; returns them and their scores, which decrease with each overlap if sigma is positive."""
    _thresholds(iou_threshold)
    chosen, values = _select(_overlap(boxes), scores, int(size), iou_threshold, score_threshold, float(sigma))
    count = np.asarray(len(chosen), np.int32)
    if pad_to_max_output_size:
        chosen, values = _padded(chosen, int(size)), _padded(values, int(size))
    return chosen, values.astype(scores.dtype), count


@suppression_v5.shape
def _suppression_v5_shape(boxes, scores, max_output_size, iou_threshold, score_threshold, sigma,
                          pad_to_max_output_size):
    return [_padded_shape(boxes, scores, max_output_size, pad_to_max_output_size)] * 2 + [()]


@op("NonMaxSuppressionWithOverlaps", f"overlaps: float32, scores: float32, {_SIZE}, overlap_threshold: float32, "
    "score_threshold: float32 -> selected_indices: int32", flags=("host",))
def suppression_with_overlaps(xp, overlaps, scores, size, overlap_threshold, score_threshold):
    """Selects boxes whose overlaps are given; returns their numbers."""
    return _select(lambda i, j: overlaps[i, j], scores, int(size), overlap_threshold, score_threshold)[0]


@suppression_with_overlaps.shape
def _suppression_with_overlaps_shape(overlaps, scores, *unused):
    n, m = with_rank(overlaps, 2, "overlaps")
    (k,) = with_rank(scores, 1, "scores")
    if None not in (n, m) and n != m:
        raise Complaint(f"overlaps must be square but is {n} x {m}", "give the overlap of each box with each")
    if None not in (n, k) and n != k:
        raise Complaint(f"there are {n} boxes but {k} scores", "give one score for each box")
    return (None,)


suppression_with_overlaps.grad(NOT_DIFFERENTIABLE)


# -- public functions --------------------------------------------------------------------


def _tensors(boxes, scores, size, *numbers):
    if isinstance(boxes, np.ndarray) and boxes.dtype != np.float16:
        boxes = boxes.astype(np.float32)
    boxes = convert_to_tensor(boxes, name="boxes")
    dtype = boxes.dtype
    rest = [convert_to_tensor(v, dtype) for v in numbers]
    return boxes, convert_to_tensor(scores, dtype, name="scores"), convert_to_tensor(size, int32), *rest


def non_max_suppression(boxes: TensorLike, scores: TensorLike, max_output_size: TensorLike,
                        iou_threshold: TensorLike = 0.5, score_threshold: TensorLike = float("-inf"),
                        name: str | None = None) -> Tensor:
    """Selects the boxes with the best scores among overlapping ones.

    Args:
      boxes: (N, 4), float32 or float16: two opposite corners, y1, x1, y2, x2.
      scores: (N), their scores.
      max_output_size: the largest number of boxes to select.
      iou_threshold: boxes that share more of their union than this with a better one are dropped.
      score_threshold: boxes of this score or less are dropped.
      name: a name for the operation.
    Returns: (M), int32, the indices of the selected boxes, best first.
    Raises: ValueError for incompatible shapes; InvalidArgumentError at run time for a threshold outside [0, 1].
    Gradient: none.
    Reference: TensorFlow 2.21 NonMaxSuppressionV3.

    >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1], [0.0, 2.0, 1.0, 3.0]]
    >>> sess.run(tf.image.non_max_suppression(boxes, [0.8, 0.9, 0.1], 3))
    array([1, 2], dtype=int32)
    """
    return raw.NonMaxSuppressionV3(*_tensors(boxes, scores, max_output_size, iou_threshold, score_threshold), name=name)


def non_max_suppression_with_scores(boxes: TensorLike, scores: TensorLike, max_output_size: TensorLike,
                                    iou_threshold: TensorLike = 0.5, score_threshold: TensorLike = float("-inf"),
                                    soft_nms_sigma: TensorLike = 0.0, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Selects the boxes with the best scores among overlapping ones; overlaps decrease these scores.

    Args:
      boxes: (N, 4), float32 or float16: two opposite corners, y1, x1, y2, x2.
      scores: (N), their scores.
      max_output_size: the largest number of boxes to select.
      iou_threshold: boxes that share more of their union than this with a better one are dropped.
      score_threshold: boxes of this score or less are dropped.
      soft_nms_sigma: if positive, each overlap s with a better box multiplies the score by exp(-s**2 / (2 sigma)).
      name: a name for the operation.
    Returns: (indices, scores): (M), int32, and (M), best first.
    Raises: ValueError for incompatible shapes; InvalidArgumentError at run time for a threshold outside [0, 1].
    Gradient: none.
    Reference: TensorFlow 2.21 NonMaxSuppressionV5; Bodla et al. 2017.

    >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1], [0.0, 2.0, 1.0, 3.0]]
    >>> sess.run(tf.image.non_max_suppression_with_scores(boxes, [0.8, 0.9, 0.1], 3)[0])
    array([1, 2], dtype=int32)
    """
    args = _tensors(boxes, scores, max_output_size, iou_threshold, score_threshold, soft_nms_sigma)
    return raw.NonMaxSuppressionV5(*args, pad_to_max_output_size=False, name=name)[:2]


def non_max_suppression_overlaps(overlaps: TensorLike, scores: TensorLike, max_output_size: TensorLike,
                                 overlap_threshold: TensorLike = 0.5, score_threshold: TensorLike = float("-inf"),
                                 name: str | None = None) -> Tensor:
    """Selects the boxes with the best scores, given their overlaps.

    Args:
      overlaps: (N, N), float32.
      scores: (N), float32.
      max_output_size: the largest number of boxes to select.
      overlap_threshold: boxes that overlap more than this with a better one are dropped.
      score_threshold: boxes of this score or less are dropped.
      name: a name for the operation.
    Returns: (M), int32, the indices of the selected boxes, best first.
    Raises: ValueError for incompatible shapes.
    Gradient: none.
    Reference: TensorFlow 2.21 NonMaxSuppressionWithOverlaps.

    >>> sess.run(tf.image.non_max_suppression_overlaps([[1.0, 0.7], [0.7, 1.0]], [0.8, 0.9], 2))
    array([1], dtype=int32)
    """
    args = _tensors(overlaps, scores, max_output_size, overlap_threshold, score_threshold)
    return raw.NonMaxSuppressionWithOverlaps(*args, name=name)


limit_ranks(
    scalars="""
        NonMaxSuppression.max_output_size NonMaxSuppressionV2.max_output_size NonMaxSuppressionV2.iou_threshold
        NonMaxSuppressionV3.max_output_size NonMaxSuppressionV3.iou_threshold NonMaxSuppressionV3.score_threshold
        NonMaxSuppressionV4.max_output_size NonMaxSuppressionV4.iou_threshold NonMaxSuppressionV4.score_threshold
        NonMaxSuppressionV5.max_output_size NonMaxSuppressionV5.iou_threshold NonMaxSuppressionV5.score_threshold
        NonMaxSuppressionWithOverlaps.max_output_size NonMaxSuppressionWithOverlaps.overlap_threshold
        NonMaxSuppressionWithOverlaps.score_threshold""",
)
