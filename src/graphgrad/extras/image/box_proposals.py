"""Selection of boxes of many images and classes, and of boxes that a network proposes over a grid of anchors."""

from __future__ import annotations

import collections

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import float32, int32
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import with_rank
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.common.rank_limits import limit_ranks

from .non_max_suppression import _overlap, _padded, _select, _tensors, _thresholds

# -- of classes --------------------------------------------------------------------------


@op("CombinedNonMaxSuppression", "boxes: float32, scores: float32, max_output_size_per_class: int32, "
    "max_total_size: int32, iou_threshold: float32, score_threshold: float32 -> nmsed_boxes: float32, "
    "nmsed_scores: float32, nmsed_classes: float32, valid_detections: int32", flags=("host",),
    peek=("max_output_size_per_class", "max_total_size"))
def combined(xp, boxes, scores, each, total, iou_threshold, score_threshold, *, pad_per_class=False, clip_boxes=True):
    """Selects boxes of each class, then the best of all classes, image by image."""
    for what, size in (("max_size_per_class", each), ("max_total_size", total)):
        if size <= 0:
            raise Complaint(f"{what} must be positive but is {size}", "ask for at least one box")
    _thresholds(iou_threshold)
    classes = scores.shape[2]
    size = min(int(total), int(each) * classes) if pad_per_class else int(total)
    images = [_of_classes(b, s, int(each), size, iou_threshold, score_threshold)
              for b, s in zip(boxes, scores, strict=True)]
    kept, best, which, counts = (np.stack([i[k] for i in images]) if images else None for k in range(4))
    if not images:
        return (np.zeros((0, size, 4), np.float32), *[np.zeros((0, size), np.float32)] * 2, np.zeros(0, np.int32))
    return np.clip(kept, 0, 1) if clip_boxes else kept, best, which, counts


def _of_classes(boxes, scores, each, size, iou_threshold, score_threshold):
    found = []
    for c in range(scores.shape[1]):
        own = boxes[:, c if boxes.shape[1] > 1 else 0]
        chosen, values = _select(_overlap(own), scores[:, c], each, iou_threshold, score_threshold)
        found += [(v, c, own[i]) for i, v in zip(chosen, values, strict=True)]
    found.sort(key=_first, reverse=True)
    found = found[:size]
    kept, best, which = np.zeros((size, 4), np.float32), np.zeros(size, np.float32), np.zeros(size, np.float32)
    for i, (value, c, box) in enumerate(found):
        kept[i], best[i], which[i] = box, value, c
    return kept, best, which, np.int32(len(found))


def _first(found):
    return found[0]


@combined.shape
def _combined_shape(boxes, scores, each, total, iou_threshold, score_threshold, pad_per_class):
    n, m, q, four = with_rank(boxes, 4, "boxes")
    k, of, classes = with_rank(scores, 3, "scores")
    if four not in (4, None):
        raise Complaint(f"boxes must have 4 columns but have {four}", "give [y1, x1, y2, x2] for each box")
    if any(None not in pair and pair[0] != pair[1] for pair in ((m, of), (n, k))):
        raise Complaint(f"scores has incompatible shape {scores} for boxes {boxes}", "give (images, boxes, classes)")
    if None not in (q, classes) and q not in (1, classes):
        raise Complaint(f"third dimension of boxes must be either 1 or num classes, not {q}",
                        "tf.expand_dims(boxes, 2)")
    size = total
    if pad_per_class and None not in (total, each, classes):
        size = min(total, each * classes)
    elif pad_per_class:
        size = None
    n = k if n is None else n
    return [(n, size, 4), (n, size), (n, size), (n,)]


combined.grad(NOT_DIFFERENTIABLE)


CombinedNonMaxSuppression = collections.namedtuple(
    "CombinedNonMaxSuppression", ["nmsed_boxes", "nmsed_scores", "nmsed_classes", "valid_detections"])


