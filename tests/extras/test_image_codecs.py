"""Single image formats, JPEG's traces, boxes of batches and proposals, similarities at several scales."""

from __future__ import annotations

import io
import struct
import tracemalloc
import zlib
from typing import Any

import numpy as np
import pytest
from PIL import Image

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from graphgrad.extras.image.pillow import pictures_of

pytestmark = pytest.mark.usefixtures("graph")
PIXELS = np.random.RandomState(0).randint(0, 256, (5, 7, 3)).astype(np.uint8)
SMOOTH = np.add.outer(np.arange(9) * 9, np.arange(7) * 8)[:, :, None].repeat(3, 2).astype(np.uint8)


def run(fetches: Any) -> Any:
    """The values, by NumPy."""
    with HostSession() as sess:
        return sess.run(fetches)


def encoded(pixels: np.ndarray, kind: str, **options: Any) -> bytes:
    """A file that Pillow wrote."""
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, kind, **options)
    return buffer.getvalue()


def test_bmp() -> None:
    """Grey, RGB and RGBA files, from the bottom up as Pillow writes them and from the top down."""
    rgba = np.concatenate([PIXELS, PIXELS[:, :, :1]], axis=2)
    for pixels in (PIXELS, rgba):
        assert (run(tf.image.decode_bmp(encoded(pixels, "BMP"))) == pixels).all()
    grey = struct.pack("<2s3i", b"BM", 0, 0, 54) + struct.pack("<3iHH", 40, 7, -5, 1, 8) + bytes(24)
    rows = b"".join(bytes(row) + b"\0" for row in PIXELS[:, :, 0].tolist())
    assert (run(tf.io.decode_bmp(grey + rows, channels=1)) == PIXELS[:, :, :1]).all()
    for data, channels, text in ((b"abc", 0, "Unknown image file format"), (b"BM", 0, "Incomplete bmp"),
                                 (encoded(PIXELS, "BMP"), 4, "does not match bits"),
                                 (encoded(PIXELS, "BMP")[:70], 0, "too short"),
                                 (grey[:28] + b"\4" + grey[29:], 0, "has 4 bits")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"(?s){text}.*Fix:"):
            run(tf.image.decode_bmp(data, channels=channels))


def test_gif() -> None:
    """All pictures of a file that moves."""
    frames = [Image.fromarray(np.full((3, 4, 3), v, np.uint8)) for v in (0, 255)]
    buffer = io.BytesIO()
    frames[0].save(buffer, "GIF", save_all=True, append_images=frames[1:])
    assert run(tf.image.decode_gif(buffer.getvalue())).mean((1, 2, 3)).tolist() == [0, 255]
    assert (run(tf.image.decode_gif(encoded(PIXELS, "PNG"))) == PIXELS).all()
    with pytest.raises(tf.errors.InvalidArgumentError, match="(?s)Got 2 frames.*Fix:"):
        run(tf.image.decode_png(buffer.getvalue()))


@pytest.mark.parametrize("decode", [tf.image.decode_jpeg, tf.image.decode_png, tf.image.decode_gif, tf.image.decode_bmp,
                                    tf.image.decode_image])
