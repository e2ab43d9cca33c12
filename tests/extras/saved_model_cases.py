"""Objects that are saved as models, and what is asked of the loaded ones: the same in TensorFlow and here.

A case is a pair: `build(tf, folder)` returns the object and what `tf.saved_model.save` takes besides (files may be
written to the folder); `use(tf, loaded)` returns the results by name.
"""

from __future__ import annotations

import collections
import pathlib
import zipfile
from collections.abc import Callable
from typing import Any

from .saved_model.dataset_cases import CASES as DATA_CASES

Build = Callable[[Any, pathlib.Path], tuple[Any, dict[str, Any]]]
Use = Callable[[Any, Any], dict[str, Any]]

Point = collections.namedtuple("Point", ["x", "y"])


def build_linear(tf: Any, folder: pathlib.Path) -> tuple[Any, dict[str, Any]]:
    """Variables, a counter that a call changes, a signature, traces by Python arguments."""

    class Linear(tf.Module):
        def __init__(self) -> None:
            super().__init__(name="linear")
            self.w = tf.Variable([[1.0, -2.0], [0.5, 3.0]], name="kernel")
            self.b = tf.Variable([0.25, -0.5], name="bias")
            self.scale = tf.Variable(2.0, trainable=False, name="scale")
            self.calls = tf.Variable(0, dtype=tf.int64, trainable=False, name="calls")
            self.half = tf.Variable(tf.ones([3], tf.float16), name="half")

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
        def f(self, x: Any) -> Any:
            self.calls.assign_add(1)
            y = tf.tanh(0.2 * (x @ self.w) + self.b) * self.scale
            if tf.reduce_sum(x) > 0.0:
                y = y + tf.cast(self.calls, tf.float32)
            return y

        @tf.function
        def power(self, x: Any, n: int = 2, *, negate: bool = False) -> Any:
            y = (self.scale * x) ** n
            return -y if negate else y

    m = Linear()
    for x in (1.0, [1.0, 2.0]):
        m.power(tf.constant(x))
        m.power(tf.constant(x), 3, negate=True)
    m.power.get_concrete_function(tf.TensorSpec([None, 2], tf.float32), n=1)
    return m, {"signatures": m.f}


def use_linear(tf: Any, loaded: Any) -> dict[str, Any]:
    x = tf.constant([[0.5, -1.0], [2.0, 0.25]])
    found: dict[str, Any] = {"f": [loaded.f(x), loaded.f(-x), loaded.f(x)], "calls": loaded.calls}
    found["signature"] = loaded.signatures["serving_default"](x=x)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(loaded.f(x) ** 2)
        found["dw"], found["dx"] = tape.gradient(y, [loaded.w, x])
        total = tf.reduce_sum(found["dx"] ** 2) + tf.reduce_sum(found["dw"])
    found["ddw"], found["ddx"] = outer.gradient(total, [loaded.w, x])
    found["power"] = [loaded.power(tf.constant(3.0)), loaded.power(tf.constant([1.0, 4.0]), 3, negate=True),
                      loaded.power(tf.constant([[1.0, 4.0]]), 1), loaded.power(x=tf.constant(2.0), n=2, negate=False)]

    @tf.function
    def inside(x: Any) -> Any:
        y = loaded.f(x)
        (dx,) = tf.gradients(tf.reduce_sum(y * y), x)
        (dw,) = tf.gradients(tf.reduce_sum(dx * dx), loaded.w)
        return y, dx, dw

    found["inside"] = [inside(x) for _ in range(3)]
    for _ in range(3):  # training
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(loaded.f(x) ** 2)
        for v, dv in zip([loaded.w, loaded.b], tape.gradient(loss, [loaded.w, loaded.b]), strict=True):
            v.assign_sub(0.01 * dv)
    found["loss"], found["w"], found["half"], found["calls_after"] = loss, loaded.w, loaded.half, loaded.calls
    return found


def build_nested(tf: Any, folder: pathlib.Path) -> tuple[Any, dict[str, Any]]:
    """Nested arguments and results, lists, dictionaries and tuples of variables, constants, a bare trace."""
    root = tf.Module()
    root.parts = [tf.Variable(1.0, name="one"), {"two": tf.Variable([2.0, 3.0], name="two")}]
    root.pair = (tf.Variable(5.0, name="five"), root.parts[0])
    root.names = {"a": tf.Variable(1, name="a"), "b": {"c": tf.Variable(2, name="c")}}
    captured = tf.constant([[1.0], [2.0]])

    @tf.function
    def f(point: Any, rest: Any = None, scale: Any = 1.0, **named: Any) -> Any:
        total = point.x * root.parts[0] + point.y * root.parts[1]["two"] * scale
        if rest is not None:
            total = total + rest["a"][0] * rest["b"]
        for key in sorted(named):
            total = total + named[key]
        return {"total": total, "both": (total * 2.0, [captured, None]), "point": Point(total + 1.0, point.x)}

    p = Point(tf.constant(1.0), tf.constant([2.0, 3.0]))
    f(p)
    f(p, {"a": [tf.constant(1.0)], "b": tf.constant([1.0, 1.0])}, 3.0)
    f(p, None, tf.constant(2.0), k=tf.constant(1.0))
    root.f = f

    @tf.function
    def g(x: Any, y: Any) -> Any:
        return x * root.pair[0] - y @ captured

    root.bare = g.get_concrete_function(tf.TensorSpec([2, 1], name="first"), tf.TensorSpec([2, 2], name="second"))
    return root, {"signatures": {"g": root.bare}}


