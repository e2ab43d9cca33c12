"""Image files: which operation takes which format, and what damaged files are."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

from ..harness import case, raised

# What Pillow wrote of 7 x 5 pixels.
_FILES = {
    "gif of 1": (
        "R0lGODdhBwAFAIEAAADICQAAAAAAAAAAACwAAAAABwAFAAAIDAABCBxIsKDBgwcDAgA7"
    ),
    "gif of 3": (
        "R0lGODdhBwAFAIEAAADICQAAAAAAAAAAACwAAAAABwAFAAAIDAABCBxIsKDBgwcDAgAh+QQBAAABACwAAAAABwAFAIEoqgkAAAAAAAAAA"
        "AAIDAABCBxIsKDBgwcDAgAh+QQBAAABACwAAAAABwAFAIFQjAkAAAAAAAAAAAAIDAABCBxIsKDBgwcDAgA7"
    ),
    "bmp": (
        "Qk2uAAAAAAAAADYAAAAoAAAABwAAAAUAAAABABgAAAAAAHgAAADEDgAAxA4AAAAAAAAAAAAACcgACcgACcgACcgACcgACcgACcgAAAAAC"
        "cgACcgACcgACcgACcgACcgACcgAAAAACcgACcgACcgACcgACcgACcgACcgAAAAACcgACcgACcgACcgACcgACcgACcgAAAAACcgACcgACc"
        "gACcgACcgACcgACcgAAAAA"
    ),
    "ppm": (
        "UDYKNyA1CjI1NQoAyAkAyAkAyAkAyAkAyAkAyAkAyAkAyAkAyAkAyAkAyAkAyAkAyAkAyAkAyAkAyAkAyAkAyAkAyAkAyAkAyAkAyAkAy"
        "AkAyAkAyAkAyAkAyAkAyAkAyAkAyAkAyAkAyAkAyAkAyAkAyAk="
    ),
    "jpeg": (
        "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAgGBgcGBQgHBwcJCQgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4nICIsIxwcKDcpLDAxNDQ0H"
        "yc5PTgyPC4zNDL/2wBDAQkJCQwLDBgNDRgyIRwhMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMj"
        "L/wAARCAAFAAcDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAb/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFAEBAAAAAAAAAAA"
        "AAAAAAAAABf/EABQRAQAAAAAAAAAAAAAAAAAAAAD/2gAMAwEAAhEDEQA/AIcAALf/2Q=="
    ),
    "png": (
        "iVBORw0KGgoAAAANSUhEUgAAAAcAAAAFCAIAAAAG+GGPAAAAFElEQVR4nGPUSOFkwABMmEJUEQUAQY8An2Hue98AAAAASUVORK5CYII="
    ),
    "png of 16 bits": (
        "iVBORw0KGgoAAAANSUhEUgAAAAcAAAAFEAAAAAD8YXVHAAAAE0lEQVR4nGPk3sGABJgYGMjmAgA5aADNzbNylQAAAABJRU5ErkJggg=="
    ),
    "png of 1 bit": (
        "iVBORw0KGgoAAAANSUhEUgAAAAcAAAAFAQAAAACh4ct1AAAAC0lEQVR4nGNggAEAAAoAAX+AdF4AAAAASUVORK5CYII="
    ),
    "png with alpha": (
        "iVBORw0KGgoAAAANSUhEUgAAAAcAAAAFCAQAAAAjkz5TAAAAEklEQVR4nGNMYWdAAkwMDGRzASCpAHUSSfwHAAAAAElFTkSuQmCC"
    ),
    "png with palette": (
        "iVBORw0KGgoAAAANSUhEUgAAAAcAAAAFAQMAAACzVGSbAAAAA1BMVEUAAACnej3aAAAADUlEQVR4nGP4x8QAgQAJIAEHNORfYwAAAABJR"
        "U5ErkJggg=="
    ),
}


def _part(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _png(width: int, height: int, data: bytes) -> bytes:
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _part(b"IHDR", head) + _part(b"IDAT", zlib.compress(data)) + _part(b"IEND", b"")


def _found(tf: Any, decode: Any, data: bytes) -> Any:
    try:
        image = decode(data)
    except tf.errors.InvalidArgumentError:
        return "InvalidArgumentError"
    return image.shape.as_list(), image.dtype.name


@case("eager")
def formats(tf: Any) -> Any:
    decoders = [tf.io.decode_jpeg, tf.io.decode_png, tf.io.decode_gif, tf.io.decode_bmp, tf.io.decode_image,
                lambda d: tf.io.decode_image(d, expand_animations=False),
                lambda d: tf.image.decode_and_crop_jpeg(d, [0, 0, 1, 1]), tf.image.extract_jpeg_shape]
    files = {name: base64.b64decode(data) for name, data in _FILES.items()}
    files |= {"eps": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\nshowpage\n%%EOF\n", "noise": b"\0\1hi", "": b""}
    return {name: [_found(tf, decode, data) for decode in decoders] for name, data in files.items()}


@case("eager")
def channels(tf: Any) -> Any:
    return {name: [_found(tf, lambda d, n=n: tf.io.decode_image(d, channels=n), base64.b64decode(data))
                   for n in (1, 2, 3, 4)] for name, data in _FILES.items() if name not in ("tiff", "ppm")}


@case("eager")
def damaged(tf: Any) -> Any:
    gif, bmp, jpeg = (base64.b64decode(_FILES[k]) for k in ("gif of 3", "bmp", "jpeg"))
    huge = struct.pack("<ii", 1 << 30, 1 << 30)
    files = [
        gif[: len(gif) // 2], gif[:20], jpeg[:len(jpeg) * 2 // 3], jpeg[:20], bmp[:-9], bmp[:20],
        _png(1 << 15, 1 << 15, bytes(99)), _png(1 << 20, 1 << 20, b""), _png(0, 5, b""), _png(13000, 13000, bytes(99)),
        _png(20000, 20000, bytes(99)), _png(5, 5, bytes(79)), _png(5, 5, bytes(80)), _png(5, 5, bytes(80))[:-24],
        bmp[:18] + huge + bmp[26:], bmp[:18] + struct.pack("<ii", 1, -1 << 31) + bmp[26:],
        bmp[:18] + struct.pack("<ii", 0, 5) + bmp[26:],
    ]
    return [_found(tf, tf.io.decode_image, data) for data in files]


@case("graph")
def fed(tf: Any) -> Any:
    data = tf.placeholder(tf.string, [])
    image = tf.image.decode_png(data, channels=3)
    with tf.Session() as sess:
        good = sess.run(image, {data: _png(5, 5, bytes(80))})
        return good, raised(lambda: sess.run(image, {data: b"%!PS"})), sess.run(image, {data: _png(5, 5, bytes(80))})