def test_other_formats(decode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Formats other than the four never get as far as Pillow, which would start Ghostscript for one of them."""
    monkeypatch.setattr(Image, "open", None)
    for data in (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\nshowpage\n", encoded(PIXELS, "TIFF"),
                 encoded(PIXELS, "PPM"), b"\x89PNG"):
        with pytest.raises(tf.errors.InvalidArgumentError, match="(?s)Unknown image file format.*Fix:"):
            run(decode(data))


def test_bombs(monkeypatch: pytest.MonkeyPatch) -> None:
    """What would become more pixels than Pillow takes, or takes many passes over them, is refused."""
    progressive = encoded(PIXELS, "JPEG", progressive=True)
    scan = progressive.index(b"\xff\xda")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 40)
    frames = [Image.fromarray(np.full((3, 4, 3), v, np.uint8)) for v in range(0, 250, 20)]
    buffer = io.BytesIO()
    frames[0].save(buffer, "GIF", save_all=True, append_images=frames[1:])
    for data, text in ((encoded(np.zeros((9, 9, 3), np.uint8), "PNG"), "Invalid PNG data.*exceeds limit"),
                       (encoded(np.zeros((9, 9, 3), np.uint8), "JPEG"), "Invalid JPEG data.*exceeds limit"),
                       (buffer.getvalue(), "more than 80 pixels"),
                       (progressive + progressive[scan:] * 100, "more than 100 scans")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"(?s){text}.*Fix:"):
            run(tf.image.decode_image(data))
    assert run(tf.image.decode_image(buffer.getvalue(), expand_animations=False)).shape == (3, 4, 3)


def test_parts_of_jpeg_files() -> None:
    """The shape from the header; a part of the image is what a slice of the whole is."""
    for kind in ({}, {"progressive": True}, {"exif": b"Exif\0\0" + bytes(300)}):
        data = encoded(PIXELS, "JPEG", **kind)
        part, whole, shape = run([tf.image.decode_and_crop_jpeg(data, [1, 2, 3, 4]), tf.image.decode_jpeg(data),
                                  tf.io.extract_jpeg_shape(data)])
        assert (part == whole[1:4, 2:6]).all() and shape.tolist() == [5, 7, 3] and shape.dtype == np.int32
    grey = encoded(PIXELS[:, :, 0], "JPEG")
    assert run(tf.image.extract_jpeg_shape(grey, tf.int64)).tolist() == [5, 7, 1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="(?s)Invalid JPEG data, size 3.*Fix:"):
        run(tf.image.extract_jpeg_shape(b"abc"))
    for window, text in (([1, 2, 9, 4], "not within the image"), ([1, 2, 3], "must have four elements")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"(?s){text}.*Fix:"):
            run(tf.image.decode_and_crop_jpeg(data, window))


def test_jpeg_quality() -> None:
    """What compressing does to an image: what Pillow does, in the image's dtype; worse for worse qualities."""
    again = np.asarray(Image.open(io.BytesIO(encoded(SMOOTH, "JPEG", quality=60, subsampling=2))))
    small, floats = run([tf.image.adjust_jpeg_quality(SMOOTH, 60),
                         tf.image.adjust_jpeg_quality((SMOOTH / 255).astype(np.float32), tf.constant(60))])
    assert (small == again).all() and floats.dtype == np.float32
    np.testing.assert_allclose(floats, again / np.float32(255), rtol=1e-6)
    noisy = [np.abs(run(tf.image.adjust_jpeg_quality(PIXELS, q)).astype(int) - PIXELS).mean() for q in (5, 95)]
    assert noisy[0] > noisy[1]
    fixed = run(tf2.image.stateless_random_jpeg_quality(PIXELS, 50, 51, [1, 2]))
    assert (fixed == run(tf.image.random_jpeg_quality(PIXELS, 50, 51))).all()
    assert (fixed == run(tf.image.adjust_jpeg_quality(PIXELS, 50))).all()
    for low, high, text in ((50, 140, "between 0 and 100"), (50, 40, "must be less than")):
        with pytest.raises(ValueError, match=f"(?s){text}.*Fix:"):
            tf.image.random_jpeg_quality(PIXELS, low, high)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)quality must be in \[0,100\].*Fix:"):
        run(tf.image.adjust_jpeg_quality(PIXELS, 101))


def test_crops_chosen_by_a_seed() -> None:
    """TensorFlow's crop for a seed; of a piece that does not fit, an error."""
    x = np.arange(24).reshape(4, 6)
    assert run(tf2.image.stateless_random_crop(x, [2, 3], [1, 2])).tolist() == [[7, 8, 9], [13, 14, 15]]
    with pytest.raises(ValueError, match="(?s)Need value.shape >= size.*Fix:"):
        tf2.image.stateless_random_crop(x, [5, 3], [1, 2])