def use_nested(tf: Any, loaded: Any) -> dict[str, Any]:
    p = Point(tf.constant(3.0), tf.constant([1.0, -1.0]))
    x, y = tf.constant([[1.0], [2.0]]), tf.constant([[1.0, 2.0], [3.0, 4.0]])

    def listed(result: Any) -> Any:
        return [result["total"], result["both"][0], result["both"][1][0], result["point"].x, result["point"][1]]

    found = {
        "plain": listed(loaded.f(p)), "rest": listed(loaded.f(p, {"a": [tf.constant(2.0)], "b": p.y}, 3.0)),
        "named": listed(loaded.f(p, scale=tf.constant(4.0), k=tf.constant(5.0))),
        "bare": loaded.bare(x, y), "by_name": loaded.bare(first=x, second=y),
        "signature": loaded.signatures["g"](first=x, second=y),
        "parts": [loaded.parts[0], loaded.parts[1]["two"], loaded.pair[0], loaded.names["b"]["c"]],
        "same": loaded.pair[1] is loaded.parts[0], "lengths": [len(loaded.parts), len(loaded.pair), len(loaded.names)],
    }
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(loaded.f(p)["total"] ** 2)
    found["gradients"] = tape.gradient(total, [loaded.parts[0], loaded.parts[1]["two"]])
    return found


def build_control(tf: Any, folder: pathlib.Path) -> tuple[Any, dict[str, Any]]:
    """Branches, loops, arrays, calls of functions by functions, a gradient inside, a custom gradient."""
    root = tf.Module()
    root.v = tf.Variable([1.5, -0.5], name="v")

    @tf.function
    def inner(x: Any, v: Any) -> Any:
        return tf.sin(x) * v

    @tf.custom_gradient
    def clipped(x: Any) -> Any:
        def grad(dy: Any) -> Any:
            return tf.clip_by_value(dy, -0.1, 0.1)

        return x * 3.0, grad

    @tf.function(input_signature=[tf.TensorSpec([2]), tf.TensorSpec([], tf.int32)])
    def f(x: Any, n: Any) -> Any:
        v = root.v + 0.0  # TensorFlow has no gradient of a loaded loop that reads a variable
        total = tf.zeros([2])
        array = tf.TensorArray(tf.float32, n, element_shape=[2])
        for i in tf.range(n):
            if i % 2 == 0:
                total += inner(x, v) * tf.cast(i + 1, tf.float32)
            else:
                total = inner(total, v)
            array = array.write(i, total)
        chosen = tf.switch_case(n % 3, [lambda: x, lambda: x * x, lambda: inner(x, v)])
        return total, array.stack(), chosen

    @tf.function(input_signature=[tf.TensorSpec([2])])
    def slope(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(inner(x, root.v) ** 2)
        return tape.gradient(y, x), tf.map_fn(lambda e: e * e, x), clipped(x)

    root.f, root.slope = f, slope
    return root, {"options": tf.saved_model.SaveOptions(experimental_custom_gradients=True)}


def use_control(tf: Any, loaded: Any) -> dict[str, Any]:
    x = tf.constant([0.5, 2.0])
    found: dict[str, Any] = {f"f{n}": loaded.f(x, tf.constant(n)) for n in (0, 1, 2, 4)}
    found["slope"] = loaded.slope(x)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            total, stacked, chosen = loaded.f(x, tf.constant(5))
            y = tf.reduce_sum(total) + tf.reduce_sum(stacked ** 2) + tf.reduce_sum(chosen)
        first = tape.gradient(y, x)
    found["first"], found["second"] = first, outer.gradient(first, [x, loaded.v])
    with tf.GradientTape() as tape:
        tape.watch(x)
        slope, squares, clipped = loaded.slope(x)
    found["of_slope"] = tape.gradient([slope, squares, clipped], [x, loaded.v])

    @tf.function
    def inside(x: Any) -> Any:
        y = loaded.f(x, 3)[0]
        (dx,) = tf.gradients(y, x)
        (ddx,) = tf.gradients(dx, x)
        return dx, ddx, *tf.gradients(dx, loaded.v)

    found["inside"] = inside(x)
    return found


def build_tables(tf: Any, folder: pathlib.Path) -> tuple[Any, dict[str, Any]]:
    """Tables, initialized from tensors and from a file that is an asset, and one that functions change."""
    path = folder / "words.txt"
    path.write_text("red\ngreen\nblue\n")
    root = tf.Module()
    root.file = tf.saved_model.Asset(str(path))
    initializer = tf.lookup.TextFileInitializer(
        root.file.asset_path, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64,
        tf.lookup.TextFileIndex.LINE_NUMBER)
    root.words = tf.lookup.StaticVocabularyTable(initializer, 2)
    root.numbers = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(["one", "two"], tf.constant([1.0, 2.0])), -1.0)
    root.changed = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -5)
    root.changed.insert(["a", "b"], [10, 20])
    root.weights = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0], [9.0, 10.0]], name="weights")

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="words")])
    def embed(words: Any) -> Any:
        ids = root.words.lookup(words)
        return {"rows": tf.gather(root.weights, ids), "ids": ids, "numbers": root.numbers.lookup(words)}

    @tf.function(input_signature=[tf.TensorSpec([], tf.string), tf.TensorSpec([], tf.int64)])
    def insert(key: Any, value: Any) -> Any:
        root.changed.insert([key], [value])
        return root.changed.lookup(tf.stack([key, "a", "z"]))

    @tf.function(input_signature=[])
    def read() -> Any:
        return tf.io.read_file(root.file.asset_path)

    root.embed, root.insert, root.read = embed, insert, read
    return root, {"signatures": {"embed": embed}}


