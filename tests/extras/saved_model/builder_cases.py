"""Models that the builder of 1.x writes, and what sessions compute with them: the same in TensorFlow and here.

A case is a pair: `write(tf, folder)` writes a model to `folder / "model"`, `read(tf, model)` returns results by name.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

Write = Callable[[Any, pathlib.Path], None]
Read = Callable[[Any, str], dict[str, Any]]


def write_assets(tf: Any, folder: pathlib.Path, as_text: bool = False) -> None:
    """Files of one name, of which two are equal; tables that are filled from them when the model is loaded."""
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as sess:
        x, found, files = v1.placeholder(tf.string, [None], name="x"), [], []
        for name, text in (("a", "red\ngreen\n"), ("b", "up\ndown\nleft\n"), ("c", "red\ngreen\n")):
            path = folder / name / "words.txt"
            path.parent.mkdir()
            path.write_text(text)
            files.append(tf.constant(str(path), name=f"file_{name}"))
            initializer = tf.lookup.TextFileInitializer(files[-1], tf.string, -2, tf.int64, -1)
            found.append(tf.lookup.StaticHashTable(initializer, -1).lookup(x))
        y = tf.stack(found, name="y")
        w = v1.get_variable("w", initializer=[2.0, 3.0], use_resource=True)
        z = tf.multiply(w, 2.0, name="z")
        sess.run(v1.global_variables_initializer())
        builder = v1.saved_model.Builder(str(folder / "model"))
        predict = v1.saved_model.predict_signature_def
        builder.add_meta_graph_and_variables(sess, ["serve"], {"serving_default": predict({"x": x}, {"y": y, "z": z})},
                                             assets_collection=[*files, files[0]], main_op=v1.tables_initializer())
        builder.add_meta_graph(["serve", "again"], {"words": predict({"x": x}, {"y": y})})
        builder.save(as_text=as_text)


def read_assets(tf: Any, model: str) -> dict[str, Any]:
    """Loads each graph, in a scope and without; files that were moved are found."""
    v1, found = tf.compat.v1, {}
    words = ["red", "down", "green"]
    for tags, scope in ((["serve"], None), (["again", "serve"], "scope")):
        with tf.Graph().as_default() as graph, v1.Session() as sess:
            message = v1.saved_model.load(sess, tags, model, import_scope=scope)
            prefix = f"{scope}/" if scope else ""
            found[str(scope)] = [sess.run([f"{prefix}y:0", f"{prefix}z:0"], {f"{prefix}x:0": words}),
                                 sorted(message.signature_def), sorted(message.collection_def),
                                 sorted(graph.get_all_collection_keys())]
    loaded = tf.saved_model.load(model, tags=["serve"])
    found["objects"] = loaded.signatures["serving_default"](x=tf.constant(words))
    found["files"] = sorted(p.relative_to(model).as_posix() for p in pathlib.Path(model).rglob("assets/*"))
    return found


def write_training(tf: Any, folder: pathlib.Path) -> None:
    """Two graphs with the same variables: one that trains, and one that serves, without devices and defaults."""
    v1 = tf.compat.v1

    def layer(x: Any) -> Any:
        w = v1.get_variable("w", initializer=[[1.0, -1.0], [0.5, 2.0]], use_resource=True)
        with tf.device("/cpu:0"):
            return tf.nn.softmax(tf.transpose(tf.matmul(x, w)), name="y")

    builder = v1.saved_model.Builder(str(folder / "model"))
    with tf.Graph().as_default(), v1.Session() as sess:
        x = v1.placeholder(tf.float32, [2, 2], name="x")
        loss = tf.reduce_sum(layer(x)[0], name="loss")
        train = v1.train.MomentumOptimizer(0.5, 0.9).minimize(loss)
        v1.add_to_collection("steps", train)
        sess.run(v1.global_variables_initializer())
        sess.run(train, {x: [[1.0, 2.0], [3.0, -1.0]]})
        builder.add_meta_graph_and_variables(sess, ["train"])
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        y = layer(x)
        builder.add_meta_graph(["serve"], {"serving_default": v1.saved_model.predict_signature_def({"x": x}, {"y": y})},
                               clear_devices=True, strip_default_attrs=True)
    builder.save()


def read_training(tf: Any, model: str) -> dict[str, Any]:
    """Trains further, and uses the other graph, whose attributes are filled in."""
    v1, found = tf.compat.v1, {}
    value = [[1.0, 2.0], [3.0, -1.0]]
    with tf.Graph().as_default() as graph, v1.Session() as sess:
        message = v1.saved_model.load(sess, ["train"], model)
        (step,) = v1.get_collection("steps")
        losses = []
        for _ in range(3):
            losses.append(sess.run("loss:0", {"x:0": value}))
            sess.run(step, {"x:0": value})
        found["train"] = [losses, sorted(v.name for v in v1.global_variables()),
                          sess.run(v1.trainable_variables()[0]), message.meta_info_def.stripped_default_attrs,
                          graph.get_tensor_by_name("y:0").device != ""]
    with tf.Graph().as_default() as graph, v1.Session() as sess:
        message = v1.saved_model.load(sess, ["serve"], model)
        y, x = graph.get_tensor_by_name("y:0"), graph.get_tensor_by_name("x:0")
        found["serve"] = [sess.run([y, *tf.gradients(tf.reduce_sum(y[0]), x)], {x: value}),
                          message.meta_info_def.stripped_default_attrs,
                          {n.device for n in message.graph_def.node} == {""}]
    return found


def write_simple(tf: Any, folder: pathlib.Path) -> None:
    """A local variable that is computed when the model is loaded, and a table with a file."""
    v1 = tf.compat.v1
    path = folder / "names.txt"
    path.write_text("left\nright\n")
    with tf.Graph().as_default(), v1.Session() as sess:
        x = v1.placeholder(tf.string, [None], name="x")
        start = v1.get_variable("start", initializer=[1.0, 2.0], use_resource=True)
        double = v1.get_variable("double", [2], collections=["local_variables"], use_resource=True,
                                 initializer=tf.zeros_initializer())
        table = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(str(path), tf.string, -2, tf.int64, -1), -1)
        y = tf.gather(tf.concat([double, [-1.0]], 0), table.lookup(x) % 3, name="y")
        begin = tf.group(v1.tables_initializer(), double.assign(start * 2.0).op)
        sess.run([v1.global_variables_initializer(), v1.tables_initializer()])
        v1.saved_model.simple_save(sess, str(folder / "model"), {"x": x}, {"y": y}, legacy_init_op=begin)


def read_simple(tf: Any, model: str) -> dict[str, Any]:
    """Loads it in a session and as an object."""
    v1, words = tf.compat.v1, ["right", "up", "left"]
    with tf.Graph().as_default(), v1.Session() as sess:
        v1.saved_model.load(sess, ["serve"], model)
        found = {"session": sess.run("y:0", {"x:0": words})}
    loaded = tf.saved_model.load(model)
    found["object"] = loaded.signatures["serving_default"](x=tf.constant(words))
    found["paths"] = [pathlib.Path(p.asset_path.numpy().decode()).name for p in loaded.asset_paths]
    return found


def write_composite(tf: Any, folder: pathlib.Path) -> None:
    """Signatures of sparse tensors; tables and local variables without an operation that initializes them."""
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as sess:
        x, k = v1.sparse_placeholder(tf.float32, [None, 3], name="x"), v1.placeholder(tf.string, [None], name="k")
        w = v1.get_variable("w", initializer=[1.0, 2.0, 3.0], use_resource=True)
        twice = tf.SparseTensor(x.indices, x.values * 2.0, x.dense_shape)
        total = tf.sparse.sparse_dense_matmul(x, w[:, None], name="total")
        local = v1.get_variable("local", initializer=[7.0], collections=["local_variables"], use_resource=True)
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], tf.constant([4.0])), -1.0)
        v = tf.add(table.lookup(k), local, name="v")
        sess.run(v1.global_variables_initializer())
        info, make = v1.saved_model.build_tensor_info, v1.saved_model.build_signature_def
        builder = v1.saved_model.Builder(str(folder / "model"))
        builder.add_meta_graph_and_variables(sess, ["serve"], {
            "sparse": make({"x": info(x)}, {"total": info(total), "twice": info(twice)}, "tensorflow/serving/predict"),
            "words": make({"k": info(k)}, {"v": info(v)}, "tensorflow/serving/predict")})
        builder.save()


def read_composite(tf: Any, model: str) -> dict[str, Any]:
    """A sparse tensor is three arguments, and a result."""
    loaded = tf.saved_model.load(model)
    f = loaded.signatures["sparse"]
    x = tf.sparse.from_dense([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
    found = f(x_indices=x.indices, x_values=x.values, x_dense_shape=x.dense_shape)
    return {"total": found["total"], "twice": tf.sparse.to_dense(found["twice"]),
            "arguments": sorted(f.structured_input_signature[1]),
            "words": loaded.signatures["words"](k=tf.constant(["a", "b"]))}


def write_text(tf: Any, folder: pathlib.Path) -> None:
    """The model with files, as text."""
    write_assets(tf, folder, as_text=True)


CASES: dict[str, tuple[Write, Read]] = {
    "assets": (write_assets, read_assets),
    "training": (write_training, read_training),
    "simple": (write_simple, read_simple),
    "composite": (write_composite, read_composite),
    "text": (write_text, read_assets),
}


def save_all(folder: pathlib.Path) -> None:
    """Writes all cases here, each in a folder of its own."""
    import graphgrad as tf

    for name, (write, _) in CASES.items():
        (folder / name).mkdir(parents=True)
        write(tf, folder / name)


if __name__ == "__main__":
    import sys

    save_all(pathlib.Path(sys.argv[1]))
