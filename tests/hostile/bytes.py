"""Bytes that anybody may have written: graphs, models, checkpoints, records, images, sounds, examples, patterns.

A seed chooses a reader, takes something valid that this package wrote, and damages it, meddles with the fields of its
messages, or makes a bomb of it. Promised is TensorFlow's error or a result, in a second of processor time and 200 MB
beyond what the input truly holds.
"""

from __future__ import annotations

import contextlib
import os
import random
import struct
import tempfile
import warnings
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _mutations as mutations
from ._corpus import corpus
from ._graphs import strange_graph

QUICK = 100
_CORPUS: dict[str, list[bytes]] = {}
_FOLDER = ""
_KEPT: list[Any] = []  # the folder, which goes with the process
_MESSAGE = 40  # bytes that objects take for a byte of a message


def attack(seed: int) -> tuple[str, int]:
    """Makes the seed's input and feeds it to a reader."""
    if not _CORPUS:
        prepare()
    rng = random.Random(seed)
    name = rng.choice(sorted(_READERS))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _READERS[name](rng)
    except BaseException as e:
        e.add_note(f"reader: {name}")
        raise


def _outcome(held: int, allowed: Any, call: Callable[[], Any]) -> tuple[str, int]:
    """What a call gives: "ok", or the class of its error if it is allowed; and how much the input holds."""
    try:
        result = call()
    except allowed as e:
        return type(e).__name__, held
    return "ok", held + (result if type(result) is int else 0)


def _damaged(rng: random.Random, kind: str, messages: bool = False) -> bytes:
    """Something of the corpus, damaged."""
    data, other = rng.choice(_CORPUS[kind]), rng.choice(_CORPUS[rng.choice(sorted(_CORPUS))])
    what = rng.random()
    if what < 0.02:
        return data
    if what < 0.06:
        return rng.randbytes(rng.choice((0, 1, 7, 100, 5000)))
    if messages and what < 0.7:
        return mutations.meddled(rng, data)
    return mutations.damaged(rng, data, other)


def _file(data: bytes, name: str = "input") -> str:
    path = os.path.join(_FOLDER, name)
    with open(path, "wb") as f:
        f.write(data)
    return path


def prepare() -> None:
    """Writes what is valid, and imports what readers need."""
    global _FOLDER
    _KEPT.append(tempfile.TemporaryDirectory(prefix="graphgrad-hostile-"))
    _FOLDER = _KEPT[0].name
    _CORPUS.update(corpus(_FOLDER))
    for reader in _READERS.values():
        with contextlib.suppress(Exception):
            reader(random.Random(0))


# -- messages and graphs -------------------------------------------------------------------


def _read_message(rng: random.Random) -> tuple[str, int]:
    import graphgrad.compat.v1 as tf
    from graphgrad.ir import graph_messages as m
    from graphgrad.ir.proto.messages import DecodeError

    kinds = {
        "graph": m.GraphDef,
        "meta": m.MetaGraphDef,
        "model": m.SavedModel,
        "tensor": m.TensorProto,
        "example": tf.train.Example,
        "sequence": tf.train.SequenceExample,
        "event": tf.Event,
    }
    kind = rng.choice(sorted(kinds))
    data = _damaged(rng, kind, messages=True)
    if rng.random() < 0.05:
        data = rng.choice(
            (
                b"\x0a\0" * 20_000,
                b"\x0a" + b"\xff" * 100_000,
                b"\xf8\x3f\1" * 30_000,
                b"\x0b" * 50_000,
                b"\x52\xff\xff\xff\x7f" * 1000,
            )
        )

    def read() -> None:
        message = kinds[kind].FromString(data)
        again = message.SerializeToString()
        assert kinds[kind].FromString(again).SerializeToString() == again
        if len(data) < 100_000:
            repr(message)

    return _outcome(_MESSAGE * 3 * len(data), DecodeError, read)