def use_tables(tf: Any, loaded: Any) -> dict[str, Any]:
    words = tf.constant(["blue", "one", "red", "two"])
    found: dict[str, Any] = {"embed": loaded.embed(words), "signature": loaded.signatures["embed"](words=words)}
    found["insert"] = [loaded.insert("b", 3), loaded.insert("z", 4), loaded.insert("a", 5)]
    found["read"] = loaded.read()
    with tf.GradientTape() as tape:
        rows = tf.reduce_sum(loaded.embed(tf.constant(["blue", "red", "blue"]))["rows"] ** 2)
    found["gradient"] = tf.convert_to_tensor(tape.gradient(rows, loaded.weights))
    return found


def build_composite(tf: Any, folder: pathlib.Path) -> tuple[Any, dict[str, Any]]:
    """Ragged and sparse arguments and results; a function of random numbers from a seed."""
    root = tf.Module()
    root.w = tf.Variable([2.0, 3.0, 4.0], name="w")

    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.float32)])
    def ragged(x: Any) -> Any:
        return x * 2.0, tf.reduce_sum(x, axis=1)

    @tf.function(input_signature=[tf.SparseTensorSpec([None, 3], tf.float32)])
    def sparse(x: Any) -> Any:
        return tf.sparse.sparse_dense_matmul(x, root.w[:, None]), tf.sparse.transpose(x)

    @tf.function(input_signature=[tf.TensorSpec([2], tf.int32)])
    def drawn(seed: Any) -> Any:
        return root.w * tf.random.stateless_uniform([3], seed)

    @tf.function
    def scaled(v: Any, x: Any) -> Any:
        return v * x

    scaled(root.w, tf.constant(1.0))
    root.ragged, root.sparse, root.drawn, root.scaled = ragged, sparse, drawn, scaled
    return root, {}


def use_composite(tf: Any, loaded: Any) -> dict[str, Any]:
    double, sums = loaded.ragged(tf.ragged.constant([[1.0, 2.0], [], [3.0]]))
    x = tf.sparse.from_dense([[0.0, 1.0, 0.0], [2.0, 0.0, 3.0]])
    product, transposed = loaded.sparse(x)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(loaded.sparse(x)[0] ** 2)
    return {"ragged": [double.values, double.row_splits, sums], "sparse": [product, tf.sparse.to_dense(transposed)],
            "gradient": tape.gradient(y, loaded.w), "drawn": loaded.drawn([1, 2])}


