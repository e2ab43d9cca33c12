"""What GIF files hold, whole, damaged or absurd, as in TensorFlow 2.21; PNG and JPEG files that are too short."""

from __future__ import annotations

import io
import struct
import tracemalloc
import zlib
from typing import Any

import numpy as np
import pytest
from PIL import Image

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from graphgrad.extras.image.pillow import pictures_of

pytestmark = pytest.mark.usefixtures("graph")
COLOURS = bytes(range(10, 22))  # four of them, whose reds are 10, 13, 16, 19
CLEAR = b"!\xf9\4\1\0\0\1\0"  # from here on colour 1 is transparent


def run(fetches: Any) -> Any:
    """The values, by NumPy."""
    with HostSession() as sess:
        return sess.run(fetches)


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