def _import_graph(rng: random.Random) -> tuple[str, int]:
    import graphgrad.compat.v1 as tf

    data = strange_graph(rng) if rng.random() < 0.3 else _damaged(rng, "graph", messages=True)

    def read() -> None:
        with tf.Graph().as_default() as graph:
            tf.import_graph_def(tf.GraphDef.FromString(data))
            graph.as_graph_def()

    return _outcome(_MESSAGE * 10 * len(data), (ValueError, TypeError, NotImplementedError, tf.errors.OpError), read)


def _import_meta(rng: random.Random) -> tuple[str, int]:
    import graphgrad.compat.v1 as tf

    data = _damaged(rng, "meta", messages=True)
    path = _file(data, "input.meta")

    def read() -> None:
        with tf.Graph().as_default():
            tf.train.import_meta_graph(path)

    allowed = (ValueError, TypeError, KeyError, OSError, NotImplementedError, RuntimeError, tf.errors.OpError)
    return _outcome(_MESSAGE * 10 * len(data), allowed, read)


def _load_model(rng: random.Random) -> tuple[str, int]:
    import graphgrad.compat.v1 as tf

    folder = os.path.join(_FOLDER, "saved")
    data = _damaged(rng, "model", messages=True)
    _file(data, "saved/saved_model.pb")

    def read() -> None:
        with tf.Graph().as_default(), tf.Session() as sess:
            tf.saved_model.load(sess, ["serve"], folder)

    allowed = (ValueError, TypeError, KeyError, OSError, NotImplementedError, RuntimeError, tf.errors.OpError)
    return _outcome(_MESSAGE * 20 * len(data), allowed, read)


# -- files -----------------------------------------------------------------------------------


def _read_checkpoint(rng: random.Random) -> tuple[str, int]:
    import graphgrad.compat.v1 as tf
    from graphgrad.training.checkpoints.sstable import read_table, write_table

    index, data = _CORPUS["index"][0], _CORPUS["data"][0]
    what = rng.random()
    if what < 0.25:
        index = _damaged(rng, "index")
    elif what < 0.4:
        data = _damaged(rng, "data")
    else:  # a table that is whole, of entries that are not
        entries = dict(read_table(index, ""))
        for _ in range(rng.choice((1, 1, 3))):
            key = rng.choice(sorted(entries))
            value = entries[key]
            entries[key] = mutations.meddled(rng, value) if rng.random() < 0.8 else mutations.damaged(rng, value, key)
            if rng.random() < 0.1:
                entries[mutations.damaged(rng, key, value)] = value
        order = sorted(entries.items())
        if rng.random() < 0.1:
            rng.shuffle(order)
        if rng.random() < 0.05:
            order += [(b"z" * 50_000 + b"%06d" % i, b"") for i in range(300)]
        index = write_table(order)
    prefix = os.path.join(_FOLDER, "damaged")
    _file(index, "damaged.index")
    _file(data, "damaged.data-00000-of-00001")

    def read() -> None:
        reader = tf.train.load_checkpoint(prefix)
        reader.get_variable_to_dtype_map()
        for name in reader.get_variable_to_shape_map():
            with contextlib.suppress(tf.errors.OpError):
                reader.get_tensor(name)
        reader.debug_string()

    return _outcome(_MESSAGE * len(index) + 4 * len(data), tf.errors.OpError, read)


def _restore_objects(rng: random.Random) -> tuple[str, int]:
    import graphgrad as tf
    from graphgrad.ir import context
    from graphgrad.ir.dtypes import as_dtype
    from graphgrad.training.checkpoints.bundle import BundleReader
    from graphgrad.training.checkpoints.bundle_writer import write_bundle

    reader = BundleReader(os.path.join(_FOLDER, "objects-1"))
    data = _damaged(rng, "objects", messages=True)
    tensors = [
        (n, reader.dtype(n), reader.read(n), None) for n in reader.names() if n != "_CHECKPOINTABLE_OBJECT_GRAPH"
    ]
    tensors.append(("_CHECKPOINTABLE_OBJECT_GRAPH", as_dtype("string"), np.array(data, object), None))
    path = os.path.join(_FOLDER, "strange")
    write_bundle(path, tensors)

    def read() -> None:
        with context.use(context.EAGER):
            checkpoint = tf.train.Checkpoint(table=tf.Variable(tf.zeros([2, 2])), model=tf.Variable(0.0))
            status = checkpoint.restore(path)
            with contextlib.suppress(AssertionError):  # as in TensorFlow
                status.assert_consumed()

    return _outcome(_MESSAGE * len(data), (ValueError, tf.errors.OpError), read)