def combined_non_max_suppression(boxes: TensorLike, scores: TensorLike, max_output_size_per_class: TensorLike,
                                 max_total_size: TensorLike, iou_threshold: TensorLike = 0.5,
                                 score_threshold: TensorLike = float("-inf"), pad_per_class: bool = False,
                                 clip_boxes: bool = True, name: str | None = None) -> CombinedNonMaxSuppression:
    """Selects the boxes with the best scores among overlapping boxes of several classes.

    Args:
      boxes: (B, N, Q, 4), float32: two opposite corners, y1, x1, y2, x2; Q is 1 or the number of classes.
      scores: (B, N, classes), float32.
      max_output_size_per_class: the largest number of boxes to select of a class.
      max_total_size: the largest number of boxes to select of an image.
      iou_threshold: boxes that share more of their union than this with a better one of their class are dropped.
      score_threshold: boxes of this score or less are dropped.
      pad_per_class: whether results are padded to at most max_output_size_per_class boxes of each class.
      clip_boxes: whether coordinates of results are clipped to [0, 1].
      name: a name for the operation.
    Returns: boxes (B, K, 4), scores (B, K) and classes (B, K), float32, best first, padded with zeros, and their
      numbers, (B), int32; K is max_total_size.
    Raises: ValueError for incompatible shapes; InvalidArgumentError at run time for sizes that are not positive or
      a threshold outside [0, 1].
    Gradient: none.
    Reference: TensorFlow 2.21 CombinedNonMaxSuppression.

    >>> boxes = np.float32([[[[0, 0, 1, 1]], [[0, 0.1, 1, 1.1]]]])
    >>> sess.run(tf.image.combined_non_max_suppression(boxes, [[[0.9], [0.8]]], 2, 2))[1]
    array([[0.9, 0. ]], dtype=float32)
    """
    floats = [convert_to_tensor(v, float32) for v in (boxes, scores, iou_threshold, score_threshold)]
    sizes = [convert_to_tensor(v, int32) for v in (max_output_size_per_class, max_total_size)]
    found = raw.CombinedNonMaxSuppression(*floats[:2], *sizes, *floats[2:], pad_per_class=bool(pad_per_class),
                                          clip_boxes=bool(clip_boxes), name=name)
    return CombinedNonMaxSuppression(*found)


# -- of batches --------------------------------------------------------------------------


@op("BatchNonMaxSuppression", "boxes: float32, scores: float32, max_output_size: int32, iou_threshold: float32, "
    "score_threshold: float32 -> selected_indices: int32, valid_outputs: int32", flags=("host",),
    peek=("max_output_size",))
def batch_suppression(xp, boxes, scores, size, iou_threshold, score_threshold):
    """Selects boxes as NonMaxSuppressionV4 does, for each image of a batch."""
    lead, size = boxes.shape[:-2], int(size)
    flat = [_select(_overlap(b), s, size, iou_threshold, score_threshold)[0]
            for b, s in zip(boxes.reshape(-1, *boxes.shape[-2:]), scores.reshape(-1, scores.shape[-1]), strict=True)]
    chosen = np.asarray([_padded(c, size) for c in flat], np.int32).reshape(*lead, size)
    return chosen, np.asarray([len(c) for c in flat], np.int32).reshape(lead)


@batch_suppression.shape
def _batch_suppression_shape(boxes, scores, size, iou_threshold, score_threshold):
    if boxes is None:
        return [None, None]
    return [(*boxes[:-2], size), boxes[:-2]]


batch_suppression.grad(NOT_DIFFERENTIABLE)


