"""Files of records, compressed and not, that are cut off or damaged; strings that are no messages."""

from __future__ import annotations

import gzip
import os
import shutil
import tempfile
import zlib
from typing import Any

from ..harness import case

_KINDS = ("", "ZLIB", "GZIP")


def _outcome(call: Any) -> Any:
    try:
        return call()
    except Exception as e:
        return type(e).__name__


def _written(tf: Any, folder: str, kind: str) -> bytes:
    path = os.path.join(folder, "written")
    with tf.io.TFRecordWriter(path, kind) as writer:
        writer.write(b"one")
        writer.write(b"two" * 50)
    with open(path, "rb") as f:
        return f.read()


def _read(tf: Any, folder: str, data: bytes, kind: str) -> list[Any]:
    path = os.path.join(folder, "read")
    with open(path, "wb") as f:
        f.write(data)
    of_1 = tf.compat.v1.python_io
    return [_outcome(lambda: [len(r) for r in of_1.tf_record_iterator(path, of_1.TFRecordOptions(kind))]),
            _outcome(lambda: [len(r.numpy()) for r in tf.data.TFRecordDataset(path, kind)])]


@case("eager")
def records(tf: Any) -> Any:
    folder = tempfile.mkdtemp()
    try:
        found = []
        for kind in _KINDS:
            good = _written(tf, folder, kind)
            cuts = [good[:n] for n in (0, 5, 12, 15, len(good) - 3)]
            flips = [good[:n] + bytes([good[n] ^ 0x55]) + good[n + 1 :] for n in (0, 9, 13)] if not kind else []
            data = [good, *cuts, *flips, good + good[:5], good + b"x" * 12, good + good, b"hello world" * 4]
            found.append([_read(tf, folder, d, kind) for d in data])
        return found
    finally:
        shutil.rmtree(folder)


@case("eager")
def strings(tf: Any) -> Any:
    found = []
    for kind, good in (("ZLIB", zlib.compress(b"abc" * 99)), ("GZIP", gzip.compress(b"abc" * 99, mtime=0))):
        for data in (good, good[:-6], good[:12], b"hello", b"", good + b"xx", good + good, good[:-3] + b"abc"):
            found.append(_outcome(lambda d=data, k=kind: tf.io.decode_compressed(d, k).numpy()))
    return found


@case("eager")
def text(tf: Any) -> Any:
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "text")
    found = []
    try:
        for kind in _KINDS:
            for plain in (b"", b"a", b"a\n", b"a\r\n\nb\n\n", b"ab" * 70000 + b"\nc" * 9):
                data = gzip.compress(plain) if kind == "GZIP" else zlib.compress(plain) if kind else plain
                for cut in (data, data[:-5]):
                    with open(path, "wb") as f:
                        f.write(cut)
                    lines = _outcome(lambda k=kind: [len(x.numpy()) for x in tf.data.TextLineDataset(path, k)])
                    found.append(lines if len(plain) < 99 or cut is data else len(lines) > 0)
        with open(path, "wb") as f:
            f.write(b"noise")
        return found, [_outcome(lambda k=kind: list(tf.data.TextLineDataset(path, k))) for kind in _KINDS[1:]]
    finally:
        shutil.rmtree(folder)


@case("eager")
def pieces(tf: Any) -> Any:
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "pieces")
    found = []
    try:
        for kind in ("", "ZLIB", "GZIP"):
            for plain in (b"hhabcdeff", b"hhabcdefff", b"hhf", b"hhabcf", b"hhabcdefghijklmnof"):
                data = gzip.compress(plain) if kind == "GZIP" else zlib.compress(plain) if kind else plain
                with open(path, "wb") as f:
                    f.write(data)
                found.append(_outcome(lambda k=kind: [x.numpy() for x in tf.data.FixedLengthRecordDataset(
                    path, 3, header_bytes=2, footer_bytes=1, compression_type=k)]))
        return found
    finally:
        shutil.rmtree(folder)
