"""Strings that are no messages, sounds or JSON: what the operations that read them say."""

from __future__ import annotations

from typing import Any

from ..harness import case


def _outcome(call: Any) -> Any:
    try:
        return call()
    except Exception as e:
        return type(e).__name__


@case("eager")
def examples(tf: Any) -> Any:
    ints = tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2, 3]))
    good = tf.train.Example(features=tf.train.Features(feature={"a": ints})).SerializeToString()
    feature = {"a": tf.io.FixedLenFeature([3], tf.int64)}
    found = []
    for data in (good, good[:-1], b"", good.replace(b"a", b"\xff"), good[:-1] + b"\xff", b"\x08\5" + good):
        found.append([
            _outcome(lambda d=data: tf.io.parse_single_example(d, feature)["a"].numpy()),
            _outcome(lambda d=data: tf.io.parse_example([d], feature)["a"].numpy()),
            _outcome(lambda d=data: tf.io.parse_single_sequence_example(d, feature)[0]["a"].numpy()),
        ])
    return found


@case("eager")
def json(tf: Any) -> Any:
    def of(feature: str) -> str:
        return '{"features": {"feature": {"a": ' + feature + "}}}"

    texts = [
        "{", "[]", "null", "", '{"x": 1}', "[" * 100_000, '{"features": null}', of("{}"),
        of('{"int64List": {"value": ["7", 8]}}'),
        of('{"int64List": {"value": ["99999999999999999999"]}}'), of('{"int64List": {"value": [1.5]}}'),
        of('{"bytesList": {"value": ["!!!"]}}'), of('{"floatList": {"value": ["NaN", "Infinity", 5]}}'),
        of('{"list": {}}'),
    ]
    return [_outcome(lambda t=text: tf.io.decode_json_example(t).dtype.name) for text in texts]


def _proto(*, dtype: int = 1, dims: tuple[int, ...] = (), rest: bytes = b"") -> bytes:
    def varint(n: int) -> bytes:
        n &= (1 << 64) - 1
        head = b""
        while n > 127:
            head, n = head + bytes([n & 127 | 128]), n >> 7
        return head + bytes([n])

    shape = b""
    for n in dims:
        dim = b"\x08" + varint(n)
        shape += b"\x12" + varint(len(dim)) + dim
    return b"\x08" + varint(dtype) + b"\x12" + varint(len(shape)) + shape + rest


@case("eager")
def tensors(tf: Any) -> Any:
    one = b"\x2d\0\0\x80?"
    given = [
        (b"\xff\xff", "float32"), (b"", "float32"), (_proto(dims=(2,), rest=b'"\4\0\0\x80?'), "float32"),
        (_proto(dims=(1,), rest=b'"\x08' + bytes(8)), "float32"), (_proto(dims=(-1,)), "float32"),
        (_proto(dtype=99), "float32"), (b"\x08\1\x12\2\x18\1", "float32"),
        (_proto(dims=(1 << 55, 1 << 55), rest=one), "float32"),
        (_proto(dims=(3,), rest=one), "float32"), (_proto(dims=(2,)), "float32"),
        (_proto(dims=(1,), rest=one * 2), "float32"), (_proto(dtype=7, dims=(3,), rest=b"\x42\1a"), "string"),
        (_proto(dtype=7, dims=(1,), rest=b"\x42\1a\x42\1b"), "string"),
        (_proto(dtype=19, dims=(1,), rest=b"\x6a\1\5"), "float16"), (_proto(dtype=101), "float32"),
        (_proto(dims=(1,) * 300), "float32"), (_proto(dtype=6, dims=(1,), rest=b"\x3a\2\xc8\1"), "int8"),
        (_proto(dtype=9, dims=(2,), rest=b"\x52\1\7"), "float32"),
    ]
    return [_outcome(lambda d=d, t=t: tf.io.parse_tensor(d, getattr(tf, t)).numpy()) for d, t in given]


@case("eager")
def sounds(tf: Any) -> Any:
    wav = tf.audio.encode_wav([[0.5], [-0.5]], 8000).numpy()
    damaged = [
        wav, b"RIFFxxxx", b"", wav[:-1], wav[:30], wav[:22] + b"\0\0" + wav[24:], wav[:22] + b"\x09\0" + wav[24:],
        wav[:40] + b"\xff\xff\xff\x7f" + wav[44:], wav[:4] + b"\xff" * 4 + wav[8:], wav[:40] + b"\xff" * 4 + wav[44:],
        wav[:34] + b"\x08\0" + wav[36:],
    ]
    return [_outcome(lambda d=data: tf.audio.decode_wav(d).audio.numpy()) for data in damaged]


@case("eager")
def others(tf: Any) -> Any:
    io = tf.io
    calls = [
        *(lambda r=r: io.decode_csv([r], [[0]]) for r in ('"a', '"a"b', 'a"b', "99999999999", "1,2", "", "9" * 5000)),
        lambda: io.decode_raw([b"abc"], tf.int32), lambda: io.decode_raw([b""], tf.int32).numpy(),
        *(lambda b=b: io.decode_base64([b]) for b in ("a", "a*bc", "ab=c", "+/+/")),
        lambda: tf.raw_ops.MergeSummary(inputs=[b"\xff"]),
        lambda: io.deserialize_many_sparse([[b"\xff", b"", b""]], tf.int32),
        lambda: tf.strings.to_number(["1" * 5000]).numpy(), lambda: tf.strings.to_number(["1" * 5000], tf.int32),
    ]
    return [_outcome(call) for call in calls]