def _read_records(rng: random.Random) -> tuple[str, int]:
    import graphgrad as tf
    import graphgrad.compat.v1 as v1
    from graphgrad.ir import context
    from graphgrad.ir.files.crc32c import crc32c, masked

    kind = rng.choice(("", "ZLIB", "GZIP"))
    held, what = 0, rng.random()
    if what < 0.1 and kind:
        data, held = mutations.zeros(rng, kind)
    elif what < 0.3 and not kind:
        head = struct.pack("<Q", rng.choice((0, 3, 1 << 20, 1 << 31, 1 << 40, 1 << 62, (1 << 64) - 1)))
        data = (
            _CORPUS["records"][0]
            + head
            + struct.pack("<I", masked(crc32c(head)))
            + rng.randbytes(rng.choice((0, 3, 4, 7)))
        )
    else:
        data = _damaged(rng, f"records{kind}")
    path, reader = _file(data), rng.randrange(5)
    held += 10 * len(data)

    def read() -> None:
        with context.use(context.EAGER):
            if reader == 0:
                list(v1.python_io.tf_record_iterator(path, v1.python_io.TFRecordOptions(kind)))
            elif reader == 1:
                list(tf.data.TFRecordDataset(path, kind))
            elif reader == 2:
                list(tf.data.FixedLengthRecordDataset(path, 50_000, 3, 5, compression_type=kind))
            elif reader == 3:
                list(tf.data.TextLineDataset(path, kind))
            else:
                tf.io.decode_compressed(data, kind)

    return _outcome(2 * held, tf.errors.OpError, read)


def _read_events(rng: random.Random) -> tuple[str, int]:
    import graphgrad.compat.v1 as tf
    from graphgrad.ir.files.tfrecord import framed
    from graphgrad.ir.proto.messages import DecodeError

    data = framed(_CORPUS["event"][0]) + framed(_damaged(rng, "event", messages=True))
    if rng.random() < 0.2:
        data = mutations.damaged(rng, data)
    path = _file(data)
    return _outcome(
        _MESSAGE * len(data), (DecodeError, tf.errors.OpError), lambda: len(list(tf.train.summary_iterator(path)))
    )


def _read_state(rng: random.Random) -> tuple[str, int]:
    import graphgrad.compat.v1 as tf

    _file(_damaged(rng, "state"), "checkpoint")

    def read() -> None:
        tf.train.get_checkpoint_state(_FOLDER)
        tf.train.latest_checkpoint(_FOLDER)

    return _outcome(0, (ValueError, tf.errors.OpError), read)


# -- operations ------------------------------------------------------------------------------


def _operation(rng: random.Random, data: bytes, calls: list[Callable[[Any, Any], Any]], held: int) -> tuple[str, int]:
    """One of the calls, with the module and the data."""
    import graphgrad as tf
    from graphgrad.ir import context

    call = rng.choice(calls)
    sizes = [0]

    def run() -> int:
        with context.use(context.EAGER):
            result = call(tf, data)
        if hasattr(result, "numpy"):
            array = np.asarray(result.numpy())
            sizes[0] = array.nbytes if any(array.strides) else 0  # one value stands for all
        return sizes[0]

    return _outcome(held, tf.errors.OpError, run)