def non_max_suppression_padded(boxes: TensorLike, scores: TensorLike, max_output_size: TensorLike,
                               iou_threshold: TensorLike = 0.5, score_threshold: TensorLike = float("-inf"),
                               pad_to_max_output_size: bool = False, name: str | None = None,
                               sorted_input: bool = False, canonicalized_coordinates: bool = False,
                               tile_size: int = 512) -> tuple[Tensor, Tensor]:
    """Selects the boxes with the best scores among overlapping ones, for batches of images.

    Args:
      boxes: (*B, N, 4), float32: two opposite corners, y1, x1, y2, x2.
      scores: (*B, N), float32.
      max_output_size: the largest number of boxes to select of an image.
      iou_threshold: boxes that share more of their union than this with a better one are dropped.
      score_threshold: boxes of this score or less are dropped.
      pad_to_max_output_size: whether the indices of the boxes are padded with zeros; needed for batches.
      name: a name for the scope of the operations.
      sorted_input, canonicalized_coordinates, tile_size: accepted; hints that are not used here.
    Returns: (indices, their number): (*B, M), int32, best first, and (*B), int32.
    Raises: ValueError for a batch without padding, or incompatible shapes.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.image.non_max_suppression_padded`.

    >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1], [0.0, 2.0, 1.0, 3.0]]
    >>> sess.run(tf.image.non_max_suppression_padded(boxes, [0.8, 0.9, 0.1], 3, pad_to_max_output_size=True))[0]
    array([1, 2, 0], dtype=int32)
    """
    with name_scope(name, "non_max_suppression_padded"):
        args = _tensors(boxes, scores, max_output_size, iou_threshold, score_threshold)
        rank = args[0].shape.rank
        if not pad_to_max_output_size and rank is not None and rank > 2:
            raise ValueError("'pad_to_max_output_size' (value False) must be True for batched input. "
                             "Fix: pad_to_max_output_size=True")
        if rank == 2 or not pad_to_max_output_size:
            return raw.NonMaxSuppressionV4(*args, pad_to_max_output_size=bool(pad_to_max_output_size))
        return raw.BatchNonMaxSuppression(*args)


# -- of anchors --------------------------------------------------------------------------

_LARGEST = np.float32(np.log(1000.0 / 16.0))  # the bound of the logarithm of a ratio of sizes


def _decoded(anchors, deltas):
    """Decodes boxes (n, 4) from anchors and a network's offsets of centre and size."""
    low, high = anchors[:, :2], anchors[:, 2:]
    size = high - low
    centre = low + np.float32(0.5) * size + size * deltas[:, :2]
    half = np.float32(0.5) * size * np.exp(np.minimum(deltas[:, 2:], _LARGEST))
    return centre - half, centre + half


@op("GenerateBoundingBoxProposals", "scores: float32, bbox_deltas: float32, image_info: float32, anchors: float32, "
    "nms_threshold: float32, pre_nms_topn: int32, min_size: float32 -> rois: float32, roi_probabilities: float32",
    flags=("host",))
def proposals(xp, scores, deltas, info, anchors, nms_threshold, first, min_size, *, post_nms_topn=300):
    """Selects the best boxes about anchors, among those that do not overlap too much."""
    if first <= 0:
        raise Complaint(f"pre_nms_topn should be greater than 0, not {first}", "look at one box at least")
    if not 0 <= nms_threshold <= 1:
        raise Complaint(f"nms_threshold should be between 0 and 1, not {nms_threshold}", "use a number from 0 to 1")
    n = len(scores)
    rois, probabilities = np.zeros((n, post_nms_topn, 4), np.float32), np.zeros((n, post_nms_topn), np.float32)
    for i in range(n):
        flat = scores[i].reshape(-1)
        order = np.argsort(-flat, kind="stable")[: int(first)]
        low, high = _decoded(anchors.reshape(-1, 4)[order], deltas[i].reshape(-1, 4)[order])
        low, high = (np.clip(v, 0, info[i, :2]) for v in (low, high))
        large = (high - low).min(1) >= min_size * info[i, 2]
        boxes, values = np.concatenate([low, high], 1)[large].astype(np.float32), flat[order][large]
        chosen, _ = _select(_overlap(boxes), values, post_nms_topn, nms_threshold, -np.inf)
        rois[i, : len(chosen)], probabilities[i, : len(chosen)] = boxes[chosen], values[chosen]
    return rois, probabilities


