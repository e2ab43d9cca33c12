"""Boxes in images: drawing and sampling them."""

from __future__ import annotations

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import INDEX, float16, float32, int8, int16, int32, int64, uint8
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.shape import with_rank
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.random import philox
from graphgrad.ops.random.seeds import get_seed, seed_attrs, start

_SMALL = frozenset({float16, float32})

# -- drawing -----------------------------------------------------------------------------

_COLOURS = ((1, 1, 0, 1), (0, 0, 1, 1), (1, 0, 0, 1), (0, 1, 0, 1), (0.5, 0, 0.5, 1), (0.5, 0.5, 0, 1), (0.5, 0, 0, 1),
            (0, 0, 0.5, 1), (0, 1, 1, 1), (1, 0, 1, 1))


def _draw(images, boxes, colours):
    result = images.copy()
    _, height, width, channels = images.shape
    for image, own in zip(result, boxes, strict=True):
        for k, box in enumerate(own):
            top, left, bottom, right = (int(np.float32(v) * np.float32(n)) for v, n in
                                        zip(box, (height - 1, width - 1) * 2, strict=True))
            colour = np.asarray(colours[k % len(colours)], images.dtype)[:channels]
            rows = slice(max(top, 0), min(bottom, height - 1) + 1)
            columns = slice(max(left, 0), min(right, width - 1) + 1)
            if top > bottom or left > right or top >= height or bottom < 0 or left >= width or right < 0:
                continue
            if top >= 0:
                image[top, columns] = colour
            if bottom < height:
                image[bottom, columns] = colour
            if left >= 0:
                image[rows, left] = colour
            if right < width:
                image[rows, right] = colour
    return result


def _drawn_shape(images, boxes, colors=None):
    images = with_rank(images, 4, "images")
    batch, _, four = with_rank(boxes, 3, "boxes")
    if images[3] not in (1, 3, 4, None):
        raise Complaint(f"images have {images[3]} channels", "give images of 1, 3 or 4 channels")
    if four not in (4, None):
        raise Complaint(f"boxes have {four} columns instead of 4", "give [y_min, x_min, y_max, x_max]")
    if None not in (batch, images[0]) and batch != images[0]:
        raise Complaint(f"there are boxes for {batch} images but {images[0]} images", "give boxes for each image")
    return images


@op("DrawBoundingBoxes", "images: T, boxes: float32 -> output: T",
    prefers={"T": "float32"}, T=_SMALL, flags=("host",), shape=_drawn_shape)
def draw_bounding_boxes_op(xp, images, boxes):
    """Draws boxes of changing colours into images."""
    colours = [(1, *c[1:]) for c in _COLOURS] if images.shape[3] == 1 else _COLOURS
    return _draw(images, boxes, colours)


draw_bounding_boxes_op.grad(NOT_DIFFERENTIABLE)


@op("DrawBoundingBoxesV2", "images: T, boxes: float32, colors: float32 -> output: T",
    prefers={"T": "float32"}, T=_SMALL, flags=("host",),
    shape=_drawn_shape)
def draw_bounding_boxes_v2_op(xp, images, boxes, colors):
    """Draws boxes of the given colours, in turn, into images."""
    if not len(colors):
        return draw_bounding_boxes_op.kernel(xp, images, boxes)
    return _draw(images, boxes, [(1, *c[1:]) for c in colors] if images.shape[3] == 1 else colors)


