"""A user's first hour: looking at tensors, variables made on the way, arrays of other libraries."""

from __future__ import annotations

import copy
import json
import os
import pickle
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from ..harness import case, raised

# -- what a tensor is --------------------------------------------------------------------


@case("eager")
def tensors_and_variables_are_told_apart(tf: Any) -> Any:
    def kinds(x: Any) -> list[bool]:
        return [isinstance(x, tf.Tensor), isinstance(x, tf.Variable), bool(tf.is_tensor(x))]

    found = {"eager": kinds(tf.constant(1)), "variable": kinds(tf.Variable(1)), "array": kinds(np.ones(2)),
             "number": kinds(1.0), "sum": kinds(tf.Variable(1.0) + 1.0), "read": kinds(tf.Variable(1.0).value()),
             "text": kinds(tf.constant("a")), "classes": [issubclass(tf.Variable, tf.Tensor),
             issubclass(type(tf.constant(1)), tf.Tensor)], "name": type(tf.constant(1)).__name__}

    @tf.function
    def inside(x: Any) -> Any:
        found["symbolic"] = [*kinds(x), type(x).__name__ == type(x + 1).__name__]
        return x

    inside(tf.constant(1))
    with tf.Graph().as_default():
        found["placeholder"] = kinds(tf.compat.v1.placeholder(tf.float32))
        found["1.x variable"] = kinds(tf.compat.v1.Variable(1.0))
        found["symbolic name"] = type(tf.constant(1)).__name__
    return found


@case("eager")
def what_is_added_to_the_class_of_tensors_is_there_for_all(tf: Any) -> Any:
    tf.Tensor.twice_plus = lambda self, y: 2 * self + y
    try:
        inside = tf.function(lambda x: x.twice_plus(1.0))
        return [tf.constant(3.0).twice_plus(1.0), inside(tf.constant(4.0)), tf.Tensor.__add__(tf.constant(1), 2)]
    finally:
        del tf.Tensor.twice_plus


def _tried(calls: dict[str, Callable[[], Any]]) -> dict[str, Any]:
    """What each call gives, or the class of what it raises."""
    found: dict[str, Any] = {}
    for name, call in calls.items():
        try:
            found[name] = call()
        except Exception as e:
            found[name] = f"raises {type(e).__name__}"
    return found


def _seen(x: Any, *without: str) -> dict[str, Any]:
    calls = {
        "repr": lambda: repr(x), "str": lambda: str(x), "format": lambda: f"{x}", "two digits": lambda: f"{x:.2f}",
        "percent": lambda: "%s" % x,  # noqa: UP031  # the old way is what is looked at
        "bool": lambda: bool(x), "float": lambda: float(x), "int": lambda: int(x),
        "len": lambda: len(x), "list": lambda: [repr(i) for i in x], "hash": lambda: bool(hash(x)),
        "equal": lambda: repr(x == x), "unequal": lambda: repr(x != x), "in": lambda: x in [x],
        "array": lambda: repr(np.asarray(x)), "ndim": lambda: x.ndim, "index": lambda: "abcdef"[x],
        "copy": lambda: repr(copy.copy(x)), "deepcopy": lambda: repr(copy.deepcopy(x)),
        "pickle": lambda: repr(pickle.loads(pickle.dumps(x))), "ref": lambda: x.ref() == x.ref(),
        "numpy": lambda: repr(x.numpy()), "nothing": lambda: x.no_such_name, "reshape": lambda: x.reshape([1]),
        "eval": lambda: x.eval(), "name": lambda: x.name, "graph": lambda: x.graph is None, "op": lambda: x.op is None,
        "sum": lambda: repr(sum([x, x])), "max": lambda: repr(max([x, x])), "complex": lambda: complex(x),
        "np.float32": lambda: repr(np.float32(x)), "shape": lambda: [str(x.shape), repr(x.shape), repr(x.dtype)],
        "ndarray": lambda: repr(np.ones(2, np.int32) + x), "neg": lambda: repr(-x), "slice": lambda: repr(x[0]),
    }
    return _tried({name: call for name, call in calls.items() if name not in without})


