"""Further objects that are saved here, and what is asked of them once they are loaded, here or in TensorFlow.

Cases are pairs as in `saved_model_cases.py`.
"""

from __future__ import annotations

import pathlib
from typing import Any

from tests.extras.saved_model_cases import CASES as FIRST_CASES
from tests.extras.saved_model_cases import WRITTEN, Build, Use

Built = tuple[Any, dict[str, Any]]


def build_state(tf: Any, folder: pathlib.Path) -> Built:
    """Assignments in branches and loops, reads between them, a trace without results."""
    root = tf.Module()
    root.count = tf.Variable(0, dtype=tf.int32, name="count")
    root.total = tf.Variable([0.0, 0.0], name="total")

    @tf.function(input_signature=[tf.TensorSpec([2]), tf.TensorSpec([], tf.int32)])
    def step(x: Any, n: Any) -> Any:
        before = root.count.read_value()
        for _ in tf.range(n):
            root.count.assign_add(1)
            root.total.assign_add(x)
            if root.count % 2 == 0:
                root.total.assign(root.total * 0.5)
        between = root.count.read_value()
        root.count.assign(between * 10)
        return before, between, root.count.read_value(), root.total.read_value()

    root.generator = tf.random.Generator.from_seed(5)

    @tf.function(input_signature=[])
    def drawn() -> Any:
        return root.generator.normal([2])

    @tf.function(input_signature=[])
    def reset() -> None:
        root.count.assign(0)
        root.total.assign([0.0, 0.0])

    root.step, root.reset, root.drawn = step, reset, drawn
    return root, {}


def use_state(tf: Any, loaded: Any) -> dict[str, Any]:
    x = tf.constant([1.0, -2.0])
    found = {"steps": [loaded.step(x, n) for n in (1, 3, 0, 2)], "count": loaded.count}
    loaded.reset()
    found["drawn"] = [loaded.drawn() for _ in range(2)]
    return {**found, "after": [loaded.count, loaded.total], "again": loaded.step(2.0 * x, tf.constant(4))}


def build_training(tf: Any, folder: pathlib.Path) -> Built:
    """A step of training: gradients inside of the function, Adam's slots as variables, dropout that is off."""
    root = tf.Module()
    root.layers = [{"w": tf.Variable([[0.1, -0.2, 0.3], [0.4, 0.5, -0.6]], name="w0"),
                    "b": tf.Variable([0.0, 0.1, 0.2], name="b0")},
                   {"w": tf.Variable([[1.0], [-1.0], [0.5]], name="w1"), "b": tf.Variable([0.3], name="b1")}]
    weights = [layer[k] for layer in root.layers for k in ("w", "b")]
    root.moments = [tf.Variable(tf.zeros_like(w), trainable=False) for w in weights]
    root.rate = tf.Variable(0.1, trainable=False)

    def apply(x: Any, training: bool) -> Any:
        for i, layer in enumerate(root.layers):
            x = x @ layer["w"] + layer["b"]
            if i == 0:
                x = tf.nn.relu(x)
                x = tf.nn.dropout(x, 0.0) if training else x
        return x

    @tf.function
    def model(x: Any, training: bool = False) -> Any:
        return apply(x, training)

    @tf.function(input_signature=[tf.TensorSpec([None, 2]), tf.TensorSpec([None, 1])])
    def train(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(apply(x, True) - y))
        for w, m, g in zip(weights, root.moments, tape.gradient(loss, weights), strict=True):
            m.assign(0.9 * m + g)
            w.assign_sub(root.rate * m)
        return {"loss": loss}

    model(tf.ones([4, 2]))
    model(tf.ones([1, 2]), training=True)
    root.model, root.train = model, train
    return root, {"signatures": {"train": train, "serving_default": model.get_concrete_function(
        tf.TensorSpec([None, 2], tf.float32, name="x"))}}


def use_training(tf: Any, loaded: Any) -> dict[str, Any]:
    x, y = tf.constant([[1.0, 2.0], [-1.0, 0.5], [0.0, 1.0], [2.0, -1.0]]), tf.constant([[1.0], [0.0], [2.0], [-1.0]])
    found: dict[str, Any] = {"before": loaded.model(x), "losses": [loaded.train(x, y)["loss"] for _ in range(3)]}
    found["by_signature"] = loaded.signatures["train"](x=x, y=y)
    found["after"] = [loaded.model(x), loaded.signatures["serving_default"](x=x), loaded.model(x[:1], training=True)]
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(loaded.model(x) - y))
    found["fine"] = tape.gradient(loss, [loaded.layers[0]["w"], loaded.layers[1]["b"]])
    loaded.layers[0]["w"].assign_sub(0.1 * found["fine"][0])
    found["tuned"] = [loaded.model(x), [m.shape.as_list() for m in loaded.moments]]
    return found