def draw_bounding_boxes_v1(images: TensorLike, boxes: TensorLike, name: str | None = None,
                           colors: TensorLike = None) -> Tensor:
    """Draws boxes into images.

    Args:
      images: (N, H, W, C), float16 or float32, of 1, 3 or 4 channels.
      boxes: (N, M, 4), float32: y_min, x_min, y_max, x_max as fractions of the height and the width.
      name: a name for the operation.
      colors: (K, C), float32: the colours of boxes, in turn; ten by default.
    Returns: a tensor like `images`.
    Raises: ValueError for incompatible shapes.
    Gradient: none.
    Reference: TensorFlow 2.21 DrawBoundingBoxesV2.

    >>> sess.run(tf.image.draw_bounding_boxes(np.zeros((1, 3, 3, 1), np.float32), [[[0.0, 0.0, 1.0, 1.0]]]))[0, ..., 0]
    array([[1., 1., 1.],
           [1., 0., 1.],
           [1., 1., 1.]], dtype=float32)
    """
    boxes = convert_to_tensor(boxes, float32, name="boxes")
    if colors is None:
        return raw.DrawBoundingBoxes(images, boxes, name=name)
    return raw.DrawBoundingBoxesV2(images, boxes, colors, name=name)


def draw_bounding_boxes(images: TensorLike, boxes: TensorLike, colors: TensorLike, name: str | None = None) -> Tensor:
    """Draws boxes into images.

    Args:
      images: (N, H, W, C), float16 or float32, of 1, 3 or 4 channels.
      boxes: (N, M, 4), float32: y_min, x_min, y_max, x_max as fractions of the height and the width.
      colors: (K, C), float32: the colours of boxes, in turn, or None for ten standard ones.
      name: a name for the operation.
    Returns: a tensor like `images`.
    Raises: ValueError for incompatible shapes.
    Gradient: none.
    Reference: TensorFlow 2.21 DrawBoundingBoxesV2.
    """
    return draw_bounding_boxes_v1(images, boxes, name, colors)


# -- sampling ----------------------------------------------------------------------------

_T = frozenset({uint8, int8, int16, int32, int64})
_FLAGS = ("host", "stateful", "random")


class _Draws:
    """Numbers of a stream, one after the other."""

    def __init__(self, stream, blocks):
        words = philox.host_blocks(stream, np.arange(blocks, dtype=np.uint64))
        self.words = iter(np.stack(words, 1).reshape(-1).tolist())

    def uniform(self):
        """Draws a float from [0, 1)."""
        return np.float32((next(self.words) & 0x7FFFFF) / 2**23)

    def below(self, n):
        """Draws an integer from [0, n) uniformly."""
        last = 0xFFFFFFFF - (0xFFFFFFFF % n + 1) % n
        while True:
            word = next(self.words)
            if word <= last:
                return word % n


def _crop(draws, height, width, aspect, area):
    """Draws a crop (y, x, height, width) of the given aspect and bounds of its area, or None."""
    least, most = (np.float32(a) * np.float32(width) * np.float32(height) for a in area)

    def width_of(h):
        return int(np.rint(np.float32(h) * aspect))

    low, high = (int(np.rint(np.sqrt(a / aspect))) for a in (least, most))
    if width_of(high) > width:
        high = int((width + 0.5 - 1e-7) / aspect)
    high = min(high, height)
    low = min(low, high)
    h = low + (draws.below(high - low + 1) if low < high else 0)
    if np.float32(h * width_of(h)) < least:
        h += 1
    if np.float32(h * width_of(h)) > most:
        h -= 1
    w = width_of(h)
    if not least <= np.float32(h * w) <= most or w > width or h > height or w <= 0 or h <= 0:
        return None
    y = draws.below(height - h) if h < height else 0
    x = draws.below(width - w) if w < width else 0
    return y, x, h, w


def _covers(crop, box, least):
    """Returns whether the crop covers at least that fraction of the box (top, left, bottom, right)."""
    y, x, h, w = crop
    top, left, bottom, right = box
    area = (bottom - top) * (right - left)
    if h * w < 1 or area < 1:
        return False
    common = max(0, min(y + h, bottom) - max(y, top)) * max(0, min(x + w, right) - max(x, left))
    return np.float32(common) / np.float32(area) >= least