BOXES = np.asarray([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 2, 1, 3], [0, -0.2, 1, 0.8]], np.float32)


def test_suppression_in_batches() -> None:
    """Each image of a batch by itself, as TensorFlow numbers and pads the boxes."""
    padded = tf.image.non_max_suppression_padded
    scores = np.asarray([[0.9, 0.8, 0.3, 0.9], [0.1, 0.8, 0.3, 0.9]], np.float32)
    many = padded(np.stack([BOXES, BOXES]), scores, 5, pad_to_max_output_size=True)
    few = padded(np.stack([BOXES, BOXES]), scores, 2, score_threshold=0.85, pad_to_max_output_size=True)
    one = padded(BOXES, scores[0], 3)
    many, few, one, wide = run([many, few, one, padded(BOXES, scores[0], 3, pad_to_max_output_size=True)])
    assert many[0].tolist() == [[0, 2, 0, 0, 0], [3, 2, 0, 0, 0]] and many[1].tolist() == [2, 2]
    assert few[0].tolist() == [[0, 0], [3, 0]] and few[1].tolist() == [1, 1]
    assert one[0].tolist() == [0, 2] and wide[0].tolist() == [0, 2, 0] and wide[1] == 2
    with pytest.raises(ValueError, match="(?s)must be True for batched input.*Fix:"):
        padded(np.stack([BOXES, BOXES]), scores, 2)


def test_proposals() -> None:
    """Anchors move and grow as the network says, are cut to the image, and suppress each other."""
    anchors = np.asarray([[[0, 0, 20, 10, 2, 2, 22, 12]], [[10, 30, 20, 40, 0, 0, 4, 4]]], np.float32)
    deltas = np.zeros((1, 2, 1, 8), np.float32)
    deltas[0, 1, 0, :4] = [0.5, 0.5, np.log(2), 9.0]  # 5 down and right, twice as high, as wide as may be
    scores = np.asarray([0.9, 0.8, 0.7, 0.95], np.float32).reshape(1, 2, 1, 2)
    info = np.asarray([[40, 60, 2, 0, 0]], np.float32)
    found = tf.image.generate_bounding_box_proposals(scores, deltas, info, anchors, 0.5, 10, 4.0, 4)
    rois, chances = run([found.rois, found.roi_probabilities])
    # The best is smaller than 2 x 4 pixels; the second box shares 144 of 256 with the first, more than half.
    np.testing.assert_allclose(rois[0], [[0, 0, 20, 10], [10, 0, 30, 60], [0] * 4, [0] * 4], rtol=1e-5)
    np.testing.assert_allclose(chances[0], [0.9, 0.7, 0, 0])


def test_similarity_at_several_scales() -> None:
    """TensorFlow's values, and derivatives by finite differences."""
    random = np.random.RandomState(0)
    x = random.rand(2, 200, 190, 3).astype("f")
    y = np.clip(x + 0.1 * random.rand(2, 200, 190, 3), 0, 1).astype("f")
    five, two = run([tf.image.ssim_multiscale(x, y, 1.0), tf.image.ssim_multiscale(x[0], y[0], 1.0, (0.5, 0.5))])
    np.testing.assert_allclose(five, [0.9951933, 0.9949422], rtol=1e-5)
    np.testing.assert_allclose(two, 0.992804, rtol=1e-5)
    small, near = tf.constant(x[0, :25, :23]), y[0, :25, :23]
    (slope,) = tf.gradients(tf.image.ssim_multiscale(small, near, 1.0, (0.5, 0.5)), small)
    step = 0.02 * random.randn(*small.shape.as_list()).astype("f")
    ends = [tf.image.ssim_multiscale(small + s * step, near, 1.0, (0.5, 0.5)) for s in (-0.5, 0.5)]
    slope, low, high = run([slope, *ends])
    np.testing.assert_allclose((slope * step).sum(), high - low, rtol=0.05)
    for shape in ([None, None, None, 3], None):
        late = tf.placeholder_with_default(x, shape)
        np.testing.assert_allclose(run(tf.image.ssim_multiscale(late, y, 1.0)), five, rtol=1e-6)


