"""What is valid, as this package writes it: graphs, models, checkpoints, records, images, examples, patterns."""

from __future__ import annotations

import base64
import io
import json
import os
import pathlib
import zlib

import numpy as np


def corpus(folder: str) -> dict[str, list[bytes]]:
    """Bytes by kind; checkpoints and a saved model are left in the folder, too."""
    import graphgrad.compat.v1 as tf
    from graphgrad.ir import context

    found: dict[str, list[bytes]] = {}
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        w = tf.get_variable("w", [3, 2])
        b = tf.get_variable("b", [2], initializer=tf.zeros_initializer(), partitioner=tf.fixed_size_partitioner(2))
        s = tf.get_variable("s", initializer=tf.constant(["one", "two"]), trainable=False)
        y = tf.nn.relu(tf.matmul(x, w) + b, name="y")
        z = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * 2.0), (tf.constant(0), y))[1]
        c = tf.cond(tf.reduce_sum(z) > 0.0, lambda: z * 2.0, lambda: z - 1.0)
        tf.train.AdamOptimizer(0.1).minimize(tf.reduce_mean(c))
        sess.run(tf.global_variables_initializer())
        prefix = os.path.join(folder, "model")
        tf.train.Saver([w, *tf.global_variables("b"), s]).save(sess, prefix)
        tf.saved_model.simple_save(sess, os.path.join(folder, "saved"), {"x": x}, {"y": y})
        found["graph"] = [
            graph.as_graph_def().SerializeToString(),
            graph.as_graph_def(add_shapes=True).SerializeToString(),
        ]
    with open(pathlib.Path(__file__).parents[1] / "recorded" / "old_graphs.json") as f:
        recorded = json.load(f)
    found["graph"] += [zlib.decompress(base64.b64decode(v["graph"])) for v in recorded.values() if isinstance(v, dict)]
    for kind, name in (
        ("meta", "model.meta"),
        ("index", "model.index"),
        ("data", "model.data-00000-of-00001"),
        ("model", "saved/saved_model.pb"),
    ):
        with open(os.path.join(folder, name), "rb") as f:
            found[kind] = [f.read()]
    with context.use(context.EAGER):
        _add_strings(found)
        _add_records(found, folder)
    return found


def _add_strings(found: dict[str, list[bytes]]) -> None:
    import graphgrad as tf

    features = tf.train.Features(
        feature={
            "a": tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2, -3])),
            "b": tf.train.Feature(float_list=tf.train.FloatList(value=[1.5, 2.5])),
            "c": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"x", b"yz"])),
        }
    )
    found["example"] = [tf.train.Example(features=features).SerializeToString()]
    lists = tf.train.FeatureLists(
        feature_list={"d": tf.train.FeatureList(feature=[features.feature["a"], features.feature["a"]])}
    )
    found["sequence"] = [tf.train.SequenceExample(context=features, feature_lists=lists).SerializeToString()]
    found["tensor"] = [tf.io.serialize_tensor(v).numpy() for v in (np.ones((2, 3), np.float32), [b"a", b"bc"], 5)]
    found["tensor"] += [tf.make_tensor_proto(v).SerializeToString() for v in (np.arange(9), [True], 1j)]
    found["sparse"] = list(tf.io.serialize_sparse(tf.SparseTensor([[0, 1]], [5.0], [2, 3])).numpy())
    found["json"] = [
        b'{"features": {"feature": {"a": {"int64List": {"value": ["7", 8]}}, "b": {"floatList": {"value": '
        b'[1.5, "NaN"]}}, "c": {"bytesList": {"value": ["eHk="]}}}}}'
    ]
    found["csv"] = [b'1,2.5,"a ""b"", c",,x\n', b"7,,e,f,g"]
    found["text"] = [b"hello world", "h\u00e9llo \u4e16\u754c".encode(), b"12345", b"1e5", b"YWJj"]
    found["state"] = [
        b'model_checkpoint_path: "m-2"\nall_model_checkpoint_paths: "m-1"\nall_model_checkpoint_paths: "m-2"\n'
        b"all_model_checkpoint_timestamps: 1.5\nlast_preserved_timestamp: 2e9\n"
    ]
    found["pattern"] = [
        p.encode()
        for p in (
            "(a+)+$",
            "a*b|c{2,5}?",
            "[[:alpha:]\\d-z]*",
            "(?i:x)(?P<n>y)",
            "\\pL{3}",
            "(a|b(c|d(e|f)*)*)*",
            ".*.*.*=.*",
            "^a.\\b$",
            "(x{30}){30}",
        )
    ]
    found["wav"] = [tf.audio.encode_wav(np.zeros((9, 2), np.float32), 8000).numpy()]
    found["image"] = _images()


def _images() -> list[bytes]:
    from PIL import Image

    pixels = np.random.RandomState(0).randint(0, 256, (9, 7, 3)).astype(np.uint8)
    files = []
    for kind, options in (("PNG", {}), ("JPEG", {}), ("JPEG", {"progressive": True}), ("BMP", {}), ("GIF", {})):
        buffer = io.BytesIO()
        Image.fromarray(pixels).save(buffer, kind, **options)
        files.append(buffer.getvalue())
    buffer = io.BytesIO()
    frames = [Image.fromarray(np.roll(pixels, i, 0)) for i in range(3)]
    frames[0].save(buffer, "GIF", save_all=True, append_images=frames[1:])
    files.append(buffer.getvalue())
    for mode in ("L", "P", "LA", "I;16", "1", "RGBA"):
        buffer = io.BytesIO()
        Image.new(mode, (7, 9)).save(buffer, "PNG")
        files.append(buffer.getvalue())
    return files


def _add_records(found: dict[str, list[bytes]], folder: str) -> None:
    import graphgrad as tf
    import graphgrad.compat.v1 as v1

    for kind in ("", "ZLIB", "GZIP"):
        path = os.path.join(folder, "records")
        with tf.io.TFRecordWriter(path, kind) as writer:
            for record in (b"", b"one", b"two" * 50):
                writer.write(record)
        with open(path, "rb") as f:
            found[f"records{kind}"] = [f.read()]
    summary = v1.Summary(value=[v1.Summary.Value(tag="loss", simple_value=0.5)])
    found["event"] = [v1.Event(wall_time=1.0, step=3, summary=summary).SerializeToString()]
    table, model = tf.Variable(tf.ones([2, 2])), tf.Variable(3.0)
    path = tf.train.Checkpoint(table=table, model=model).save(os.path.join(folder, "objects"))
    found["objects"] = [v1.train.load_checkpoint(path).get_tensor("_CHECKPOINTABLE_OBJECT_GRAPH")]
