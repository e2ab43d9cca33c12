"""Random programs of 1.x in the idioms of public ones: one thing is done to a graph after the other.

A model (`idiom_models`) is built, and then trained, differentiated, exported and imported, frozen, imported with inputs
replaced or with gradients overridden, saved and restored in part, averaged, fed by iterators, run with hooks ... in an
order that is drawn; each step goes on with what the one before left. `run` gives what all steps gave: numbers, names,
classes of errors.
"""

from __future__ import annotations

import os
import tempfile
from typing import Any

import numpy as np

from .idiom_models import WIDTH, Model, register
from .idiom_steps import Steps

_STEPS = ("gradients", "gradients", "second", "train", "train", "restore", "partly", "meta", "graphdef", "freeze",
          "averages", "fetches", "callable", "parts", "iterator", "summaries", "assigned", "saved", "more", "more",
          "under", "waiting", "within", "copied", "clipped", "scheduled", "metrics", "queue", "wrong", "stopped",
          "intermediate", "looped", "collections", "prefetched", "pruned", "clone", "initialized", "accumulated")
_LAST = ("monitored", "supervised", "none", "none")
_registered: list[Any] = []
# Those of the suite; 13, 17, 21, 77 and 273 found defects: shapes, frozen loops, partitioned slots, overridden
# gradients in branches that are read, loops that are written again.
SEEDS = (*range(16), 17, 20, 21, 35, 53, 77, 273)