@proposals.shape
def _proposals_shape(scores, deltas, info, anchors, nms_threshold, pre_nms_topn, min_size, post_nms_topn):
    if not 0 < post_nms_topn < 2**31:
        raise Complaint(f"post_nms_topn can't be 0 or less, or 2147483648 or more, but is {post_nms_topn}",
                        "ask for 300")
    n, h, w, a = with_rank(scores, 4, "scores")
    given, grid = with_rank(deltas, 4, "bbox_deltas"), with_rank(anchors, 3, "anchors")
    if with_rank(info, 2, "image_info")[1] not in (5, None):
        raise Complaint(f"image_info must have 5 columns but has {info[1]}", "give height, width, scale and two more")
    wanted = (h, w, None if a is None else 4 * a)
    for what, shape in (("bbox_deltas", given[1:]), ("anchors", grid)):
        if any(None not in pair and pair[0] != pair[1] for pair in zip(shape, wanted, strict=True)):
            raise Complaint(f"{what} must end in {wanted} but has shape {shape}", "give 4 numbers for each anchor")
    return [(n, post_nms_topn, 4), (n, post_nms_topn)]


proposals.grad(NOT_DIFFERENTIABLE)


GenerateBoundingBoxProposals = collections.namedtuple("GenerateBoundingBoxProposals", ["rois", "roi_probabilities"])


def generate_bounding_box_proposals(scores: TensorLike, bbox_deltas: TensorLike, image_info: TensorLike,
                                    anchors: TensorLike, nms_threshold: float = 0.7, pre_nms_topn: int = 6000,
                                    min_size: int = 16, post_nms_topn: int = 300,
                                    name: str | None = None) -> GenerateBoundingBoxProposals:
    """Selects the best boxes that a region proposal network finds.

    Args:
      scores: (B, H, W, A), float32: the objectness of each anchor.
      bbox_deltas: (B, H, W, 4 A): the offset of each box's centre from its anchor's (y, x), relative to the size, and
        the logarithms of the ratios of heights and widths.
      image_info: (B, 5): height, width and scale of each image, and two numbers that are not used.
      anchors: (H, W, 4 A): boxes y1, x1, y2, x2 in pixels.
      nms_threshold: boxes that share more of their union than this with a better one are dropped.
      pre_nms_topn: the number of boxes to consider, best first.
      min_size: boxes of fewer pixels (times the scale) in height or width are dropped.
      post_nms_topn: the number of boxes to select.
      name: a name for the operation.
    Returns: (rois, roi_probabilities): (B, post_nms_topn, 4) and (B, post_nms_topn), float32, padded with zeros.
    Raises: ValueError for incompatible shapes; InvalidArgumentError at run time for numbers out of range.
    Gradient: none.
    Reference: TensorFlow 2.21 GenerateBoundingBoxProposals (which runs only on GPUs); Ren et al. 2015.

    >>> anchors = np.float32([[[0, 0, 20, 20]]])
    >>> info = np.float32([[40, 40, 1, 0, 0]])
    >>> found = tf.image.generate_bounding_box_proposals([[[[0.5]]]], np.zeros((1, 1, 1, 4)), info, anchors)
    >>> sess.run(found.rois)[0, 0]
    array([ 0.,  0., 20., 20.], dtype=float32)
    """
    tensors = [convert_to_tensor(v, float32) for v in (scores, bbox_deltas, image_info, anchors, nms_threshold)]
    found = raw.GenerateBoundingBoxProposals(*tensors, convert_to_tensor(pre_nms_topn, int32),
                                             convert_to_tensor(min_size, float32), post_nms_topn=whole(post_nms_topn),
                                             name=name)
    return GenerateBoundingBoxProposals(*found)


limit_ranks(
    scalars="""
        BatchNonMaxSuppression.max_output_size CombinedNonMaxSuppression.max_output_size_per_class
        CombinedNonMaxSuppression.max_total_size""",
)