def build_recurrent(tf: Any, folder: pathlib.Path) -> Built:
    """Gradients of loops and branches inside of the function, arrays, a loop with a bound."""
    root = tf.Module()
    root.w = tf.Variable([[0.5, -0.3], [0.2, 0.8]], name="w")

    def run(x: Any) -> Any:
        state = tf.zeros([2])
        outputs = tf.TensorArray(tf.float32, size=tf.shape(x)[0], element_shape=[2])
        for t in tf.range(tf.shape(x)[0]):
            state = tf.tanh(tf.linalg.matvec(root.w, state) + x[t])
            if tf.reduce_sum(state) > 0.0:
                state = state * 0.5
            outputs = outputs.write(t, state)
        return outputs.stack()

    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def forward(x: Any) -> Any:
        return run(x)

    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def gradient(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(run(x) ** 2)
        return tape.gradient(y, [x, root.w])

    @tf.function(input_signature=[tf.TensorSpec([])])
    def bounded(x: Any) -> Any:
        return tf.while_loop(lambda i, v: v < 100.0, lambda i, v: (i + 1, v * 2.0), (0, x), maximum_iterations=4)

    root.forward, root.gradient, root.bounded = forward, gradient, bounded
    return root, {}


def use_recurrent(tf: Any, loaded: Any) -> dict[str, Any]:
    x = tf.constant([[1.0, -1.0], [0.5, 0.25], [-0.75, 2.0]])
    found: dict[str, Any] = {"forward": loaded.forward(x), "gradient": loaded.gradient(x)}
    found["bounded"] = [loaded.bounded(tf.constant(v)) for v in (1.0, 60.0, 200.0)]
    v = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(v)
        y = loaded.bounded(v)[1]
    found["slope"] = tape.gradient(y, v)
    return found


def build_gathered(tf: Any, folder: pathlib.Path) -> Built:
    """Rows of an embedding, strings, a map over rows, switches, several dtypes."""
    root = tf.train.Checkpoint(table=tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], name="table"))
    root.flags = {"on": tf.Variable(True, name="on"), "word": tf.Variable("word", name="word")}
    root.big = tf.Variable(tf.constant(2**40 + 1, tf.int64), name="big")
    large = tf.constant([float(i) for i in range(12)], name="large")

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
    def rows(ids: Any) -> Any:
        return tf.map_fn(lambda i: tf.gather(root.table, i) * tf.cast(i + 1, tf.float32), ids, dtype=tf.float32)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string), tf.TensorSpec([], tf.int32)])
    def words(texts: Any, which: Any) -> Any:
        joined = tf.strings.join([texts, tf.fill(tf.shape(texts), root.flags["word"])], "-")
        chosen = tf.switch_case(which, [lambda: large[:2], lambda: large[2:4] * 2.0])
        return joined, tf.strings.length(joined), chosen, root.flags["on"], root.big + 1

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.complex64)])
    def complexes(z: Any) -> Any:
        return tf.abs(z), tf.signal.fft(z)

    @tf.function(input_signature=[tf.TensorSpec([None, 4, 4, 1])])
    def image(x: Any) -> Any:
        x = tf.nn.conv2d(x, tf.reshape(large[:9], [3, 3, 1, 1]), 1, "SAME")
        return tf.nn.max_pool2d(x, 2, 2, "VALID"), tf.image.resize(x, [2, 2])

    root.rows, root.words, root.complexes, root.image = rows, words, complexes, image
    return root, {"signatures": {"rows": rows}}


def use_gathered(tf: Any, loaded: Any) -> dict[str, Any]:
    ids = tf.constant([2, 0, 2])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(loaded.rows(ids) ** 2)
    found = {"rows": loaded.rows(ids), "gradient": tf.convert_to_tensor(tape.gradient(y, loaded.table)),
             "signature": loaded.signatures["rows"](ids=ids)}
    found["words"] = [loaded.words(tf.constant(["a", "bc"]), tf.constant(n)) for n in (0, 1)]
    modulus, transformed = loaded.complexes(tf.constant([[1.0 + 2.0j, 3.0j]], tf.complex64))
    found["complexes"] = [modulus, tf.math.real(transformed), tf.math.imag(transformed)]
    x = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    with tf.GradientTape() as tape:
        tape.watch(x)
        pooled, resized = loaded.image(x)
        y = tf.reduce_sum(pooled) + tf.reduce_sum(resized ** 2)
    found["image"] = [pooled, resized, tape.gradient(y, x)]
    return found