def _decode_image(rng: random.Random) -> tuple[str, int]:
    data = _damaged(rng, "image")
    if rng.random() < 0.1:
        data = rng.choice(
            (
                b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\nshowpage\n",
                b"II*\0\x08\0\0\0",
                b"RIFF\0\0\0\0WEBP",
                b"P6\n9999 9999\n255\n",
                _large_png(rng),
                _large_gif(rng),
            )
        )
    channels = rng.choice((0, 0, 0, 1, 3, 4))
    return _operation(
        rng,
        data,
        [
            lambda tf, d: tf.io.decode_image(d, channels=channels),
            lambda tf, d: tf.io.decode_image(d, expand_animations=False),
            lambda tf, d: tf.io.decode_jpeg(d),
            lambda tf, d: tf.io.decode_png(d, dtype=tf.uint16),
            lambda tf, d: tf.io.decode_gif(d),
            lambda tf, d: tf.io.decode_bmp(d),
            lambda tf, d: tf.image.extract_jpeg_shape(d),
            lambda tf, d: tf.image.decode_and_crop_jpeg(d, [0, 0, 2, 2]),
            lambda tf, d: tf.io.is_jpeg(d),
        ],
        _pixels(data),
    )


def _pixels(data: bytes) -> int:
    """How many bytes the pixels have that a picture may hold, before it is decoded."""
    if data[:4] == b"\x89PNG" and len(data) > 24:
        width, height = struct.unpack(">II", data[16:24])
        return len(data) + 4 * min(width * height, 8 * 1032 * len(data), 180_000_000)
    return len(data)


def _large_png(rng: random.Random) -> bytes:
    def part(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    width, height = rng.choice(((3000, 3000), (1 << 15, 1 << 15), (1 << 31, 1), (9000, 9000)))
    rows = bytes((1 + 3 * width) * height) if width == 3000 else bytes(5000)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, rng.randrange(2))
    text = [part(b"zTXt", b"a\0\0" + zlib.compress(bytes(10**7)))] * rng.randrange(2)
    return (
        b"\x89PNG\r\n\x1a\n"
        + part(b"IHDR", head)
        + b"".join(text)
        + part(b"IDAT", zlib.compress(rows))
        + part(b"IEND", b"")
    )


def _large_gif(rng: random.Random) -> bytes:
    width, height = rng.choice(((1000, 1000), (9000, 9000), (65535, 65535)))
    size = struct.pack("<HH", width, height)
    frame = b"\x2c\0\0\0\0" + rng.choice((b"\1\0\1\0", size)) + b"\0\x02\x02\x44\x01\0"
    head = b"GIF89a" + size + b"\x80\0\0\0\0\0\xff\xff\xff"
    return head + frame * rng.choice((1, 30, 5000)) + b";"


def _decode_strings(rng: random.Random) -> tuple[str, int]:
    kind = rng.choice(("csv", "json", "text", "wav", "tensor", "sparse", "event"))
    data = _damaged(rng, kind, messages=kind in ("tensor", "sparse", "event"))
    if kind == "json" and rng.random() < 0.1:
        data = rng.choice(
            (
                b"[" * 50_000,
                b'{"features":' * 20_000,
                b'{"features": {"feature": {"a": {"int64List": {"value": [' + b"9" * 50_000 + b"]}}}}}",
            )
        )
    kinds = ("float32", "int32", "string", "int64", "bool", "complex64")
    dtype = rng.choice(kinds)
    rows = [data, *_CORPUS["sparse"][1:]]
    calls: dict[str, list[Callable[[Any, Any], Any]]] = {
        "csv": [
            lambda tf, d: tf.io.decode_csv([d], [[0], [0.0], [""], [1], ["y"]])[1],
            lambda tf, d: tf.io.decode_csv([d, b"1"], [[0]], use_quote_delim=False)[0],
        ],
        "json": [lambda tf, d: tf.io.decode_json_example(d)],
        "text": [
            lambda tf, d: tf.io.decode_raw([d], tf.int16),
            lambda tf, d: tf.strings.to_number([d], tf.float32),
            lambda tf, d: tf.strings.to_number([d], tf.int32),
            lambda tf, d: tf.io.decode_base64([d]),
            lambda tf, d: tf.strings.unicode_decode([d], "UTF-8").flat_values,
            lambda tf, d: tf.strings.lower(d, "utf-8"),
            lambda tf, d: tf.strings.substr(d, 1, 2, "UTF8_CHAR"),
            lambda tf, d: tf.strings.length(d, "UTF8_CHAR"),
            lambda tf, d: tf.strings.split([d]).flat_values,
            lambda tf, d: tf.strings.unicode_script([5]),
            lambda tf, d: tf.strings.unicode_transcode(d, "UTF-16-BE", "UTF-8"),
        ],
        "wav": [lambda tf, d: tf.audio.decode_wav(d).audio, lambda tf, d: tf.audio.decode_wav(d, 3, 100).audio],
        "tensor": [lambda tf, d: tf.io.parse_tensor(d, getattr(tf, dtype))],
        "sparse": [lambda tf, d: tf.io.deserialize_many_sparse([rows], tf.float32).values],
        "event": [
            lambda tf, d: tf.raw_ops.MergeSummary(inputs=[d]),
            lambda tf, d: tf.raw_ops.TensorSummaryV2(tag="a", tensor=1.0, serialized_summary_metadata=d),
        ],
    }
    return _operation(rng, data, calls[kind], _MESSAGE * len(data))


