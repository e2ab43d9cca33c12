"""What programs of `idiom_programs` do that leaves their graph where it is: derivatives, training, ways to run."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from .idiom_models import WIDTH

_Pair = namedtuple("_Pair", ["first", "second"])


class Steps:
    """Steps of a program, and what they have in common.

    Attributes:
      tf, v2, rng: as in `idiom_models.Model`.
      graph, sess: the graph and its session.
      x, y, loss: tensors of the graph.
      variables: what is trained in it; none after freezing.
      pieces: the names of what the model has.
      count: how many names were made.
    """

    tf: Any
    v2: Any
    rng: np.random.Generator
    graph: Any
    sess: Any
    x: Any
    y: Any
    loss: Any
    variables: list[Any]
    pieces: list[str]
    count = 0

    # -- helpers ---------------------------------------------------------------------------

    def begin(self, values: dict[str, Any] | None = None) -> None:
        """Opens a session on the current graph; variables get their initial values, or those by name."""
        tf = self.tf
        self.sess = tf.Session(graph=self.graph)
        self.sess.run(tf.global_variables_initializer())
        for v in tf.global_variables():
            if values and v.op.name in values:
                v.load(values[v.op.name], self.sess)

    def values(self) -> dict[str, Any]:
        found = self.tf.global_variables()
        return dict(zip([v.op.name for v in found], self.sess.run(found), strict=True))

    def feed(self) -> dict[Any, Any]:
        rows = self.x.shape[0]
        n = getattr(rows, "value", rows) or int(self.rng.choice([1, 2, 4, 4, 5]))
        return {self.x: np.round(self.rng.normal(size=(n, WIDTH)), 2).astype(np.float32)}

    def name(self, base: str) -> str:
        self.count += 1
        return f"{base}{self.count}"

    def state(self) -> Any:
        return dict(sorted(self.values().items()))

    def optimizer(self) -> Any:
        tf = self.tf.train
        k = int(self.rng.integers(7))
        return (tf.GradientDescentOptimizer(0.1), tf.MomentumOptimizer(0.1, 0.9, use_nesterov=bool(k % 2)),
                tf.AdamOptimizer(0.01), tf.AdagradOptimizer(0.1), tf.RMSPropOptimizer(0.01, centered=bool(k % 2)),
                tf.AdadeltaOptimizer(0.5), tf.FtrlOptimizer(0.1))[k]

    def begin_new(self, before: set[str]) -> None:
        """Initializes the variables that were not there before."""
        tf = self.tf
        self.sess.run(tf.variables_initializer([v for v in tf.global_variables() if v.op.name not in before]))

    def names(self) -> set[str]:
        return {v.op.name for v in self.tf.global_variables()}

    # -- steps -----------------------------------------------------------------------------

    def gradients(self) -> Any:
        tf, rng = self.tf, self.rng
        options: dict[str, Any] = {}
        if rng.random() < 0.3:
            options["unconnected_gradients"] = "zero"
        if rng.random() < 0.3:
            options["aggregation_method"] = tf.AggregationMethod.EXPERIMENTAL_ACCUMULATE_N
        if rng.random() < 0.2:
            options["colocate_gradients_with_ops"] = True
        if rng.random() < 0.2:
            options["gate_gradients"] = True
        ys: Any = self.y if rng.random() < 0.4 else self.loss
        if rng.random() < 0.3:
            ys, options["grad_ys"] = [self.loss, self.y], [tf.constant(0.5), None]
        found = tf.gradients(ys, [self.x, *self.variables], name=self.name("gradients_of"), **options)
        known = [g for g in found if g is not None]
        missing = [g is None for g in found]  # static shapes are known in more places than in TensorFlow
        return [missing, self.sess.run([tf.convert_to_tensor(g) for g in known], self.feed()) if known else None]

    def second(self) -> Any:
        tf = self.tf
        g = tf.gradients(self.loss, self.x)[0]
        if g is None:
            return None
        h = tf.gradients(tf.reduce_sum(g * tf.stop_gradient(tf.cos(self.x))), self.x)[0]
        return None if h is None else self.sess.run([g, h], self.feed())

    def train(self) -> Any:
        tf, before = self.tf, self.names()
        if not self.variables:
            return None
        step = tf.train.get_or_create_global_step()
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        with tf.control_dependencies(updates):
            op = self.optimizer().minimize(self.loss, global_step=step, name=self.name("train"))
        self.begin_new(before)
        for _ in range(int(self.rng.integers(1, 4))):
            self.sess.run(op, self.feed())
        return self.state()

    def clipped(self) -> Any:
        tf, before = self.tf, self.names()
        if not self.variables:
            return None
        made = self.optimizer()
        pairs = [(g, v) for g, v in made.compute_gradients(self.loss, self.variables) if g is not None]
        clipped, norm = tf.clip_by_global_norm([g for g, _ in pairs], 0.7)
        op = made.apply_gradients(zip(clipped, [v for _, v in pairs], strict=True))
        self.begin_new(before)
        norms = [self.sess.run([norm, op], self.feed())[0] for _ in range(2)]
        return [norms, self.state()]

    def scheduled(self) -> Any:
        tf, before = self.tf, self.names()
        if not self.variables:
            return None
        step = tf.train.get_or_create_global_step()
        rate = (tf.train.exponential_decay(0.1, step, 2, 0.5, staircase=True),
                tf.train.piecewise_constant(step, [1, 3], [0.1, 0.05, 0.01]),
                tf.train.polynomial_decay(0.1, step, 4), tf.train.cosine_decay(0.1, step, 5))[int(self.rng.integers(4))]
        op = tf.train.GradientDescentOptimizer(rate).minimize(self.loss, step, var_list=self.variables[:2])
        self.begin_new(before)
        rates = [self.sess.run([rate, op], self.feed())[0] for _ in range(3)]
        return [rates, self.state()]

    def accumulated(self) -> Any:
        tf, before = self.tf, self.names()
        pairs = [(g, v) for g, v in zip(tf.gradients(self.loss, self.variables), self.variables, strict=True)
                 if g is not None]
        with tf.variable_scope(self.name("sums")):
            sums = [tf.Variable(tf.zeros_like(v), trainable=False, use_resource=True) for _, v in pairs]
        add = tf.group(*[s.assign_add(tf.convert_to_tensor(g)) for s, (g, _) in zip(sums, pairs, strict=True)])
        done = tf.group(*[v.assign_sub(0.1 * s) for s, (_, v) in zip(sums, pairs, strict=True)])
        self.begin_new(before)
        for _ in range(2):
            self.sess.run(add, self.feed())
        self.sess.run(done)
        return self.state()

    def waiting(self) -> Any:
        tf, before = self.tf, self.names()
        n = tf.get_variable(self.name("n"), [], tf.float32, tf.zeros_initializer(), use_resource=True, trainable=False)
        with tf.control_dependencies([n.assign_add(1.0)]):
            y = tf.identity(self.y) * n.read_value()
            again = tf.gradients(y, self.x)
        self.begin_new(before)
        return [self.sess.run([y, *[g for g in again if g is not None]], self.feed()), self.sess.run(n)]

    def within(self) -> Any:
        """Gradients that are asked for inside of a branch or a loop."""
        tf = self.tf
        if self.rng.random() < 0.5:
            y = tf.cond(self.loss > 0.1, lambda: tf.gradients(self.loss, self.x, unconnected_gradients="zero")[0],
                        lambda: tf.zeros_like(self.x))
        else:
            def body(i: Any, t: Any) -> Any:
                g = tf.gradients(tf.reduce_sum(tf.tanh(t * self.loss)), t)[0]
                return i + 1, t - 0.1 * g

            y = tf.while_loop(lambda i, t: i < 2, body, (0, self.x))[1]
        outer = tf.gradients(y, self.x)[0]
        return self.sess.run([y, *([] if outer is None else [outer])], self.feed())

    def averages(self) -> Any:
        tf, before = self.tf, self.names()
        if not self.variables:
            return None
        ema = tf.train.ExponentialMovingAverage(0.8, num_updates=None if self.rng.random() < 0.5 else 3,
                                                name=self.name("ema"))
        op = ema.apply(self.variables[:2])
        self.begin_new(before)
        self.sess.run(op)
        self.variables[0].load(np.ones(self.variables[0].shape.as_list(), np.float32), self.sess)
        self.sess.run(op)
        kept = sorted(ema.variables_to_restore())
        return [kept, self.sess.run([ema.average(v) for v in self.variables[:2]])]

    def fetches(self) -> Any:
        found = self.sess.run({"a": [self.y, (self.loss,)], "b": _Pair(self.x, {"c": self.loss.name}), "d": []},
                              self.feed())
        return [found["a"], type(found["b"]).__name__, list(found["b"]), found["d"]]

    def callable(self) -> Any:
        call = self.sess.make_callable([self.loss, self.y], feed_list=[self.x])
        return [call(next(iter(self.feed().values()))) for _ in range(3)]

    def parts(self) -> Any:
        tf = self.tf
        more = tf.placeholder(tf.float32, [])
        z = self.loss * more
        handle = self.sess.partial_run_setup([self.loss, z], [self.x, more])
        return [self.sess.partial_run(handle, self.loss, self.feed()), self.sess.partial_run(handle, z, {more: 2.0})]

    def iterator(self) -> Any:
        tf = self.tf
        data = np.round(self.rng.normal(size=(6, WIDTH)), 2).astype(np.float32)
        made = self.v2.data.Dataset.from_tensor_slices(data).shuffle(6, seed=3).repeat(2).batch(4)
        one, two = tf.data.make_initializable_iterator(made), tf.data.make_initializable_iterator(made.map(tf.negative))
        handle = tf.placeholder(tf.string, [])
        shapes = tf.data.get_output_shapes(made)
        both = tf.data.Iterator.from_string_handle(handle, tf.data.get_output_types(made), shapes)
        rows = both.get_next()
        self.sess.run([one.initializer, two.initializer])
        keys = self.sess.run([one.string_handle(), two.string_handle()])
        found: list[Any] = []
        for k in (0, 1, 0, 0, 0):
            try:
                a = self.sess.run(rows, {handle: keys[k]})
                found.append(a if a.shape[0] != 4 else self.sess.run(self.loss, {self.x: a}))
            except tf.errors.OutOfRangeError as e:
                found.append(type(e).__name__)
        return found

    def prefetched(self) -> Any:
        """A model on what an iterator gives, which shares the variables."""
        tf = self.tf
        rows = tf.data.make_one_shot_iterator(self.v2.data.Dataset.from_tensor_slices(
            np.linspace(-1, 1, 8 * WIDTH).reshape(8, WIDTH).astype(np.float32)).batch(4).repeat()).get_next()
        w = self.variables[0] if self.variables else tf.constant(np.ones(WIDTH, np.float32))
        y = tf.reduce_sum(rows, 0) * tf.reduce_sum(w)
        g = tf.gradients(y, [w])
        return [self.sess.run([y, *map(tf.convert_to_tensor, g)]) for _ in range(3)]

    def stopped(self) -> Any:
        tf = self.tf
        g = tf.gradients(self.loss, [self.x, self.y], stop_gradients=[self.y])
        return [g[0] is None, self.sess.run([t for t in g if t is not None], self.feed())]

    def intermediate(self) -> Any:
        tf = self.tf
        inside = [o.outputs[0] for o in self.graph.get_operations()
                  if o.name.endswith("/out") and o.outputs and not o.name.startswith(("im/", "u"))]
        if not inside:
            return None
        t = inside[int(self.rng.integers(len(inside)))]
        g = tf.gradients(self.loss, t)[0]
        if g is None:
            return None
        fed = np.full((4, WIDTH), 0.3, np.float32)
        return [self.sess.run(g, self.feed()), self.sess.run(g, {**self.feed(), t: fed} if not self.x.shape[0] else
                                                             self.feed())]

    def looped(self) -> Any:
        tf = self.tf
        g = tf.map_fn(lambda k: tf.reduce_sum(tf.gradients(self.y * k, self.x)[0]), tf.constant([1.0, 2.0]))
        return self.sess.run(g, self.feed())
