"""What programs of `module_programs` do with their module: derivatives, training, functions, saving and loading."""

from __future__ import annotations

import copy
import os
from typing import Any

import numpy as np

from .module_models import WIDTH, make


class ModuleSteps:
    """Steps of a program, and what they have in common.

    Attributes:
      tf: the module of TensorFlow 2, or graphgrad's.
      rng: draws the program.
      net: the model.
      folder: where the program may write.
      count: how many files were written.
    """

    tf: Any
    rng: np.random.Generator
    net: Any
    folder: str
    count = 0

    # -- helpers ---------------------------------------------------------------------------

    def batch(self, rows: int | None = None) -> Any:
        n = rows or int(self.rng.choice([1, 2, 4, 4, 5]))
        return self.tf.constant(np.round(self.rng.normal(size=(n, WIDTH)), 2).astype(np.float32))

    def loss(self, x: Any, training: bool = True) -> Any:
        tf = self.tf
        y = self.net(x, training=training)
        return tf.reduce_mean(tf.square(y - 0.2 * x)) + 0.1 * tf.reduce_sum(y[:1])

    def path(self, base: str) -> str:
        self.count += 1
        return os.path.join(self.folder, f"{base}{self.count}")

    def state(self) -> Any:
        return [v.numpy() for v in self.net.variables]

    def function(self, f: Any) -> Any:
        """`f`, in one of the ways to trace it, or as it is."""
        tf, way = self.tf, int(self.rng.integers(5))
        if way == 0:
            return f
        if way == 1:
            return tf.function(f, input_signature=[tf.TensorSpec([None, WIDTH], tf.float32)])
        if way == 2:
            return tf.function(f, reduce_retracing=True)
        if way == 3:
            return tf.function(f).get_concrete_function(tf.TensorSpec([None, WIDTH], tf.float32, name="x"))
        return tf.function(f)

    def given(self, gradients: Any) -> Any:
        """Gradients, None as text, slices as dense."""
        tf = self.tf
        return [None if g is None else tf.convert_to_tensor(g).numpy() for g in tf.nest.flatten(gradients)]

    # -- derivatives -----------------------------------------------------------------------

    def gradient(self) -> Any:
        tf, net = self.tf, self.net
        call = self.function(self.loss) if self.rng.random() < 0.6 else self.loss
        found = []
        for _ in range(2):
            x = self.batch()
            with tf.GradientTape() as tape:
                tape.watch(x)
                value = call(x)
            wanted = {"x": x, "net": list(net.trainable_variables)}
            found.append([value.numpy(), self.given(tape.gradient(value, wanted))])
        return found

    def gradient_inside(self) -> Any:
        tf, net = self.tf, self.net
        zero = self.rng.choice([tf.UnconnectedGradients.ZERO, tf.UnconnectedGradients.NONE])

        def f(x: Any) -> Any:
            with tf.GradientTape(persistent=bool(self.count % 2)) as tape:
                tape.watch(x)
                value = self.loss(x)
            return value, [g for g in tape.gradient(value, [x, *net.trainable_variables], unconnected_gradients=zero)
                           if g is not None]

        call = self.function(f)
        return [self.given(call(self.batch())) for _ in range(2)]

    def symbolic(self) -> Any:
        tf, net = self.tf, self.net

        @tf.function
        def f(x: Any) -> Any:
            value = self.loss(x)
            found = tf.gradients(value, [x, *net.trainable_variables])
            return [tf.convert_to_tensor(g) for g in found if g is not None]

        return [self.given(f(self.batch())) for _ in range(2)]

    def persistent(self) -> Any:
        tf, x = self.tf, self.batch()
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = self.net(x)
            value = tf.reduce_sum(tf.sin(y))
            with tape.stop_recording():
                untouched = tf.reduce_sum(y * y)
        upstream = tf.constant(np.linspace(-1, 1, y.shape[0] * WIDTH).reshape(y.shape), tf.float32)
        first = tape.gradient(value, [x, y])
        return self.given([*first, *tape.gradient(y, [x, *self.net.trainable_variables], output_gradients=upstream),
                           tape.gradient(untouched, x)])

    def jacobian(self) -> Any:
        tf, x = self.tf, self.batch(2)
        pfor = bool(self.rng.integers(2))
        call = self.function(lambda t: self.net(t)) if self.rng.random() < 0.5 else self.net
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = call(x)
        found = [tape.jacobian(y, x, experimental_use_pfor=pfor), tape.batch_jacobian(y, x, experimental_use_pfor=pfor)]
        if self.net.trainable_variables:
            found.append(tape.jacobian(y, self.net.trainable_variables[0], experimental_use_pfor=pfor))
        return self.given(found)

    def second(self) -> Any:
        tf, net = self.tf, self.net

        def f(x: Any) -> Any:
            with tf.GradientTape() as outer:
                outer.watch(x)
                with tf.GradientTape() as inner:
                    inner.watch(x)
                    value = self.loss(x)
                slope = inner.gradient(value, x)
                penalty = tf.reduce_sum(tf.square(slope)) + value
            found = outer.gradient(penalty, [x, *net.trainable_variables])
            return [penalty, *[tf.convert_to_tensor(g) for g in found if g is not None]]

        call = self.function(f)
        return [self.given(call(self.batch())) for _ in range(2)]

    def forward(self) -> Any:
        tf, x = self.tf, self.batch()
        tangent = self.batch(x.shape[0])
        with tf.autodiff.ForwardAccumulator(x, tangent) as accumulator:
            y = self.net(x)
        found = [accumulator.jvp(y, unconnected_gradients=tf.UnconnectedGradients.ZERO)]
        with tf.autodiff.ForwardAccumulator(x, tangent) as accumulator:
            with tf.GradientTape() as tape:
                tape.watch(x)
                value = self.loss(x)
            slope = tape.gradient(value, x)
        return self.given([*found, accumulator.jvp(slope)])

    def unwatched(self) -> Any:
        tf, x = self.tf, self.batch()
        some = self.net.trainable_variables[:2]
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            for v in some:
                tape.watch(v)
            value = self.loss(x)
        return [[v.name for v in tape.watched_variables()], self.given(tape.gradient(value, some))]

    # -- training --------------------------------------------------------------------------

    def descend(self) -> Any:
        tf, net = self.tf, self.net

        def step(x: Any) -> Any:
            with tf.GradientTape() as tape:
                value = self.loss(x)
            variables = net.trainable_variables
            for v, g in zip(variables, tape.gradient(value, variables), strict=True):
                if g is not None:
                    v.assign_sub(0.05 * tf.convert_to_tensor(g))
            return value

        call = self.function(step)
        return [[call(self.batch()).numpy() for _ in range(3)], self.state()]

    def optimize(self) -> Any:
        tf, net, v1 = self.tf, self.net, self.tf.compat.v1.train
        optimizer = (v1.GradientDescentOptimizer(0.05), v1.AdamOptimizer(0.02), v1.MomentumOptimizer(0.05, 0.9),
                     v1.RMSPropOptimizer(0.01), v1.AdagradOptimizer(0.1))[int(self.rng.integers(5))]

        def step(x: Any) -> Any:
            with tf.GradientTape() as tape:
                value = self.loss(x)
            pairs = zip(tape.gradient(value, net.trainable_variables), net.trainable_variables, strict=True)
            pairs = [(g, v) for g, v in pairs if g is not None]
            if pairs:
                gradients, norm = tf.clip_by_global_norm([g for g, _ in pairs], 1.0)
                optimizer.apply_gradients(zip(gradients, [v for _, v in pairs], strict=True))
                return value, norm
            return value, value

        call = self.function(step)
        losses = [self.given(call(self.batch())) for _ in range(3)]
        return [losses, self.state(), len(optimizer.variables())]

    def accumulate(self) -> Any:
        tf, net = self.tf, self.net
        sums = [tf.Variable(tf.zeros_like(v), trainable=False) for v in net.trainable_variables]
        data = tf.data.Dataset.from_tensor_slices(np.round(self.rng.normal(size=(6, WIDTH)), 2).astype(np.float32))

        @tf.function
        def epoch(data: Any) -> Any:
            total = 0.0
            for x in data:
                with tf.GradientTape() as tape:
                    value = self.loss(x)
                for s, g in zip(sums, tape.gradient(value, net.trainable_variables), strict=True):
                    if g is not None:
                        s.assign_add(g)
                total += value
            for s, v in zip(sums, net.trainable_variables, strict=True):
                v.assign_sub(0.02 * s)
                s.assign(tf.zeros_like(s))
            return total

        return [[epoch(data.batch(2)).numpy(), epoch(data.batch(4)).numpy()], self.state()]

    def loop(self) -> Any:
        """Training as a loop of the graph."""
        tf, net, x = self.tf, self.net, self.batch()

        @tf.function
        def train(x: Any, count: Any) -> Any:
            last = tf.constant(0.0)
            for _ in tf.range(count):
                with tf.GradientTape() as tape:
                    last = self.loss(x)
                for v, g in zip(net.trainable_variables, tape.gradient(last, net.trainable_variables), strict=True):
                    if g is not None:
                        v.assign_sub(0.05 * tf.convert_to_tensor(g))
            return last

        return [train(x, tf.constant(3)).numpy(), train(x, tf.constant(2)).numpy(), self.state()]

    def meta(self) -> Any:
        """One step on the data, differentiated: the loss after it, by the weights before."""
        tf, x = self.tf, self.batch()
        w = self.batch(WIDTH)

        def f(x: Any) -> Any:
            with tf.GradientTape() as outer:
                outer.watch(w)
                with tf.GradientTape() as inner:
                    inner.watch(w)
                    value = tf.reduce_mean(tf.square(self.net(x @ w)))
                moved = w - 0.3 * inner.gradient(value, w)
                after = tf.reduce_mean(tf.square(self.net(x @ moved) - 0.1))
            return after, outer.gradient(after, w)

        return self.given(self.function(f)(x))

    def averaged(self) -> Any:
        tf, net = self.tf, self.net
        average = tf.train.ExponentialMovingAverage(0.8)

        def step(x: Any) -> Any:
            for v in net.trainable_variables:
                v.assign_add(0.1 * tf.reduce_mean(x) * tf.ones_like(v))
            average.apply(net.trainable_variables)

        step(self.batch())
        call = tf.function(step)
        call(self.batch())
        return self.given([average.average(v) for v in net.trainable_variables])

    # -- saving ----------------------------------------------------------------------------

    def checkpoint(self) -> Any:
        tf, net = self.tf, self.net
        step = tf.Variable(3, dtype=tf.int64)
        saved = tf.train.Checkpoint(net=net, step=step)
        manager = tf.train.CheckpointManager(saved, self.path("checkpoints"), max_to_keep=2)
        path = manager.save()
        before = self.state()
        for v in net.variables:
            v.assign(tf.zeros_like(v))
        step.assign(0)
        status = saved.restore(manager.latest_checkpoint)
        status.assert_consumed()
        listed = [(name, list(shape)) for name, shape in tf.train.list_variables(path)]
        return [before, self.state(), step.numpy(), listed, os.path.basename(path)]

    def another(self) -> Any:
        """Restores into a new module, some of whose variables do not exist yet or are of other names."""
        tf = self.tf
        path = tf.train.Checkpoint(net=self.net).save(self.path("other"))
        fresh = make(tf, np.random.default_rng(5), self.net.names)
        status = tf.train.Checkpoint(net=fresh).restore(path)
        x = self.batch()
        y = fresh(x)
        status.assert_existing_objects_matched()
        return [y.numpy(), [v.numpy() for v in fresh.variables]]

    def export(self) -> Any:
        """Saves as a SavedModel, loads it, differentiates and trains what was loaded."""
        tf, net, path = self.tf, self.net, self.path("exported")
        spec = tf.TensorSpec([None, WIDTH], tf.float32, name="x")
        net.predict = tf.function(lambda x: {"y": net(x)}, input_signature=[spec])
        net.train = tf.function(lambda x: self.loss(x), input_signature=[spec])
        tf.saved_model.save(net, path, signatures={"predict": net.predict})
        loaded = tf.saved_model.load(path)
        del net.predict, net.train
        x = self.batch()
        with tf.GradientTape() as tape:
            tape.watch(x)
            value = loaded.train(x)
        variables = [*loaded.weights, *[loaded.biases[k] for k in sorted(loaded.biases)]]
        gradients = tape.gradient(value, [x, *variables])
        for v, g in zip(variables, gradients[1:], strict=True):
            if g is not None:
                v.assign_sub(0.1 * tf.convert_to_tensor(g))
        after = loaded.signatures["predict"](x=x)
        return [value.numpy(), self.given(gradients), after["y"].numpy(), [v.numpy() for v in variables],
                sorted(loaded.signatures)]

    def frozen(self) -> Any:
        tf = self.tf
        from_to = tf.function(lambda x: self.net(x)).get_concrete_function(tf.TensorSpec([None, WIDTH], tf.float32))
        convert = self.convert()
        made = convert(from_to)
        x = self.batch()
        return [self.given(made(x)), len(made.captured_inputs)]

    def convert(self) -> Any:
        if self.tf.__name__ == "tensorflow":
            from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2
        else:
            from graphgrad.extras.import_v1.frozen_functions import convert_variables_to_constants_v2
        return convert_variables_to_constants_v2

    def wrapped(self) -> Any:
        """A pruned graph of 1.x around the module."""
        tf = self.tf
        v1 = tf.compat.v1

        def build(x: Any) -> Any:
            y = tf.identity(self.net(x), name="y")
            return tf.identity(v1.gradients(tf.reduce_sum(y * y), x)[0], name="slope")

        made = v1.wrap_function(build, [tf.TensorSpec([None, WIDTH], tf.float32)])
        pruned = made.prune(made.inputs[0], [made.graph.get_tensor_by_name("y:0"), made.outputs[0]])
        return self.given(pruned(self.batch()))

    def copied(self) -> Any:
        x = self.batch()
        other = copy.deepcopy(self.net)
        for v in other.trainable_variables:
            v.assign(v * 0.5)
        return [self.net(x).numpy(), other(x).numpy(), len(other.variables)]

    # -- functions -------------------------------------------------------------------------

    def eagerly(self) -> Any:
        tf, x = self.tf, self.batch()
        f = tf.function(self.loss)
        tf.config.run_functions_eagerly(True)
        try:
            first = f(x)
        finally:
            tf.config.run_functions_eagerly(False)
        return [first.numpy(), f(x).numpy()]

    def traces(self) -> Any:
        tf, log = self.tf, []

        @tf.function
        def f(x: Any, scale: Any, names: Any = ("a",)) -> Any:
            log.append([str(x.shape), isinstance(scale, float), len(names)])
            return self.net(x) * scale

        found = [f(self.batch(2), 2.0), f(self.batch(2), 2.0), f(self.batch(4), 2.0),
                 f(self.batch(2), tf.constant(3.0)), f(self.batch(2), tf.constant(4.0)),
                 f(self.batch(2), 2.0, names=("a", "b"))]
        return [[t.numpy() for t in found], log]

    def structured(self) -> Any:
        tf = self.tf

        @tf.function
        def f(inputs: Any, *, scale: Any) -> Any:
            a, b = inputs["a"], inputs["b"][0]
            return {"sum": a + b, "pair": (self.net(a) * scale, [b, None])}

        x = self.batch(3)
        with tf.GradientTape() as tape:
            tape.watch(x)
            found = f({"a": x, "b": (x * 2.0,)}, scale=tf.constant(0.5))
            value = tf.reduce_sum(found["pair"][0]) + tf.reduce_sum(found["sum"] * found["pair"][1][0])
        return [sorted(found), found["pair"][1][1] is None, tape.gradient(value, x).numpy()]

    def data(self) -> Any:
        tf = self.tf
        rows = np.round(self.rng.normal(size=(7, WIDTH)), 2).astype(np.float32)
        data = tf.data.Dataset.from_tensor_slices({"x": rows, "k": np.arange(7)})
        data = data.filter(lambda e: e["k"] % 3 != 1).map(lambda e: e["x"] * 2.0).batch(2).prefetch(1)

        @tf.function
        def total(data: Any) -> Any:
            found = tf.constant(0.0)
            for x in data:
                found += self.loss(x)
            return found

        return [total(data).numpy(), [self.net(x).numpy() for x in data.take(2)]]

    def host_loss(self) -> Any:
        tf, x = self.tf, self.batch()

        def f(x: Any) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.py_function(lambda t: self.net(t) * 2.0, [x], tf.float32)
                value = tf.reduce_sum(tf.square(y))
            return value, tape.gradient(value, x)

        return self.given(self.function(f)(x))

    def wrong(self) -> Any:
        """A mistake, and the program goes on."""
        tf, x = self.tf, self.batch()
        which = int(self.rng.integers(5))
        try:
            if which == 0:
                tf.function(lambda t: self.net(t) @ tf.zeros([WIDTH + 1, 2]))(x)
            elif which == 1:
                self.net.trainable_variables[0].assign(tf.zeros([7]))
            elif which == 2:
                tf.function(lambda t: self.net(t), input_signature=[tf.TensorSpec([2], tf.float32)])(x)
            elif which == 3:
                with tf.GradientTape() as tape:
                    value = self.loss(x)
                tape.gradient(value, x)
                tape.gradient(value, x)
            else:
                tf.debugging.assert_less(self.net(x), -100.0)
        except Exception as e:
            name = type(e).__name__
        else:
            name = "none"
        return [which, name, self.net(x).numpy()]