def _parse_examples(rng: random.Random) -> tuple[str, int]:
    data = _damaged(rng, rng.choice(("example", "sequence")), messages=True)

    def features(tf: Any) -> Any:
        return {
            "a": tf.io.FixedLenFeature([3], tf.int64),
            "b": tf.io.VarLenFeature(tf.float32),
            "c": tf.io.FixedLenSequenceFeature([], tf.string, allow_missing=True),
        }

    def single(tf: Any) -> Any:
        return {"a": tf.io.FixedLenFeature([3], tf.int64, [0, 0, 0]), "b": tf.io.VarLenFeature(tf.float32)}

    return _operation(
        rng,
        data,
        [
            lambda tf, d: tf.io.parse_example([d, _CORPUS["example"][0]], features(tf))["a"],
            lambda tf, d: tf.io.parse_single_example(d, single(tf))["a"],
            lambda tf, d: tf.io.parse_single_sequence_example(d, single(tf), {"d": tf.io.VarLenFeature(tf.int64)})[0][
                "a"
            ],
            lambda tf, d: tf.io.parse_example([d], {"a": tf.io.RaggedFeature(tf.int64)})["a"].flat_values,
        ],
        _MESSAGE * len(data),
    )


def _match_patterns(rng: random.Random) -> tuple[str, int]:
    pattern = _damaged(rng, "pattern").decode("utf-8", "replace")[:2000]
    if rng.random() < 0.1:
        pattern = rng.choice(
            ("(" * 900 + "a*" + ")*" * 900, "(a|b)" * 300, "((((a{9}){9}){9}){9})", r"(\pL{99}|\pN){9}")
        )
    text = rng.choice((b"a" * 2000 + b"!", b"ab" * 900, _damaged(rng, "text")[:2000], b"x=" * 500))
    rewrite = rng.choice(("", r"\0\1", "\\", r"[\0]"))
    # A match takes time for the text and the pattern; all of them, as in TensorFlow, for the text again.
    return _operation(
        rng,
        text,
        [
            lambda tf, d: tf.strings.regex_full_match([d], pattern),
            lambda tf, d: tf.strings.regex_replace([d[:100]], pattern, rewrite),
            lambda tf, d: tf.strings.regex_replace([d], pattern, rewrite, replace_global=False),
        ],
        len(text) * (200 + 20 * len(pattern)),
    )


_READERS: dict[str, Callable[[random.Random], tuple[str, int]]] = {
    "message": _read_message,
    "graph": _import_graph,
    "meta graph": _import_meta,
    "saved model": _load_model,
    "checkpoint": _read_checkpoint,
    "objects": _restore_objects,
    "records": _read_records,
    "events": _read_events,
    "state": _read_state,
    "image": _decode_image,
    "strings": _decode_strings,
    "examples": _parse_examples,
    "patterns": _match_patterns,
}
