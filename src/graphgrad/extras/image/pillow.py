"""The pixels of image files.

Files come from anywhere, and Pillow reads dozens of formats, for some of which it starts other programs. So the first
bytes decide which of the four formats a file has that are read here, and Pillow is given that one alone.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np

from graphgrad.errors import Complaint, InvalidArgumentError
from graphgrad.ir.dtypes import uint8, uint16

_BEGINNINGS = {b"\xff\xd8\xff": "JPEG", b"\x89PNG\r\n\x1a\n": "PNG", b"GIF8": "GIF", b"BM": "BMP"}
_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
_SCANS = 100  # a scan of a few bytes may cost as much as the whole picture; progressive files have about ten


def pillow_missing(what: str) -> InvalidArgumentError:
    """The error where Pillow is not installed."""
    return InvalidArgumentError(None, None, f"{what} needs Pillow. Fix: pip install 'graphgrad[image]'")


def format_of(data: bytes) -> str:
    """"JPEG", "PNG", "GIF" or "BMP"; a Complaint for anything else."""
    found = next((kind for begin, kind in _BEGINNINGS.items() if data.startswith(begin)), None)
    if found is None:
        raise Complaint("Unknown image file format. One of JPEG, PNG, GIF, BMP required" if data else "Input is empty",
                        "feed the bytes of a file of one of these formats")
    return found


def _read(data: bytes, kind: str, what: Callable[[Any], Any]) -> Any:
    """What a function makes of the Pillow image of a file."""
    try:
        from PIL import Image
    except ImportError:
        raise pillow_missing(f"decoding {kind}") from None
    try:
        if kind == "JPEG" and data.count(b"\xff\xda") > _SCANS:
            raise ValueError(f"more than {_SCANS} scans")
        return what(Image.open(io.BytesIO(data), formats=[kind]))
    except (MemoryError, Complaint):
        raise
    except Exception as e:  # Pillow raises whatever damaged data lead to
        raise Complaint(f"Invalid {kind} data, size {len(data)} ({e})", "feed the bytes of a whole file") from None


def pixels_of(data: bytes, kind: str, channels: int, dtype: Any) -> np.ndarray[Any, Any]:
    """The pixels of a JPEG or PNG file.

    Args:
      data: the file's bytes.
      kind: what `format_of` says.
      channels: 0 for those of the file.
      dtype: uint8 or uint16.
    Returns: (height, width, channels).
    """
    pixels = _read(data, kind, lambda image: _array(image, channels))
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    if pixels.dtype == np.uint8 and dtype is uint16:
        return pixels.astype(np.uint16) * 257  # 255 becomes 65535
    if pixels.dtype != np.uint8 and dtype is uint8:
        return (pixels >> 8).astype(np.uint8)
    return pixels


def single_picture(data: bytes, channels: int, dtype: Any) -> np.ndarray[Any, Any]:
    """The pixels of a JPEG or PNG file, or of a GIF with one picture: (height, width, channels)."""
    kind = format_of(data)
    if kind == "BMP":
        raise Complaint("Trying to decode BMP format using a wrong op", "use `decode_bmp` or `decode_image` instead")
    if kind != "GIF":
        return pixels_of(data, kind, channels, dtype)
    found = pictures_of(data, channels)
    if len(found) > 1:
        raise Complaint(f"Got {len(found)} frames, but animated gifs can only be decoded by tf.io.decode_gif or "
                        "tf.io.decode_image", "use one of these")
    return found[0].astype(np.uint16) << 8 if dtype is uint16 else found[0]


def _array(image: Any, channels: int) -> Any:
    image.load()
    if channels:
        image = image.convert(_MODES[channels])
    elif image.mode == "1":
        image = image.convert("L")
    elif image.mode not in ("L", "LA", "RGB", "RGBA", "I;16"):
        image = image.convert("RGBA" if "transparency" in image.info else "RGB")
    return np.asarray(image)


def pictures_of(data: bytes, channels: int = 0, most: int | None = None) -> np.ndarray[Any, Any]:
    """The pictures of a GIF file, up to where it is damaged; more than Pillow takes for one picture are refused.

    Args:
      data: the file's bytes.
      channels: 0 or 3.
      most: how many pictures to read; all by default.
    Returns: (N, height, width, 3), uint8.
    """
    if channels not in (0, 3):
        raise Complaint(f"channels must be 0 or 3 for GIF, got {channels}", "use 3")

    def read(image: Any) -> list[Any]:
        from PIL import Image, ImageSequence

        limit = 2 * (Image.MAX_IMAGE_PIXELS or 1 << 62)
        found: list[Any] = []
        try:
            for frame in ImageSequence.Iterator(image):
                if len(found) == most:
                    break
                if (len(found) + 1) * image.width * image.height > limit:
                    raise Complaint(f"the pictures have more than {limit} pixels", "feed a smaller file")
                found.append(np.asarray(frame.convert("RGB")))
        except (MemoryError, Complaint):
            raise
        except Exception:
            if not found:
                raise
        return found

    return np.stack(_read(data, "GIF", read))