def build_custom(tf: Any, folder: pathlib.Path) -> Built:
    """Custom gradients that use intermediate results, variables, constants, and stand in a branch."""
    root = tf.Module()
    root.v = tf.Variable([2.0, 3.0], name="v")
    factor = tf.constant([1.5, 2.5, 3.5, 4.5, 5.5])

    @tf.custom_gradient
    def scaled(x: Any) -> Any:
        inner = tf.exp(x) * factor[0]

        def grad(dy: Any) -> Any:
            return dy * inner * 10.0 + 17.5  # TensorFlow cannot load gradients that capture constants,

        return inner * 2.0, grad

    @tf.custom_gradient
    def clipped(x: Any) -> Any:
        return x * 3.0, lambda dy: tf.clip_by_value(dy, -0.1, 0.1)  # nor, in branches, any tensors

    @tf.custom_gradient
    def with_variable(x: Any) -> Any:
        y = x * root.v

        def grad(dy: Any, variables: Any = None) -> Any:
            return dy * variables[0] * 100.0, [dy * x * 1000.0]

        return y, grad

    @tf.function(input_signature=[tf.TensorSpec([2])])
    def f(x: Any) -> Any:
        return scaled(x) + 1.0

    @tf.function(input_signature=[tf.TensorSpec([2])])
    def g(x: Any) -> Any:
        return with_variable(x) * 2.0

    @tf.function(input_signature=[tf.TensorSpec([2])])
    def h(x: Any) -> Any:
        return tf.cond(tf.reduce_sum(x) > 0.0, lambda: clipped(x), lambda: -x)

    root.f, root.g, root.h = f, g, h
    return root, {"options": tf.saved_model.SaveOptions(experimental_custom_gradients=True)}


def use_custom(tf: Any, loaded: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in ("f", "g", "h"):
        for sign in (1.0, -1.0):
            x = tf.constant([0.5, 1.0]) * sign
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = getattr(loaded, name)(x)
            found[f"{name}{sign}"] = [y, *tape.gradient(y, [x, loaded.v])]
    return found


def build_optimizer(tf: Any, folder: pathlib.Path) -> Built:
    """An optimizer of 1.x in a function, of which TensorFlow cannot load what it saves itself."""
    root = tf.Module()
    root.v = tf.Variable([1.0, 2.0], name="v")
    root.w = tf.Variable(3.0, name="w")
    optimizer = tf.compat.v1.train.AdamOptimizer(0.1)

    @tf.function(input_signature=[])
    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(root.v**2) * root.w
        optimizer.apply_gradients(zip(tape.gradient(loss, [root.v, root.w]), [root.v, root.w], strict=True))
        return loss

    step()
    root.step = step
    if tf.__name__ == "graphgrad":
        root.optimizer = optimizer
    else:
        root.slots = optimizer.variables()
    return root, {}


def use_optimizer(tf: Any, loaded: Any) -> dict[str, Any]:
    return {"losses": [loaded.step() for _ in range(3)], "v": loaded.v, "w": loaded.w}


def build_options(tf: Any, folder: pathlib.Path) -> Built:
    """A signature with a default; what looks for mistakes is left out; devices and names of functions are kept."""

    class Scale(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            with tf.device("/cpu:0"):
                self.v = tf.Variable(2.0, name="v")

        @tf.function(input_signature=[tf.TensorSpec([], name="x"), tf.TensorSpec([], name="scale")])
        def f(self, x: Any, scale: Any = tf.constant(2.5)) -> Any:  # noqa: B008  # tensors are what is written
            tf.debugging.assert_positive(x)
            return tf.debugging.check_numerics(x, "wrong") * scale * self.v

        @tf.function
        def power(self, x: Any, n: int) -> Any:
            return x**n

    root = Scale()
    root.power(tf.constant(2.0), 2)
    root.power(tf.constant(2.0), 3)
    options = tf.saved_model.SaveOptions(
        function_aliases={"powers": root.power}, experimental_debug_stripper=True, namespace_whitelist=[],
        experimental_variable_policy="save_variable_devices", extra_tags=["extra"], experimental_skip_saver=False)
    return root, {"signatures": root.f, "options": options}


def use_options(tf: Any, loaded: Any) -> dict[str, Any]:
    return {"f": [loaded.f(tf.constant(-3.0)), loaded.f(tf.constant(3.0), tf.constant(1.0))],
            "powers": [loaded.power(tf.constant(3.0), n) for n in (2, 3)],
            "signature": loaded.signatures["serving_default"](x=tf.constant(1.0), scale=tf.constant(4.0))}


CASES: dict[str, tuple[Build, Use]] = {
    "state": (build_state, use_state),
    "training": (build_training, use_training),
    "recurrent": (build_recurrent, use_recurrent),
    "gathered": (build_gathered, use_gathered),
    "custom": (build_custom, use_custom),
    "optimizer": (build_optimizer, use_optimizer),
    "options": (build_options, use_options),
}
# One of the first cases is written by the builder of 1.x, not by `tf.saved_model.save`.
ALL_CASES = {**{name: case for name, case in FIRST_CASES.items() if name not in WRITTEN}, **CASES}


def save_all(folder: pathlib.Path) -> None:
    """Saves all cases here, each in a folder of its own."""
    import graphgrad as tf

    for name, (build, _) in ALL_CASES.items():
        files = folder / "files" / name
        files.mkdir(parents=True)
        value, further = build(tf, files)
        tf.saved_model.save(value, str(folder / name), **further)


if __name__ == "__main__":
    import sys

    save_all(pathlib.Path(sys.argv[1]))
