"""Files, images and serialized examples."""

import io
import struct

import numpy as np
import pytest
from PIL import Image

import graphgrad as tf2
import graphgrad.compat.v1 as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def run(fetches, feed_dict=None):
    with tf.Session() as sess:
        return sess.run(fetches, feed_dict)


def encoded(pixels, kind, **options):
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, kind, **options)
    return buffer.getvalue()


PIXELS = np.random.RandomState(0).randint(0, 256, (5, 7, 3)).astype(np.uint8)


def test_png_goes_through_unchanged(tmp_path):
    path = tmp_path / "image.png"
    path.write_bytes(encoded(PIXELS, "PNG"))
    image = tf.image.decode_png(tf.read_file(str(path)), channels=3)
    assert image.dtype is tf.uint8 and image.shape.as_list() == [None, None, 3]
    np.testing.assert_array_equal(run(image), PIXELS)
    np.testing.assert_array_equal(run(tf.image.decode_png(tf.read_file(str(path)))), PIXELS)
    wide = run(tf.image.decode_png(tf.read_file(str(path)), dtype=tf.uint16))
    np.testing.assert_array_equal(wide, PIXELS.astype(np.uint16) * 257)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_channels(channels):
    image = run(tf.image.decode_png(encoded(PIXELS, "PNG"), channels=channels))
    assert image.shape == (5, 7, channels)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_encoded_png_is_read_back(channels):
    pixels = np.random.RandomState(1).randint(0, 256, (2, 5, 7, channels)).astype(np.uint8)
    data = run(tf.image.encode_png(pixels))
    assert data.shape == (2,)
    for file, image in zip(data, pixels, strict=True):
        np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(file))).reshape(image.shape), image)
        np.testing.assert_array_equal(run(tf.image.decode_image(file)), image)


def test_encoded_png_of_16_bits():
    pixels = np.arange(0, 65536, 4096).astype(np.uint16).reshape(4, 4, 1)
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(run(tf.image.encode_png(pixels))))), pixels[..., 0])


def test_encoded_jpeg_is_read_back():
    grey = np.full((16, 16, 1), 100, np.uint8)
    for pixels, mode in ((grey, "L"), (np.repeat(grey, 3, 2), "RGB")):
        data = run(tf.image.encode_jpeg(pixels, quality=90))
        image = Image.open(io.BytesIO(data))
        assert image.mode == mode and np.abs(np.asarray(image).astype(int) - 100).max() <= 2
        assert run(tf.image.is_jpeg(data)) and not run(tf.image.is_jpeg(b"no"))


def test_decode_image_of_several_pictures():
    frames = [Image.fromarray(np.full((3, 4, 3), v, np.uint8)) for v in (0, 255)]
    buffer = io.BytesIO()
    frames[0].save(buffer, "GIF", save_all=True, append_images=frames[1:])
    images = run(tf.image.decode_image(buffer.getvalue(), dtype=tf.float32))
    np.testing.assert_array_equal(images.mean((1, 2, 3)), [0, 1])
    assert run(tf.image.decode_image(buffer.getvalue(), expand_animations=False)).shape == (3, 4, 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unknown image file format"):
        run(tf.image.decode_image(b"nothing of the kind"))


def test_what_cannot_be_encoded():
    with pytest.raises(ValueError, match="(?s)1, 2, 3, or 4 channels.*Fix:"):
        tf.image.encode_png(np.zeros((2, 2, 5), np.uint8))
    with pytest.raises(ValueError, match="(?s)1 or 3 channels.*Fix:"):
        tf.image.encode_jpeg(np.zeros((2, 2, 2), np.uint8))


def test_grey_jpeg_and_its_reduction():
    grey = np.full((16, 16), 100, np.uint8)
    data = encoded(grey, "JPEG", quality=95)
    assert np.abs(run(tf.image.decode_jpeg(data))[:, :, 0].astype(int) - 100).max() <= 2
    assert run(tf.image.decode_jpeg(data, ratio=4)).shape == (4, 4, 1)
    assert run(tf.image.decode_jpeg(data, channels=3)).shape == (16, 16, 3)


@pytest.mark.parametrize("decode", [tf.image.decode_png, tf.image.decode_jpeg])
def test_what_is_no_image(decode):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)Unknown image file format.*test_files.py.*Fix"):
        run(decode(b"nonsense"))


def test_missing_file():
    with pytest.raises(tf.errors.NotFoundError, match="No such file"):
        run(tf.read_file("/nowhere/at/all"))


# -- examples ----------------------------------------------------------------------------


def _message(number, payload):
    def varint(n):
        out = b""
        while n > 127:
            out += bytes([n & 127 | 128])
            n >>= 7
        return out + bytes([n])

    return varint(number << 3 | 2) + varint(len(payload)) + payload


def example(**features):
    """A serialized Example: lists of bytes, floats or (packed, small) ints."""
    entries = b""
    for name, values in features.items():
        if isinstance(values[0], bytes):
            feature = _message(1, b"".join(_message(1, v) for v in values))
        elif isinstance(values[0], float):
            feature = _message(2, _message(1, struct.pack(f"<{len(values)}f", *values)))
        else:
            packed = b"".join(bytes([v]) if v >= 0 else bytes([v & 127 | 128]) + b"\xff" * 8 + b"\x01" for v in values)
            feature = _message(3, _message(1, packed))
        entries += _message(1, _message(1, name.encode()) + _message(2, feature))
    return _message(1, entries)


def test_parse_single_example():
    data = example(label=[3], image=[0.5, 1.5, 2.5, 3.5], name=[b"ab"], tags=[1, -2, 5])
    out = run(
        tf.parse_single_example(
            data,
            {
                "label": tf.FixedLenFeature([], tf.int64),
                "image": tf.FixedLenFeature([2, 2], tf.float32),
                "name": tf.FixedLenFeature([], tf.string),
                "tags": tf.VarLenFeature(tf.int64),
                "missing": tf.FixedLenFeature([1], tf.float32, default_value=[7.0]),
            },
        )
    )
    assert out["label"] == 3 and out["name"] == b"ab"
    np.testing.assert_array_equal(out["image"], [[0.5, 1.5], [2.5, 3.5]])
    np.testing.assert_array_equal(out["tags"].values, [1, -2, 5])
    np.testing.assert_array_equal(out["tags"].dense_shape, [3])
    np.testing.assert_array_equal(out["missing"], [7])


@pytest.mark.parametrize(
    ("feature", "text"),
    [
        (lambda: tf.FixedLenFeature([2], tf.int64), r"Can't parse serialized Example: 3 values for shape \(2,\)"),
        (lambda: tf.FixedLenFeature([3], tf.float32), "Can't parse serialized Example"),
        (lambda: tf.VarLenFeature(tf.string), "Data types don't match. Expected type: string"),
    ],
)
def test_features_that_do_not_fit(feature, text):
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"(?s){text}.*test_files.py"):
        run(tf.parse_single_example(example(a=[1, 2, 3]), {"a": feature()}))


def test_required_features_and_damaged_data():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Feature: b .* is required but could not be found"):
        run(tf.parse_single_example(example(a=[1]), {"b": tf.FixedLenFeature([1], tf.int64)}))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse example input"):
        run(tf.parse_single_example(example(a=[1, 2])[:-1], {"a": tf.FixedLenFeature([2], tf.int64)}))
    with pytest.raises(ValueError, match="cannot be None or empty"):
        tf.parse_single_example(b"", {})
    assert tf2.io.parse_single_example is not tf.parse_single_example