def _sample(stream, image_size, boxes, least, aspect_ratio_range, area_range, max_attempts, use_image):
    height, width = (int(n) for n in image_size[:2])
    boxes = boxes.reshape(-1, 4)
    if least < 0:
        raise Complaint(f"Min object covered must be non-negative: {least}", "use a number from 0 to 1")
    if not len(boxes):
        if not use_image:
            raise Complaint("No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes if "
                            "you wish to not provide any bounding boxes", "use_image_if_no_bounding_boxes=True")
        boxes = np.asarray([[0, 0, 1, 1]], np.float32)
    if boxes.min() < 0 or boxes.max() > 1:
        raise Complaint("All bounding box coordinates must be in [0.0, 1.0]: "
                        f"{boxes[(boxes < 0) | (boxes > 1)][0]}", "give parts of the height and the width")
    corners = (boxes * np.asarray([height, width, height, width], np.float32)).astype(np.int64).tolist()
    draws = _Draws(stream, max_attempts)
    low, high = (np.float32(a) for a in aspect_ratio_range)
    crop = 0, 0, height, width
    for _ in range(max_attempts):
        found = _crop(draws, height, width, draws.uniform() * (high - low) + low, area_range)
        if found is not None and any(_covers(found, box, least) for box in corners):
            crop = found
            break
    y, x, h, w = crop
    kind = image_size.dtype
    bounds = np.asarray([y, x, y + h, x + w], np.float32) / np.asarray([height, width, height, width], np.float32)
    return np.asarray([y, x, 0], kind), np.asarray([h, w, -1], kind), bounds.astype(np.float32).reshape(1, 1, 4)


def _sampled_shape(image_size, bounding_boxes, aspect_ratio_range, area_range, max_attempts):
    (n,) = with_rank(image_size, 1, "image_size")
    if n not in (3, None):
        raise Complaint(f"image_size must contain 3 elements but has {n}", "give [height, width, channels]")
    four = with_rank(bounding_boxes, 3, "bounding_boxes")[2]
    if four not in (4, None):
        raise Complaint(f"bounding boxes must have shape [4] or [*, 4] but have {four} columns", "give 4 numbers a box")
    if max_attempts <= 0:
        raise Complaint(f"Max attempts must be non-negative: {max_attempts}", "use at least 1")
    for what, bounds in (("Aspect ratio", aspect_ratio_range), ("Area range", area_range)):
        if len(bounds) != 2 or bounds[0] <= 0 or bounds[1] <= 0:
            raise Complaint(f"{what} must be non-negative: {tuple(bounds)}", "give two positive numbers")
    return [(3,), (3,), (1, 1, 4)]


def _stateful_shape(image_size, bounding_boxes, min_object_covered, aspect_ratio_range, area_range, max_attempts):
    with_rank(min_object_covered, 0, "min_object_covered")
    return _sampled_shape(image_size, bounding_boxes, aspect_ratio_range, area_range, max_attempts)


@op("SampleDistortedBoundingBoxV2", "image_size: T, bounding_boxes: float32, min_object_covered: float32 -> begin: T, "
    "size: T, bboxes: float32", T=_T, flags=_FLAGS, shape=_stateful_shape)
def sample_box(xp, image_size, boxes, least, *, seed=0, seed2=0, aspect_ratio_range=(0.75, 1.33),
               area_range=(0.05, 1.0), max_attempts=100, use_image_if_no_bounding_boxes=False, rng=0):
    """Draws a random crop that covers a fraction of some box."""
    stream = start(xp, "SampleDistortedBoundingBoxV2", rng, seed, seed2, max_attempts)
    return _sample(stream, image_size, boxes, least, aspect_ratio_range, area_range, max_attempts,
                   use_image_if_no_bounding_boxes)


sample_box.grad(NOT_DIFFERENTIABLE)


@op("SampleDistortedBoundingBox", "image_size: T, bounding_boxes: float32 -> begin: T, size: T, bboxes: float32", T=_T,
    flags=_FLAGS, shape=_sampled_shape)