class _Script(Steps):
    """A program.

    Args:
      tf, v2: the modules of TensorFlow 1 and 2, or graphgrad's.
      rng: draws it.
      folder: where it may write.
    """

    def __init__(self, tf: Any, v2: Any, rng: np.random.Generator, folder: str):
        self.tf, self.v2, self.rng, self.folder = tf, v2, rng, folder
        self.graph = tf.Graph()
        with self.graph.as_default():
            tf.set_random_seed(int(rng.integers(1000)))
            model = Model(tf, v2, rng, "net")
            model.grow(int(rng.integers(1, 5)))
            model.close()
            self.model: Any = model
            self.x, self.y, self.loss = model.x, model.y, model.loss
            self.pieces = model.pieces
            self.variables = tf.trainable_variables()
            self.begin()

    def moved(self, graph: Any, x: str, y: str, loss: str, values: dict[str, Any]) -> None:
        """Goes on in another graph, which is the default one now."""
        self.graph = graph
        self.x, self.y, self.loss = (graph.get_tensor_by_name(n) for n in (x, y, loss))
        self.variables = self.tf.trainable_variables()
        self.begin(values)

    # -- steps -----------------------------------------------------------------------------

    def restore(self) -> Any:
        saver = self.tf.train.Saver(max_to_keep=2)
        path = saver.save(self.sess, os.path.join(self.folder, "m"), global_step=self.count)
        for v in self.variables[:2]:
            v.load(np.zeros(v.shape.as_list(), np.float32), self.sess)
        zeros = self.sess.run(self.loss, self.feed())
        self.sess.close()
        self.sess = self.tf.Session(graph=self.graph)
        saver.restore(self.sess, path)
        found = self.tf.train.list_variables(path)
        return [zeros, found, self.state(), os.path.basename(self.tf.train.latest_checkpoint(self.folder))]

    def partly(self) -> Any:
        tf = self.tf
        if not self.variables:
            return None
        renamed = {f"old/{v.op.name}": v for v in self.variables[:2]}
        saver = tf.train.Saver(renamed)
        path = saver.save(self.sess, os.path.join(self.folder, "part"), write_meta_graph=False)
        for v in self.variables[:2]:
            v.load(np.zeros(v.shape.as_list(), np.float32), self.sess)
        saver.restore(self.sess, path)
        reader = tf.train.load_checkpoint(path)
        return [sorted(reader.get_variable_to_shape_map()), self.state()]

    def meta(self) -> Any:
        tf, values = self.tf, self.values()
        scope = self.rng.choice(["", "", "again"])
        kept = [t.name for t in (self.x, self.y, self.loss)]
        graph_def = tf.train.export_meta_graph(graph=self.graph, clear_devices=bool(self.rng.integers(2)))
        with tf.Graph().as_default() as graph:
            tf.set_random_seed(5)
            tf.train.import_meta_graph(graph_def, import_scope=scope or None)
        self.next = graph
        prefix = f"{scope}/" if scope else ""

        def go() -> Any:
            self.moved(graph, *[prefix + n for n in kept], {prefix + n: v for n, v in values.items()})
            return [sorted(v.op.name for v in tf.global_variables()), [len(tf.get_collection(k)) for k in (
                "trainable_variables", "variables", "update_ops", "regularization_losses")]]

        return go

    def graphdef(self) -> Any:
        tf, values = self.tf, self.values()
        kept = [self.y.name, self.loss.name]
        definition = self.graph.as_graph_def()
        init = [v.initializer.name for v in tf.global_variables()]
        old = self.x.name
        graph = tf.Graph()

        def go() -> Any:
            tf.set_random_seed(6)
            x = tf.placeholder(tf.float32, [None, WIDTH], name="input")
            shifted = x * 0.9 if self.rng.random() < 0.5 else x
            y, loss, *ops = tf.import_graph_def(definition, input_map={old: shifted}, name="im",
                                                return_elements=[*kept, *init])
            self.graph, self.x, self.y, self.loss, self.variables = graph, x, y, loss, []
            self.sess = tf.Session(graph=graph)
            self.sess.run(ops)
            return [sorted(values), self.y.name]

        self.next = graph
        return go

    def freeze(self) -> Any:
        tf = self.tf
        kept = [self.y.op.name, self.loss.op.name]
        definition = tf.graph_util.convert_variables_to_constants(self.sess, self.graph.as_graph_def(), kept)
        if self.rng.random() < 0.5:
            definition = tf.graph_util.remove_training_nodes(definition, protected_nodes=kept)
        old, graph = self.x.name, tf.Graph()

        def go() -> Any:
            tf.set_random_seed(7)
            x = tf.placeholder(tf.float32, [None, WIDTH], name="input")
            y, loss = tf.import_graph_def(definition, input_map={old: x}, name="frozen",
                                          return_elements=[f"{n}:0" for n in kept])
            self.graph, self.x, self.y, self.loss, self.variables = graph, x, y, loss, []
            self.sess = tf.Session(graph=graph)
            return self.sess.run(self.loss, self.feed())

        self.next = graph
        return go

    def under(self) -> Any:
        """The graph is imported into itself, with gradients overridden."""
        tf = self.tf
        # What TensorFlow writes of a vectorized map is no map any more, and what is written here of a call is no call.
        if {"mapped", "function", "taped"} & set(self.pieces):
            return None
        definition = self.graph.as_graph_def()
        x = tf.placeholder(tf.float32, [None, WIDTH])
        with self.graph.gradient_override_map({"Tanh": "IdiomTanh", "Sin": "IdiomTanh"}):
            y, = tf.import_graph_def(definition, {self.x.name: x}, [self.y.name], name=self.name("u"))
        init = [o for o in self.graph.get_operations()
                if o.name.startswith(f"u{self.count}/") and o.type == "AssignVariableOp" and "Assign" in o.name]
        self.sess.run([o for o in init if "initial" in o.inputs[1].name.lower()])
        g = tf.gradients(y, x)[0]
        a = np.ones((4, WIDTH), np.float32) * 0.4
        return [len(init) > 0, g is None or self.sess.run(g, {x: a})]

    def summaries(self) -> Any:
        tf = self.tf
        mine = self.name("s")
        with tf.name_scope(mine):
            tf.summary.scalar("loss", self.loss, collections=[mine])
            tf.summary.histogram("y", self.y, collections=[mine])
        text = self.sess.run(tf.summary.merge_all(mine), self.feed())
        parsed = tf.Summary.FromString(text)
        return [[v.tag for v in parsed.value], parsed.value[0].simple_value, parsed.value[1].histo.num,
                parsed.value[1].histo.sum]

    def assigned(self) -> Any:
        tf = self.tf
        if not self.variables:
            return None
        v = self.variables[int(self.rng.integers(len(self.variables)))]
        zero = tf.zeros(v.shape)
        op = (lambda: v.assign(zero + 0.1), lambda: v.assign_add(zero + 0.2), lambda: tf.assign_sub(v, zero + 0.1),
              lambda: tf.scatter_update(v, [0], tf.zeros([1, *v.shape[1:]])))[int(self.rng.integers(4))]()
        with tf.control_dependencies([op]):
            after = v.read_value()
        return [self.sess.run(after), self.sess.run([self.loss, v], self.feed()), v.eval(self.sess)]

    def saved(self) -> Any:
        tf, values = self.tf, self.values()
        place = os.path.join(self.folder, self.name("sm"))
        tf.saved_model.simple_save(self.sess, place, {"x": self.x}, {"y": self.y, "loss": self.loss})
        graph = tf.Graph()

        def go() -> Any:
            self.graph = graph
            self.sess = tf.Session(graph=graph)
            meta = tf.saved_model.load(self.sess, ["serve"], place)
            signature = meta.signature_def["serving_default"]
            self.x = graph.get_tensor_by_name(signature.inputs["x"].name)
            self.y, self.loss = (graph.get_tensor_by_name(signature.outputs[k].name) for k in ("y", "loss"))
            self.variables = tf.trainable_variables()
            return [sorted(signature.outputs), sorted(values), self.state()]

        self.next = graph
        return go

    def more(self) -> Any:
        """The model grows, from where it ends."""
        tf, before = self.tf, self.names()
        model = Model.__new__(Model)
        model.tf, model.v2, model.rng, model.scope = tf, self.v2, self.rng, self.name("more")
        model.number, model.pieces, model.extra, model.x, model.y = 0, [], [], self.x, self.y
        with tf.variable_scope(model.scope):
            model.counter = tf.get_variable("counter", [], tf.int32, tf.zeros_initializer(), trainable=False,
                                            use_resource=True)
        model.grow(int(self.rng.integers(1, 3)))
        model.close()
        self.y, self.loss, self.pieces = model.y, model.loss, [*self.pieces, *model.pieces]
        self.variables = tf.trainable_variables()
        self.begin_new(before)
        return [model.pieces, self.sess.run([self.y, self.loss], self.feed())]

    def copied(self) -> Any:
        with self.tf.Session(graph=self.graph) as other:
            other.run(self.tf.global_variables_initializer())
            a, b = other.run(self.loss, self.feed()), self.sess.run(self.loss, self.feed())
        return [a, b]

    def metrics(self) -> Any:
        tf = self.tf
        value, update = tf.metrics.mean(self.y, name=self.name("mean"))
        self.sess.run(tf.local_variables_initializer())
        found = [self.sess.run(update, self.feed()) for _ in range(2)]
        return [found, self.sess.run(value)]

    def queue(self) -> Any:
        tf = self.tf
        queue = tf.FIFOQueue(5, [tf.float32], [[WIDTH]])
        put = queue.enqueue_many([self.y[:2]])
        got = queue.dequeue() * 2.0
        self.sess.run(put, self.feed())
        return [self.sess.run([got, queue.size()])[0], self.sess.run(queue.size())]

    def wrong(self) -> Any:
        tf, found = self.tf, []
        calls = (lambda: self.sess.run(self.loss), lambda: self.sess.run("nothing:0"), lambda: self.sess.run(None),
                 lambda: self.sess.run(self.y, {self.x: np.ones((2, 7))}), lambda: tf.gradients([], self.x),
                 lambda: self.sess.run(tf.Graph().as_graph_def()), lambda: self.sess.run(self.y, {"x": 1.0}),
                 lambda: tf.gradients(self.loss, self.x, grad_ys=[None, None]), lambda: float(self.loss),
                 lambda: self.sess.run(self.y, {self.x: [["a"] * 3]}), lambda: bool(self.y), lambda: iter(self.loss),
                 lambda: tf.gradients(self.loss, self.x, grad_ys=[tf.constant(1)]), lambda: self.y.eval(),
                 lambda: tf.import_graph_def(self.graph.as_graph_def(), {"no": self.x}, name="no"),
                 lambda: tf.train.Saver([]), lambda: tf.matmul(self.x, self.x),
                 lambda: tf.get_variable(self.name("late"), [2], initializer=tf.ones_initializer()).eval(self.sess))
        for k in self.rng.integers(len(calls), size=4):
            try:
                calls[int(k)]()
                found.append([int(k), "fine"])
            except Exception as e:
                found.append([int(k), type(e).__name__])
        return found

    def collections(self) -> Any:
        tf = self.tf
        return [self.graph.get_all_collection_keys() and [v.name for v in tf.trainable_variables()],
                [v.name for v in tf.global_variables()], [t.name for t in (self.x, self.y, self.loss)],
                [str(v.shape) for v in tf.trainable_variables()], len(tf.get_collection("regularization_losses")),
                self.sess.run(tf.losses.get_regularization_loss())]

    def pruned(self) -> Any:
        tf = self.tf
        definition = tf.graph_util.extract_sub_graph(self.graph.as_graph_def(), [self.x.op.name])
        text = str(definition.node[0].name)
        return [len(definition.node), text, definition.node[0].op]

    def clone(self) -> Any:
        """Variables of the same names in another graph, values taken over by a checkpoint."""
        tf, path = self.tf, os.path.join(self.folder, self.name("c"))
        if not self.variables:
            return None
        tf.train.Saver(self.variables).save(self.sess, path)
        with tf.Graph().as_default(), tf.Session() as other:
            mine = [tf.get_variable(v.op.name.replace(":", "_"), v.shape, use_resource=True) for v in self.variables]
            tf.train.init_from_checkpoint(path, {v.op.name: m for v, m in zip(self.variables, mine, strict=True)})
            other.run(tf.global_variables_initializer())
            return other.run(mine)

    def initialized(self) -> Any:
        tf = self.tf
        late = tf.get_variable(self.name("late"), initializer=tf.constant([1.0, 2.0]), use_resource=True)
        names = self.sess.run(tf.report_uninitialized_variables())
        double = tf.Variable(late.initialized_value() * 2.0, use_resource=True)
        self.sess.run(late.initializer)
        self.sess.run(double.initializer)
        return [sorted(names.tolist()), self.sess.run([late, double])]

    # -- last steps ------------------------------------------------------------------------

    def monitored(self) -> Any:
        tf = self.tf
        if not self.variables:
            return None
        step = tf.train.get_or_create_global_step()
        op = self.optimizer().minimize(self.loss, global_step=step)
        place, log = os.path.join(self.folder, "monitored"), []
        outer = self

        class Hook(tf.train.SessionRunHook):
            def before_run(self, context: Any) -> Any:
                return tf.train.SessionRunArgs([outer.loss])

            def after_run(self, context: Any, values: Any) -> None:
                log.append(values.results)

        for last in (2, 4):
            hooks = [tf.train.StopAtStepHook(last_step=last), Hook()]
            with tf.train.MonitoredTrainingSession(checkpoint_dir=place, hooks=hooks, save_checkpoint_secs=None,
                                                   save_checkpoint_steps=1) as sess:
                while not sess.should_stop():
                    sess.run(op, self.feed())
        path = tf.train.latest_checkpoint(place)
        return [log, os.path.basename(path), tf.train.list_variables(path)]

    def supervised(self) -> Any:
        tf = self.tf
        if not self.variables:
            return None
        step = tf.train.get_or_create_global_step()
        op = self.optimizer().minimize(self.loss, global_step=step)
        made = tf.train.Supervisor(logdir=os.path.join(self.folder, "supervised"), global_step=step, save_model_secs=0,
                                   summary_op=None, save_summaries_secs=0)
        with made.managed_session() as sess:
            losses = [sess.run([self.loss, op], self.feed())[0] for _ in range(3)]
        return losses

    def none(self) -> Any:
        return None

    def take(self, step: str) -> Any:
        """Does a step; what it gave, or the class of its error."""
        self.next = None
        try:
            with self.graph.as_default():
                found = getattr(self, step)()
            if self.next is not None:
                with self.next.as_default():
                    found = found()
            return [step, found]
        except Exception as e:
            return [step, f"{type(e).__name__}: {e}"]