def build_old(tf: Any, folder: pathlib.Path) -> tuple[Any, dict[str, Any]]:
    """A model of 1.x: variables that are references, a branch, a table with a file; written here."""
    v1 = tf.compat.v1
    path = folder / "names.txt"
    path.write_text("left\nright\n")
    with tf.Graph().as_default(), v1.Session() as sess:
        v1.disable_control_flow_v2()
        x, words = v1.placeholder(tf.float32, [None, 2], name="x"), v1.placeholder(tf.string, [None], name="words")
        w = v1.get_variable("w", initializer=[[1.0, 2.0], [3.0, -1.0]], use_resource=False)
        b = v1.get_variable("b", initializer=[0.5, 0.25], use_resource=True)
        count = v1.get_variable("count", initializer=0, trainable=False, use_resource=False)
        y = v1.cond(tf.reduce_sum(x) > 0, lambda: tf.tanh(x @ w), lambda: x @ w * 2.0)
        with tf.control_dependencies([v1.assign_add(count, 1)]):
            y = tf.identity(y + b, name="y")
        file = tf.constant(str(path), name="file")
        v1.add_to_collection(v1.GraphKeys.ASSET_FILEPATHS, file)
        table = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(file, tf.string, -2, tf.int64, -1), -1)
        ids = table.lookup(words)
        sess.run(v1.global_variables_initializer())
        predict = v1.saved_model.predict_signature_def
        builder = v1.saved_model.Builder(str(folder / "model"))
        builder.add_meta_graph_and_variables(
            sess, ["serve"], {"serving_default": predict({"x": x}, {"y": y}), "ids": predict({"w": words}, {"i": ids}),
                              "both": predict({"x": x, "w": words}, {"y": y, "ids": ids})},
            assets_collection=v1.get_collection(v1.GraphKeys.ASSET_FILEPATHS), main_op=v1.tables_initializer())
        builder.save()
        v1.enable_control_flow_v2()
    return None, {}


def use_old(tf: Any, loaded: Any) -> dict[str, Any]:
    x = tf.constant([[0.5, -0.25], [1.0, 0.5]])
    f = loaded.signatures["serving_default"]
    found: dict[str, Any] = {"f": [f(x), f(x=-x), f(x)],
                             "count": int(loaded.prune([], "count/read:0")()),  # TensorFlow's tensor changes with it
                             "ids": loaded.signatures["ids"](w=tf.constant(["right", "up", "left"]))["i"],
                             "both": loaded.signatures["both"](x=x, w=tf.constant(["left"]))}
    part = loaded.prune("x:0", ["y:0"])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(part(x)[0] ** 2)
    found["dx"] = tape.gradient(y, x)  # TensorFlow has no second one
    return found


def build_layers(tf: Any, folder: pathlib.Path) -> tuple[Any, dict[str, Any]]:
    """A model of Keras, saved by itself: written here."""
    import tf_keras

    tf_keras.utils.set_random_seed(1)
    features = tf_keras.Input([3], name="features")
    hidden = tf_keras.layers.BatchNormalization()(tf_keras.layers.Dense(4, activation="tanh")(features))
    model = tf_keras.Model(features, tf_keras.layers.Dense(2, name="head")(hidden))
    model.compile("sgd", "mse")
    model.fit(tf.reshape(tf.linspace(-1.0, 1.0, 12), [4, 3]), tf.ones([4, 2]), verbose=0)
    model.save(str(folder / "model"), save_format="tf")
    return None, {}


def use_layers(tf: Any, loaded: Any) -> dict[str, Any]:
    x = tf.constant([[0.5, -1.0, 2.0], [1.0, 0.25, -0.5]])
    found: dict[str, Any] = {"predicted": [loaded(x), loaded(x, training=False)],
                             "signature": loaded.signatures["serving_default"](features=x),
                             "names": [v.name for v in loaded.variables]}
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(loaded(x) ** 2)
        first = tape.gradient(y, [x, *loaded.trainable_variables])
    found["first"] = first
    found["second"] = outer.gradient(first[0], x)
    found["trained"] = [loaded(x, training=True), loaded.variables[4], loaded.variables[5], loaded(x)]
    return found


CASES: dict[str, tuple[Build, Use]] = {
    "linear": (build_linear, use_linear),
    "nested": (build_nested, use_nested),
    "control": (build_control, use_control),
    "tables": (build_tables, use_tables),
    "composite": (build_composite, use_composite),
    "old": (build_old, use_old),
    "layers": (build_layers, use_layers),
    **DATA_CASES,
}

WRITTEN = frozenset({"old", "layers"})  # whose `build` writes the model itself, as only TensorFlow's can


def plain(tf: Any, value: Any) -> Any:
    """Converts results to lists of numbers and strings."""
    if isinstance(value, dict):
        return {k: plain(tf, v) for k, v in sorted(value.items())}
    if isinstance(value, (list, tuple)):
        return [plain(tf, v) for v in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    found = value.numpy() if hasattr(value, "numpy") else value
    found = found.tolist() if hasattr(found, "tolist") else found
    return _text(found)


def _text(found: Any) -> Any:
    if isinstance(found, list):
        return [_text(v) for v in found]
    return found.decode() if isinstance(found, bytes) else found


def unpacked(name: str, folder: pathlib.Path) -> str:
    """Unpacks the recorded model of a case; returns its path."""
    path = folder / name
    with zipfile.ZipFile(pathlib.Path(__file__).parents[1] / "recorded" / "saved_models" / f"{name}.zip") as file:
        file.extractall(path)
    return str(path)