def sample_box_v1(xp, image_size, boxes, *, seed=0, seed2=0, min_object_covered=0.1, aspect_ratio_range=(0.75, 1.33),
                  area_range=(0.05, 1.0), max_attempts=100, use_image_if_no_bounding_boxes=False, rng=0):
    """Draws a random crop that covers a fraction of some box: the older form, with the fraction as an attribute."""
    stream = start(xp, "SampleDistortedBoundingBox", rng, seed, seed2, max_attempts)
    return _sample(stream, image_size, boxes, min_object_covered, aspect_ratio_range, area_range, max_attempts,
                   use_image_if_no_bounding_boxes)


sample_box_v1.grad(NOT_DIFFERENTIABLE)


def _stateless_shape(image_size, bounding_boxes, min_object_covered, seed, aspect_ratio_range, area_range,
                     max_attempts):
    with_rank(seed, 1, "seed")
    return _stateful_shape(image_size, bounding_boxes, min_object_covered, aspect_ratio_range, area_range, max_attempts)


@op("StatelessSampleDistortedBoundingBox", "image_size: T, bounding_boxes: float32, min_object_covered: float32, "
    "seed: Tseed -> begin: T, size: T, bboxes: float32", T=_T, Tseed=INDEX, flags=("host",),
    shape=_stateless_shape)
def stateless_sample_box(xp, image_size, boxes, least, seed, *, aspect_ratio_range=(0.75, 1.33), area_range=(0.05, 1.0),
                         max_attempts=100, use_image_if_no_bounding_boxes=False):
    """Draws a crop that covers a fraction of some box, as a function of the seed alone."""
    return _sample(philox.stateless(np, seed), image_size, boxes, least, aspect_ratio_range, area_range, max_attempts,
                   use_image_if_no_bounding_boxes)


def _options(aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes):
    return {"aspect_ratio_range": tuple(aspect_ratio_range or (0.75, 1.33)),
            "area_range": tuple(area_range or (0.05, 1.0)),
            "max_attempts": 100 if max_attempts is None else int(max_attempts),
            "use_image_if_no_bounding_boxes": bool(use_image_if_no_bounding_boxes)}