@case("eager")
def looking_at_eager_tensors(tf: Any) -> Any:
    # Left out is what ends in some error of NumPy's, and what dtypes forbid.
    return {"vector": _seen(tf.constant([1.0, 2.0])), "scalar": _seen(tf.constant(3.0), "index"),
            "int": _seen(tf.constant(3)), "matrix": repr(tf.constant([[1, 2], [3, 4]])),
            "bool": _seen(tf.constant([True, False]), "max", "neg", "sum", "ndarray"),
            "text": [repr(tf.constant("ab")), f"{tf.constant('ab')}", f"{tf.constant(['a'])}"]}


@case("eager")
def looking_at_variables(tf: Any) -> Any:
    return {"vector": _seen(tf.Variable([1.0, 2.0]), "index"), "scalar": _seen(tf.Variable(2.0), "index"),
            "int": repr(tf.Variable(2)),
            "matrix": repr(tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w"))}


@case("graph")
def looking_at_symbolic_tensors(tf: Any) -> Any:
    without = "list", "copy"  # here a tensor of known length can be iterated, and its copy is itself
    return [_seen(tf.constant([1.0, 2.0]), *without), _seen(tf.constant(1.0), *without),
            _seen(tf.placeholder(tf.float32), *without),
            _seen(tf.placeholder(tf.int32, [None, 3]), *without)]


@case("graph")
def numbers_from_eval(tf: Any) -> Any:
    x, v = tf.constant([1.0, 2.0]), tf.Variable([3.0])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [[x.eval(), (x * v).eval(session=sess), v.eval()] for _ in range(3)]


# -- arrays of other libraries -------------------------------------------------------------


class Foreign:
    """An array of another library, as `jax.Array` is one."""

    def __init__(self, values: Any, dtype: Any = None):
        self._held = np.asarray(values, dtype)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(self._held, dtype)


_FOREIGN = {"f64": lambda: Foreign([1.0, 2.0]), "f32": lambda: Foreign([1.0, 2.0], np.float32),
            "i64": lambda: Foreign([1, 2]), "i8": lambda: Foreign([1, 2], np.int8), "scalar": lambda: Foreign(2.0)}


@case("eager")
def foreign_arrays(tf: Any) -> Any:
    found: dict[str, Any] = {}
    for name, make in _FOREIGN.items():
        double, nested = tf.function(lambda x: x * 2), tf.function(lambda d: d["a"][0] * 3)
        a = make()
        found[name] = [tf.constant(a), tf.convert_to_tensor(a), tf.convert_to_tensor(a, tf.float32), tf.add(a, a),
                       tf.constant([1.0, 2.0]) + a, a + tf.constant([1.0, 2.0]), tf.Variable(a), double(a), double(a),
                       nested({"a": [a]}), tf.reduce_sum(a), double.experimental_get_tracing_count(),
                       tf.is_tensor(a)]
    fixed = tf.function(lambda x: x + 1.0, input_signature=[tf.TensorSpec([None], tf.float32)])
    return found, fixed(Foreign([1.0, 2.0], np.float32)), fixed(Foreign([1, 2, 3]))


@case("graph")
def foreign_arrays_are_fed(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [None])
    y = tf.reduce_sum(x * x)
    with tf.Session() as sess:
        return [sess.run([y, tf.gradients(y, x)[0]], {x: Foreign([1.0, 2.0])}) for _ in range(3)]


@case("eager")
def arrays_of_objects_and_texts(tf: Any) -> Any:
    numbers, gaps = np.array([1, 2], object), np.array([1.5, None], object)
    return [tf.convert_to_tensor(numbers, tf.float32), tf.convert_to_tensor(numbers, tf.int32),
            tf.convert_to_tensor(gaps, tf.float32), raised(lambda: tf.convert_to_tensor(np.array(["a"]), tf.float32)),
            tf.convert_to_tensor(np.array(["a"])), tf.convert_to_tensor(np.array([b"a"], object))]


# -- variables made on the way -------------------------------------------------------------


def _lazily(tf: Any, initial: Callable[[Any], Any], **options: Any) -> list[Any]:
    """What a module gives that makes its weight when it is first called."""

    class Layer(tf.Module):  # type: ignore[name-defined,misc]  # `tf` is an argument
        @tf.function
        def __call__(self, x: Any) -> Any:
            if not hasattr(self, "w"):
                self.w = tf.Variable(initial(x), **options)
            return self.w * x

    layer = Layer()
    called = [layer(tf.constant(2.0)), layer(tf.constant(2.0))]
    w = layer.w
    return [*called, w, str(w.shape), w.dtype.name, w.name, len(layer.variables), len(layer.trainable_variables),
            layer(tf.constant([2.0]))]


_TABLE = np.arange(6.0, dtype=np.float32).reshape(2, 3)


@case("eager")
def lazy_variables_from_constants(tf: Any) -> Any:
    return [_lazily(tf, lambda x: tf.constant(1.5)), _lazily(tf, lambda x: tf.ones([2, 3]) * 2.0),
            _lazily(tf, lambda x: tf.zeros([200, 300])[0, :3]), _lazily(tf, lambda x: _TABLE),
            _lazily(tf, lambda x: tf.constant(_TABLE) * 2.0 + 1.0), _lazily(tf, lambda x: lambda: tf.constant(_TABLE)),
            _lazily(tf, lambda x: tf.eye(3)), _lazily(tf, lambda x: tf.cast(tf.range(3), tf.float32)),
            _lazily(tf, lambda x: tf.constant([2.0]) * 2.0, name="w", trainable=False),
            _lazily(tf, lambda x: tf.constant([2.0]), shape=[None]), _lazily(tf, lambda x: [1.0, 2.0]),
            _lazily(tf, lambda x: tf.concat([tf.zeros([2]), tf.ones([1])], 0))]


@case("eager")
def lazy_variables_from_control_flow_and_host(tf: Any) -> Any:
    return [_lazily(tf, lambda x: tf.cond(tf.constant(True), lambda: tf.ones([3]), lambda: tf.zeros([3]))),
            _lazily(tf, lambda x: tf.while_loop(lambda i: i < 3.0, lambda i: [i + 1.0], [tf.constant(0.0)])[0]),
            _lazily(tf, lambda x: tf.ensure_shape(tf.numpy_function(lambda: np.float32(7.0), [], tf.float32), []))]


@case("eager")
def lazy_variables_from_random_numbers(tf: Any) -> Any:
    found = [_lazily(tf, lambda x: tf.random.stateless_normal([3], [1, 2])),
             _lazily(tf, lambda x: tf.random.stateless_uniform([2], [1, 2]) * 3.0)]
    for initial in (lambda x: tf.random.normal([3]), lambda x: tf.random.truncated_normal([3], stddev=0.1),
                    lambda x: lambda: tf.random.normal([3])):
        first, second, w, *_ = _lazily(tf, initial)
        found.append([bool(np.all(first == second)), bool(np.allclose(first, 2.0 * w.numpy()))])
    return found


@case("eager")
def lazy_variables_from_seeded_random_numbers(tf: Any) -> Any:
    found = []
    for initial in (lambda x: tf.random.normal([3], seed=5), lambda x: tf.random.uniform([2, 2]),
                    lambda x: lambda: tf.random.normal([3])):
        tf.random.set_seed(7)
        found.append(_lazily(tf, initial)[2])
    return found


@case("eager")
def lazy_variables_from_arguments(tf: Any) -> Any:
    return [_lazily(tf, lambda x: x), _lazily(tf, lambda x: x * 2.0 + 1.0),
            _lazily(tf, lambda x: tf.zeros(tf.shape(x))), _lazily(tf, lambda x: tf.zeros(x.shape)),
            _lazily(tf, lambda x: lambda: x * 2.0),
            _lazily(tf, lambda x: tf.ones([tf.size(x)]))]


@case("eager")
def lazy_variables_from_other_variables(tf: Any) -> Any:
    outer, array = tf.Variable(3.0), tf.constant([1.0, 2.0, 3.0, 4.0, 5.0])
    found = [_lazily(tf, lambda x: outer * 2.0), _lazily(tf, lambda x: outer.read_value()),
             _lazily(tf, lambda x: outer), _lazily(tf, lambda x: array * 2.0)]

    class Chain(tf.Module):  # type: ignore[name-defined,misc]  # `tf` is an argument
        def __init__(self, between: bool):
            super().__init__()
            self.between = between

        @tf.function
        def __call__(self, x: Any) -> Any:
            if not hasattr(self, "a"):
                self.a = tf.Variable(tf.ones([2]) * 3.0)
                if self.between:
                    self.a.assign_add([1.0, 1.0])
                self.b = tf.Variable(self.a * 2.0)
                self.c = tf.Variable(self.a.read_value() + self.b)
            return self.a * x + self.b + self.c

    for between in (False, True):
        m = Chain(between)
        found.append([m(tf.constant(2.0)), m.a, m.b, m.c, m(tf.constant(2.0)), [v.name for v in m.variables]])
    return found


@case("eager")
def two_traces_and_no_third_variable(tf: Any) -> Any:
    class Late(tf.Module):  # type: ignore[name-defined,misc]  # `tf` is an argument
        @tf.function
        def __call__(self, x: Any) -> Any:
            if not hasattr(self, "a"):
                self.a = tf.Variable(1.0)
            elif not hasattr(self, "b") and x.shape.rank:
                self.b = tf.Variable(1.0)
            return self.a * x

    late = Late()

    @tf.function
    def each_time(x: Any) -> Any:
        return tf.Variable(1.0) * x

    traced = []

    @tf.function
    def counted(x: Any) -> Any:
        traced.append(1)
        if len(traced) == 1:
            counted.v = tf.Variable(tf.random.normal([2]))
        return counted.v * x

    counted(tf.constant(1.0))
    counted(tf.constant(1.0))
    return [late(tf.constant(2.0)), raised(lambda: late(tf.constant([2.0]))), raised(lambda: each_time(1.0)),
            len(traced), counted.experimental_get_tracing_count()]


@case("eager")
def effects_of_the_call_that_makes_variables(tf: Any) -> Any:
    """Only where an initial value needs an argument does the first trace run, with its effects."""

    def made(initial: Any) -> Any:
        count, vs = tf.Variable(1.0), []

        @tf.function
        def f(x: Any) -> Any:
            if not vs:
                vs.append(tf.Variable(initial(x)))
                count.assign_add(1.0)
            return vs[0] * x

        return [f(tf.constant(2.0)), count.numpy(), f(tf.constant(5.0)), count.numpy(), vs[0].numpy()]

    return made(lambda x: x * 2.0), made(lambda x: tf.ones([]) * 4.0)


@case("eager")
def training_with_lazy_weights(tf: Any) -> Any:
    class Dense(tf.Module):  # type: ignore[name-defined,misc]  # `tf` is an argument
        def __init__(self, n: int):
            super().__init__()
            self.n, self.built = n, False

        def __call__(self, x: Any) -> Any:
            if not self.built:
                with tf.name_scope("dense"):
                    self.w = tf.Variable(tf.random.stateless_normal([x.shape[-1], self.n], [3, 4]), name="w")
                    self.b = tf.Variable(tf.zeros([self.n]), name="b")
                self.built = True
            return tf.matmul(x, self.w) + self.b

    layer = Dense(2)

    @tf.function
    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(layer(x) - y))
        variables = [layer.w, layer.b]
        for v, g in zip(variables, tape.gradient(loss, variables), strict=True):
            v.assign_sub(0.1 * g)
        return loss

    x, y = tf.reshape(tf.range(12.0), [4, 3]) / 10.0, tf.ones([4, 2])
    return [step(x, y) for _ in range(3)], layer.w, layer.b, layer.w.name, layer.b.name


@case("eager")
def lazy_variables_in_nested_functions_tapes_and_concrete_functions(tf: Any) -> Any:
    vs: list[Any] = []

    @tf.function
    def inner(x: Any) -> Any:
        if not vs:
            vs.append(tf.Variable(tf.ones([2]) * 4.0))
        return vs[0] * x

    outer = tf.function(lambda x: inner(x) + 1.0)
    found = [outer(tf.constant(1.0)), inner(tf.constant(1.0))]
    of: list[Any] = []

    @tf.function
    def under_tape(x: Any) -> Any:
        if not of:
            of.append(tf.Variable(x * 3.0))
        return of[0] * of[0] * x

    with tf.GradientTape() as tape:
        y = under_tape(tf.constant(2.0))
    found += [y, tape.gradient(y, of), under_tape(tf.constant(1.0))]
    ours: list[Any] = []

    @tf.function(input_signature=[tf.TensorSpec([None])])
    def signed(x: Any) -> Any:
        if not ours:
            ours.append(tf.Variable(tf.ones([3]) * 5.0))
        return ours[0] * x

    concrete = signed.get_concrete_function()
    found += [ours[0], concrete(tf.constant([1.0])), signed(tf.constant([2.0]))]
    kept: list[Any] = []

    @tf.function
    def in_a_branch(x: Any) -> Any:
        if x > 0.0:
            if not kept:
                kept.append(tf.Variable(tf.ones([2]) * 4.0))
            y = kept[0] * x
        else:
            y = tf.zeros([2])
        return y

    return [*found, in_a_branch(tf.constant(1.0)), in_a_branch(tf.constant(-1.0)), kept[0]]


@case("eager", rtol=1e-5)
def optimizers_and_lazy_weights_in_functions(tf: Any) -> Any:
    v1 = tf.compat.v1

    class Model(tf.Module):  # type: ignore[name-defined,misc]  # `tf` is an argument
        @tf.function
        def step(self, x: Any) -> Any:
            if not hasattr(self, "w"):
                self.w = tf.Variable(tf.random.stateless_normal([2], [1, 2]))
                self.optimizer = v1.train.MomentumOptimizer(0.1, 0.9)
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(self.w * self.w * x)
            self.optimizer.apply_gradients([(tape.gradient(loss, self.w), self.w)])
            return loss

    model, v, adam = Model(), tf.Variable([1.0, 2.0]), v1.train.AdamOptimizer(0.1)

    @tf.function
    def minimize(x: Any) -> Any:
        adam.minimize(lambda: tf.reduce_sum(v * v * x))
        return v + 0.0

    return [model.step(tf.constant(2.0)) for _ in range(3)], model.w, [minimize(tf.constant(2.0)) for _ in range(3)]


@case("eager")
def seeded_initializers(tf: Any) -> Any:
    normal, uniform = tf.random_normal_initializer(seed=4), tf.random_uniform_initializer(seed=4)
    drawn = [normal([2, 3]), normal([2, 3]), uniform([2, 3]), tf.initializers.GlorotUniform(seed=4)([2, 3]),
             tf.initializers.HeNormal(seed=4)([2, 3]), tf.initializers.Orthogonal(seed=4)([3, 3])]
    inside = tf.function(lambda: normal([2, 3]))
    return drawn, inside(), inside()


@case("eager")
def lazy_variables_and_checkpoints(tf: Any) -> Any:
    """What was restored before a variable was made is its first value."""

    class Layer(tf.Module):  # type: ignore[name-defined,misc]  # `tf` is an argument
        def __init__(self, initial: Callable[[Any], Any]):
            super().__init__()
            self.initial = initial

        @tf.function
        def __call__(self, x: Any) -> Any:
            if not hasattr(self, "w"):
                self.w = tf.Variable(self.initial(x))
            return self.w * x

    found = []
    for initial in (lambda x: tf.ones([2]) * 2.0, lambda x: tf.stack([x, x]) * 3.0):
        saved = Layer(initial)
        saved(tf.constant(1.0))
        saved.w.assign([5.0, 6.0])
        with tempfile.TemporaryDirectory() as folder:
            path = tf.train.Checkpoint(layer=saved).save(os.path.join(folder, "c"))
            fresh = Layer(initial)
            tf.train.Checkpoint(layer=fresh).restore(path)
            found.append([fresh(tf.constant(1.0)), fresh(tf.constant(2.0))])
    return found


# -- messages, by way of the protobuf package ----------------------------------------------

_GRAPH = """
node { name: "x" op: "Placeholder"
  attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { dim { size: -1 } dim { size: 3 name: "c" } } } } }
node { name: "w" op: "Const" device: "/cpu:0" attr { key: "dtype" value { type: DT_DOUBLE } }
  attr { key: "value" value { tensor { dtype: DT_DOUBLE tensor_shape { dim { size: 2 } }
    tensor_content: "\\000\\000\\000\\000\\000\\000\\360?\\000\\000\\000\\000\\000\\000\\000@" } } } }
node { name: "s" op: "Squeeze" input: "x" input: "^w" attr { key: "squeeze_dims" value { list { i: 1 i: -2 } } }
  attr { key: "T" value { type: DT_FLOAT } } attr { key: "f" value { f: 0.1 } } attr { key: "b" value { b: false } }
  attr { key: "n" value { s: "a\\"b\\n" } } }
library { function { signature { name: "f" input_arg { name: "a" type: DT_INT32 }
  attr { name: "T" type: "type" default_value { type: DT_INT64 } } } ret { key: "z" value: "a:0" }
  arg_attr { key: 0 value { attr { key: "_u" value { s: "x" } } } } } }
versions { producer: 1000 min_consumer: 12 bad_consumers: 7 }
"""


def _through_protobuf(message: Any, text: str) -> list[Any]:
    """What the protobuf package makes of a message that it fills from text."""
    from google.protobuf import json_format, text_format

    made = text_format.Merge(text, message())
    written, as_json = text_format.MessageToString(made), json_format.MessageToJson(made, sort_keys=True)
    again, of_json = text_format.Parse(written, message()), json_format.Parse(as_json, message())
    as_dict = json_format.MessageToDict(made, preserving_proto_field_name=True)
    return [written, text_format.MessageToString(made, as_one_line=True), as_json,
            made.SerializeToString(deterministic=True).hex(), json.dumps(as_dict, sort_keys=True),
            again == made, of_json == made, message.FromString(made.SerializeToString()) == made,
            copy.deepcopy(made) == made, pickle.loads(pickle.dumps(made)) == made,
            [[field.name, field.number] for field, _ in made.ListFields()], message.DESCRIPTOR.full_name,
            [made.DESCRIPTOR.fields_by_name[f.name] is f for f, _ in made.ListFields()]]


@case("eager")
def messages_and_the_protobuf_package(tf: Any) -> Any:
    from google.protobuf import text_format

    v1 = tf.compat.v1

    def refused(text: str) -> str:
        return raised(lambda: text_format.Parse(text, v1.GraphDef()))

    return [
        _through_protobuf(v1.train.SaverDef, 'filename_tensor_name: "save/Const:0" max_to_keep: 5 version: V2 '
                          "sharded: true keep_checkpoint_every_n_hours: 10000.0"),
        _through_protobuf(tf.train.Example, 'features { feature { key: "a" value { int64_list { value: 1 value: -5 } } '
                          '} feature { key: "b" value { float_list { value: 0.5 value: 1e10 value: -inf } } } '
                          'feature { key: "c" value { bytes_list { value: "x\\377" } } } }'),
        _through_protobuf(v1.Summary, 'value { tag: "loss" simple_value: 0.25 } value { tag: "h" histo { min: -1.0 '
                          "bucket: 1.0 bucket: 0.0 } }"),
        _through_protobuf(v1.AttrValue, "list { type: DT_FLOAT type: DT_INT32 shape { unknown_rank: true } }"),
        _through_protobuf(v1.MetaGraphDef, 'meta_info_def { tags: "serve" stripped_op_list { op { name: "Add" '
                          'is_commutative: true } } } collection_def { key: "c" value { node_list { value: "a:0" } } } '
                          'signature_def { key: "s" value { inputs { key: "x" value { name: "x:0" dtype: DT_FLOAT '
                          'tensor_shape { dim { size: 2 } } } } method_name: "m" } }'),
        _through_protobuf(v1.GraphDef, _GRAPH),
        v1.GraphDef.FromString(bytes.fromhex("0a080a0178c23e020304807d05")).SerializeToString().hex(),
        text_format.MessageToString(v1.GraphDef()),
        list(map(refused, ["nodes { }", "node { name: 3 }", "node { name: 'a' ",
                           "node { attr { value { type: DT_NOTHING } } }"])),
    ]


@case("eager")
def graphs_as_text(tf: Any) -> Any:
    """A graph written as text by one program and read by another."""
    from google.protobuf import text_format

    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        tf.identity(tf.tanh(tf.matmul(x, tf.constant([[1.0], [2.0]]))), name="y")
    text = text_format.MessageToString(graph.as_graph_def())
    with tf.Graph().as_default():
        y = v1.import_graph_def(text_format.Merge(text, v1.GraphDef()), return_elements=["y:0"])[0]
        with v1.Session() as sess:
            return [sess.run(y, {"import/x:0": [[0.25, 0.5]]}) for _ in range(3)]