def run(seed: int, v1: Any, v2: Any) -> list[Any]:
    """What the steps of a program give.

    Args:
      seed: which program.
      v1, v2: the modules of TensorFlow 1 and 2, or graphgrad's.
    """
    rng = np.random.default_rng([seed, 91])
    register(v1, _registered)
    old = rng.random() < 0.3
    (v1.disable_control_flow_v2 if old else v1.enable_control_flow_v2)()
    v1.experimental.output_all_intermediates(True)  # TensorFlow cannot add gradients of loops after a run otherwise
    with tempfile.TemporaryDirectory() as folder:
        script = _Script(v1, v2, rng, folder)
        with script.graph.as_default():
            found = [["start", script.pieces, script.y.name, [v.name for v in script.variables],
                      script.sess.run([script.y, script.loss], script.feed())]]
        for step in [*rng.choice(_STEPS, int(rng.integers(3, 8))), rng.choice(_LAST)]:
            found.append(script.take(str(step)))
            if isinstance(found[-1][1], str):  # an error: what follows depends on where it arose
                break
        script.sess.close()
    v1.enable_control_flow_v2()
    return found


def comparable(found: list[Any], wanted: list[Any]) -> tuple[list[Any], list[Any]]:
    """Returns the steps before the first one that TensorFlow refuses, for whatever reason.

    Args:
      found: the steps here.
      wanted: TensorFlow's.
    """
    end = next((k for k, step in enumerate(wanted) if len(step) == 2 and isinstance(step[1], str)), len(wanted))
    return found[:end], wanted[:end]