def sample_distorted_bounding_box(image_size: TensorLike, bounding_boxes: TensorLike, seed: int | None = 0,
                                  min_object_covered: TensorLike = 0.1, aspect_ratio_range: TensorLike = None,
                                  area_range: TensorLike = None, max_attempts: TensorLike = None,
                                  use_image_if_no_bounding_boxes: bool | None = None,
                                  name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Draws a random crop that covers a fraction of one of some boxes, for augmenting images.

    Args:
      image_size: the vector [height, width, channels], integers.
      bounding_boxes: (1, M, 4), float32: y_min, x_min, y_max, x_max as fractions of the height and the width.
      seed: a seed; with 0, crops differ from run to run.
      min_object_covered: the least fraction of a box that the crop must cover.
      aspect_ratio_range: the bounds of width / height; (0.75, 1.33) by default.
      area_range: the bounds of the crop's fraction of the image; (0.05, 1) by default.
      max_attempts: the number of attempts, after which the whole image is taken; 100 by default.
      use_image_if_no_bounding_boxes: whether the whole image is the box if there is none.
      name: a name for the operation.
    Returns: (begin, size, bboxes): vectors for `tf.slice`, of image_size's dtype, and the crop as (1, 1, 4).
    Raises: ValueError for incompatible shapes or ranges; InvalidArgumentError at run time for bad boxes.
    Gradient: none.
    Reference: TensorFlow 2.21 SampleDistortedBoundingBoxV2.

    >>> begin, size, box = sample_distorted_bounding_box([40, 60, 3], [[[0.1, 0.2, 0.6, 0.9]]], seed=3)
    >>> sess.run(begin + size) <= [40, 60, 0]
    array([ True,  True,  True])
    """
    seeds = seed_attrs(None) if not seed else dict(zip(("seed", "seed2"), get_seed(seed), strict=True))
    return _stateful(image_size, bounding_boxes, min_object_covered, seeds, name, aspect_ratio_range, area_range,
                     max_attempts, use_image_if_no_bounding_boxes)


def _stateful(image_size, boxes, least, seeds, name, *options):
    least, boxes = convert_to_tensor(least, float32), convert_to_tensor(boxes, float32, name="bounding_boxes")
    return raw.SampleDistortedBoundingBoxV2(image_size, boxes, least, name=name, **seeds, **_options(*options))


def sample_distorted_bounding_box_v1(image_size: TensorLike, bounding_boxes: TensorLike, seed: int | None = None,
                                     seed2: int | None = None, min_object_covered: TensorLike = 0.1,
                                     aspect_ratio_range: TensorLike = None, area_range: TensorLike = None,
                                     max_attempts: TensorLike = None,
                                     use_image_if_no_bounding_boxes: bool | None = None,
                                     name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Draws a random crop that covers a fraction of one of some boxes, with TensorFlow 1's arguments.

    Args:
      image_size: the vector [height, width, channels], integers.
      bounding_boxes: (1, M, 4), float32: y_min, x_min, y_max, x_max as fractions of the height and the width.
      seed, seed2: the op's two seeds; without them, crops differ from run to run.
      min_object_covered: the least fraction of a box that the crop must cover.
      aspect_ratio_range: the bounds of width / height; (0.75, 1.33) by default.
      area_range: the bounds of the crop's fraction of the image; (0.05, 1) by default.
      max_attempts: the number of attempts, after which the whole image is taken; 100 by default.
      use_image_if_no_bounding_boxes: whether the whole image is the box if there is none.
      name: a name for the operation.
    Returns: (begin, size, bboxes): vectors for `tf.slice`, of image_size's dtype, and the crop as (1, 1, 4).
    Raises: ValueError for incompatible shapes or ranges; InvalidArgumentError at run time for bad boxes.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.compat.v1.image.sample_distorted_bounding_box`.
    """
    seeds = {"seed": seed or 0, "seed2": seed2 or 0} if seed or seed2 else seed_attrs(None)
    return _stateful(image_size, bounding_boxes, min_object_covered, seeds, name, aspect_ratio_range, area_range,
                     max_attempts, use_image_if_no_bounding_boxes)


def stateless_sample_distorted_bounding_box(image_size: TensorLike, bounding_boxes: TensorLike, seed: TensorLike,
                                            min_object_covered: TensorLike = 0.1, aspect_ratio_range: TensorLike = None,
                                            area_range: TensorLike = None, max_attempts: TensorLike = None,
                                            use_image_if_no_bounding_boxes: bool | None = None,
                                            name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Draws a crop that covers a fraction of one of some boxes, as a function of the seed alone.

    Args:
      image_size: the vector [height, width, channels], integers.
      bounding_boxes: (1, M, 4), float32: y_min, x_min, y_max, x_max as fractions of the height and the width.
      seed: two integers.
      min_object_covered: the least fraction of a box that the crop must cover.
      aspect_ratio_range: the bounds of width / height; (0.75, 1.33) by default.
      area_range: the bounds of the crop's fraction of the image; (0.05, 1) by default.
      max_attempts: the number of attempts, after which the whole image is taken; 100 by default.
      use_image_if_no_bounding_boxes: whether the whole image is the box if there is none.
      name: a name for the operation.
    Returns: (begin, size, bboxes): vectors for `tf.slice`, of image_size's dtype, and the crop as (1, 1, 4).
    Raises: ValueError for incompatible shapes or ranges; InvalidArgumentError at run time for bad boxes.
    Gradient: none.
    Reference: TensorFlow 2.21 StatelessSampleDistortedBoundingBox.

    >>> sess.run(stateless_sample_distorted_bounding_box([40, 60, 3], [[[0.1, 0.2, 0.6, 0.9]]], [1, 2])[0])
    array([0, 3, 0], dtype=int32)
    """
    options = _options(aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes)
    boxes = convert_to_tensor(bounding_boxes, float32, name="bounding_boxes")
    return raw.StatelessSampleDistortedBoundingBox(image_size, boxes, convert_to_tensor(min_object_covered, float32),
                                                   seed, name=name, **options)