# -- files that are damaged, or hold less than they say; values are TensorFlow 2.21's --------------

COLOURS = bytes(range(10, 22))  # four of them, whose reds are 10, 13, 16, 19
CLEAR = b"!\xf9\4\1\0\0\1\0"  # from here on colour 1 is transparent


def codes(indices: list[int]) -> bytes:
    """Indices of four colours as LZW codes of three bits, none of which stands for more than one pixel."""
    stream = [code for i in range(0, len(indices), 2) for code in (4, *indices[i : i + 2])] + [5]
    packed = sum(code << 3 * i for i, code in enumerate(stream)).to_bytes(-(-3 * len(stream) // 8), "little")
    blocks = [packed[i : i + 255] for i in range(0, len(packed), 255)]
    return b"\2" + b"".join(bytes([len(b)]) + b for b in blocks) + b"\0"


def picture(indices: list[int], width: int = 2, left: int = 0, top: int = 0, height: int | None = None,
            own: bytes = b"", flags: int = 0) -> bytes:  # fmt: skip
    """A picture of a file."""
    rows = len(indices) // width if height is None else height
    flags |= 0x80 | (len(own) // 6 - 1) if own else 0
    return b"," + struct.pack("<4HB", left, top, width, rows, flags) + own + codes(indices)


def gif(*parts: bytes, width: int = 2, height: int = 2, colours: bytes = COLOURS, end: bytes = b";") -> bytes:
    """A file; the parts are pictures and extensions."""
    flags = 0x80 | (len(colours) // 6 - 1) if colours else 0
    return b"GIF89a" + struct.pack("<2H3B", width, height, flags, 3, 0) + colours + b"".join(parts) + end


WHOLE, SHORT = picture([0, 1, 2, 3]), picture([0, 1], height=2)
REDS = [[10, 13], [16, 19]]


@pytest.mark.parametrize(("data", "reds"), [
    (gif(WHOLE, width=9000, height=9000), [REDS]),  # the pictures' sizes count, not that of the header
    (gif(picture([1], 1), WHOLE), [[[13, 0], [0, 0]], REDS]),  # black around it
    (gif(WHOLE, picture([3], 1, 1, 0), picture([3], 1, 0, 1)), [REDS, [[10, 19], [16, 19]], [[10, 19], [19, 19]]]),
    (gif(WHOLE, picture([3] * 4, left=1, top=1)), [REDS, [[10, 13], [16, 19]]]),
    (gif(WHOLE, picture([3] * 4, left=7, top=7)), [REDS, REDS]),
    (gif(CLEAR, WHOLE, picture([1, 1, 2, 2])), [[[10, 0], [16, 19]], [[13, 13], [16, 16]]]),
    (gif(WHOLE, CLEAR, CLEAR.replace(b"\1\0", b"\2\0"), picture([3, 2, 1, 0])), [REDS, [[19, 16], [16, 10]]]),
    (gif(WHOLE, b"!\xf9\4\x09\0\0\1\0", picture([1, 0, 0, 0]), picture([2], 1)),  # to be disposed of: that is not done
     [REDS, [[10, 10], [10, 10]], [[16, 10], [10, 10]]]),
    (gif(picture([0, 0, 1, 1, 2, 2, 3, 3], flags=0x40)), [[[10, 10], [16, 16], [13, 13], [19, 19]]]),
    (gif(WHOLE, b"\0\0", WHOLE), [REDS]),
    (gif(WHOLE, b"!\xf9\0", WHOLE), [REDS]),
    (gif(WHOLE, SHORT, WHOLE), [REDS]),
    (gif(WHOLE, WHOLE[:-1], end=b""), [REDS]),
    (gif(WHOLE, picture([], 0, height=2), WHOLE), [REDS]),
    (gif(WHOLE, picture([0, 1], 9000, height=9000)), [REDS]),
    (gif(picture([0, 1, 2, 3], own=COLOURS), colours=b""), [REDS]),
])  # fmt: skip
def test_pictures(data: bytes, reds: Any) -> None:
    """Where the pictures of a file stand, what shows through, and where damage ends them."""
    found, first = run([tf.image.decode_gif(data), tf.image.decode_image(data, expand_animations=False)])
    assert found.shape == (len(reds), len(reds[0]), len(reds[0][0]), 3) and found[..., 0].tolist() == reds
    assert (first == found[0]).all()


@pytest.mark.parametrize(("data", "text"), [
    (gif(), "no whole picture"),
    (gif(SHORT), "no whole picture"),
    (gif(WHOLE[:-1], end=b""), "no whole picture"),
    (gif(WHOLE, colours=b""), "missing color map"),
    (gif(picture([0, 1, 2, 3], own=COLOURS), WHOLE, colours=b""), "missing color map"),
    (gif(WHOLE, colours=COLOURS[:6]), "color index 3 outside of color map range 2"),
])  # fmt: skip
def test_refused(data: bytes, text: str) -> None:
    """Files without a whole picture, and colours that there are none of."""
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"(?s){text}.*Fix:"):
        run(tf.image.decode_gif(data))


def test_data_that_cannot_hold_the_pixels(monkeypatch: pytest.MonkeyPatch) -> None:
    """A picture of whose pixels its codes hold a small part is not given to Pillow, which would make room for all."""
    monkeypatch.setattr(Image, "open", None)
    with pytest.raises(tf.errors.InvalidArgumentError, match="(?s)no whole picture.*Fix:"):
        run(tf.image.decode_gif(gif(picture([0] * 1000, 10_000, height=10_000))))


def test_memory() -> None:
    """Decoding takes little more than what it returns."""
    data = gif(*[picture([0, 1, 2, 3] * 10_000, 200)] * 40)
    pictures_of(gif(WHOLE))
    tracemalloc.start()
    try:
        size = pictures_of(data).nbytes
        assert size == 40 * 200 * 200 * 3 and tracemalloc.get_traced_memory()[1] < 1.6 * size
    finally:
        tracemalloc.stop()


def png(height: int, rows: int, compressed: int = 9, interlaced: int = 0) -> bytes:
    """A PNG file, 100 pixels wide, whose header names other rows than there are."""

    def part(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 100, height, 8, 2, 0, 0, interlaced)
    data = zlib.compress(bytes(301 * rows), compressed)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", data) + part(b"IEND", b"")


def test_png_files_that_lack_rows() -> None:
    """Rows that are not there are an error, not black; so is a file without an end."""
    for data in (png(100, 100), png(100, 101), png(100, 100, 0), png(100, 100)):
        assert run(tf.image.decode_png(data)).shape == (100, 100, 3)
    for data in (png(101, 100), png(10_000, 100), png(100_000, 1000, 0), png(100_000, 99, 0, 1), png(100, 100)[:-1]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="(?s)Invalid PNG data.*Fix:"):
            run(tf.image.decode_png(data))


def test_jpeg_files_that_lack_rows() -> None:
    """What is missing is grey; but a file of which nearly all is missing is refused before there is room for it."""
    buffer = io.BytesIO()
    Image.fromarray(np.full((400, 480, 3), 77, np.uint8)).save(buffer, "JPEG")
    data = buffer.getvalue()
    sizes = data.index(b"\xff\xc0") + 5

    def claims(height: int) -> bytes:
        return data[:sizes] + struct.pack(">H", height) + data[sizes + 2 :]

    assert run(tf.image.decode_jpeg(claims(800))).mean((1, 2))[[0, 799]].round().tolist() == [77, 128]
    with pytest.raises(tf.errors.InvalidArgumentError, match="(?s)do not hold 480 x 65000 pixels.*Fix:"):
        run(tf.image.decode_jpeg(claims(65_000)))
