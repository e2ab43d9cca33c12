"""Classes of composites that programs define, and what TensorFlow's functions do with them."""

import typing
from typing import Any

from tests.behaviours.harness import case, raised

_NO_SESSIONS = "TensorFlow's sessions know nothing of extension types"


def _masked(tf: Any) -> Any:
    class Masked(tf.experimental.ExtensionType):
        values: tf.Tensor
        mask: tf.Tensor
        unit: str = "m"

    return Masked


def _nested(tf: Any) -> Any:
    masked = _masked(tf)

    class Nested(masked):
        tensors: typing.Tuple[tf.Tensor, ...] = ()  # noqa: UP006  # as TensorFlow's
        named: typing.Mapping[str, tf.Tensor] = {}
        inner: typing.Optional[masked] = None  # noqa: UP045  # as programs for TensorFlow have it
        number: typing.Union[int, float, None] = 3  # noqa: UP007  # as programs for TensorFlow have it
        shape: tf.TensorShape = (2, 3)
        dtype: tf.DType = "float32"
        ragged: typing.Optional[tf.RaggedTensor] = None  # noqa: UP045  # as programs for TensorFlow have it
        pair: typing.Tuple[int, str] = (1, "x")  # noqa: UP006  # as programs for TensorFlow have it

        @property
        def doubled(self) -> Any:
            return self.values * 2

    return masked, Nested


def _flat(tf: Any, value: Any) -> Any:
    return tf.nest.flatten(value, expand_composites=True)


@case("eager")
def fields(tf: Any) -> Any:
    masked, nested = _nested(tf)
    x = nested([1.0], 2.0, tensors=[3, 4], named={"y": 1.0, "x": 2.0}, inner=masked(5.0, 6.0),
               ragged=tf.ragged.constant([[7], [8, 9]]))
    return (_flat(tf, x), x.unit, x.doubled, list(x.named), x.shape.as_list(), x.dtype.name, x.pair, x.number,
            x.inner.values, repr(masked(1, True)), isinstance(x, masked), masked.unit, hasattr(masked, "values"))


@case("eager")
def refused_values(tf: Any) -> Any:
    masked, nested = _nested(tf)
    calls = [
        lambda: masked(1), lambda: masked(1, 2, 3), lambda: masked(1, 2, other=3), lambda: masked(object(), 1),
        lambda: masked(1, 2, "m", 4), lambda: nested(1, 2, number="s"), lambda: nested(1, 2, tensors=3),
        lambda: nested(1, 2, named={1: 2.0}), lambda: nested(1, 2, named=[1]), lambda: nested(1, 2, inner=3),
        lambda: nested(1, 2, pair=("a", "b")), lambda: nested(1, 2, pair=(1, "a", 3)), lambda: nested(1, 2, shape="q"),
        lambda: nested(1, 2, ragged=tf.constant(1)), lambda: setattr(masked(1, 2), "values", 3),
        lambda: setattr(masked(1, 2), "other", 3), lambda: delattr(masked(1, 2), "values"),
        lambda: hash(masked(1, 2)), lambda: tf.convert_to_tensor(masked(1, 2)), tf.experimental.ExtensionType,
        lambda: tf.add(masked(1, 2), 1), lambda: tf.zeros_like(masked(1, 2)),
    ]
    return [raised(c) for c in calls]


@case("eager")
def refused_classes(tf: Any) -> Any:
    def declare(annotations: Any, **values: Any) -> Any:
        return lambda: type("B", (tf.experimental.ExtensionType,), {"__annotations__": annotations, **values})

    # Silenced: as programs for TensorFlow have it.
    calls = [declare({"x": t}) for t in (list, dict, set, object, typing.List[int])]  # noqa: UP006
    calls += [declare({"Spec": int}), declare({"_tf_extension_type_x": int}), declare({"x": int}, x="s"),
              declare({}, x=3), declare({"x": int}, Spec=3), declare({"x": int}), declare({"x": "B"})]
    return [raised(c) for c in calls]


@case("eager")
def constructors(tf: Any) -> Any:
    class Own(tf.experimental.ExtensionType):
        x: tf.Tensor
        n: int

        def __init__(self, x: Any, k: int):
            self.x, self.n = x, k + 1
            self.n = self.n + 1

        def __validate__(self) -> None:
            if self.n > 10:
                raise ValueError("too large")

    class Lacking(tf.experimental.ExtensionType):
        x: tf.Tensor
        n: int

        def __init__(self, x: Any):
            self.x = x

    x = Own(1.0, 1)
    return x.x, x.n, raised(lambda: Own(1.0, 100)), raised(lambda: Lacking(1.0))


@case("eager")
def equality(tf: Any) -> Any:
    masked = _masked(tf)
    x = masked([1.0, 2.0], 2.0)
    others = [masked([1.0, 2.0], 2.0), masked([1.0, 3.0], 2.0), masked([1.0, 2.0], 2.0, "km"), masked([1.0], 2.0), 3]
    return [x == o for o in others], [x != o for o in others]


@case("eager")
def specs(tf: Any) -> Any:
    class Own(tf.experimental.ExtensionType):
        x: tf.Tensor

        class Spec:
            def sizes(self) -> Any:
                return self.x.shape.as_list()

    spec = Own.Spec(tf.TensorSpec([None]))
    x = Own([1.0, 2.0])
    return (spec.sizes(), tf.type_spec_from_value(x).sizes(), spec.is_compatible_with(x), spec.value_type is Own,
            Own.Spec(tf.TensorSpec([3])).is_compatible_with(x), raised(lambda: Own.Spec(3)), raised(Own.Spec),
            spec == Own.Spec(tf.TensorSpec([None])), tf.type_spec_from_value(x).is_subtype_of(spec),
            raised(lambda: _masked(tf).Spec(tf.TensorSpec([1]), tf.TensorSpec([]))))


@case("eager")
def in_functions(tf: Any) -> Any:
    masked = _masked(tf)
    traced = []

    @tf.function
    def f(x: Any, y: Any) -> Any:
        traced.append(x.unit)
        return masked(x.values + y["a"].values, x.mask, "sum")

    x = masked([1.0], [True])
    found = [f(x, {"a": masked(v, False)}) for v in (1.0, 2.0)]
    f(masked([1.0], [True], "km"), {"a": x})
    loop = tf.function(lambda m: tf.while_loop(lambda i, m: i < 3, lambda i, m: (i + 1, masked(m.values * 2, m.mask)),
                                               (0, m)))(x)
    branch = tf.function(lambda p: tf.cond(p, lambda: masked([1.0], [True]), lambda: masked([2.0], [False])))
    other = tf.function(lambda p: tf.cond(p, lambda: masked([1.0], [True]), lambda: masked([2.0], [False], "km")))
    chosen = branch(tf.constant(False))
    return ([_flat(tf, v) for v in found], found[0].unit, traced, _flat(tf, loop), _flat(tf, chosen),
            raised(lambda: other(tf.constant(True))))


@case("eager")
def gradients(tf: Any) -> Any:
    masked = _masked(tf)

    class Slope:
        def get_gradient_components(self, value: Any) -> Any:
            return value.values

        def replace_gradient_components(self, value: Any, grads: Any) -> Any:
            return masked(grads, value.mask)

    x = masked([1.0, 2.0], [True, False])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x.values * x.values
    plain = tape.gradient(y, x.values), raised(lambda: tape.gradient(y, x))
    masked.__composite_gradient__ = Slope()
    found = tape.gradient(y, x)
    return plain, found.values, found.mask, tape.gradient(tf.constant(1.0), x)


@case("eager")
def structures(tf: Any) -> Any:
    masked = _masked(tf)
    x = masked([1.0], [2.0])
    mapped = tf.nest.map_structure(lambda t: t + 1, x, expand_composites=True)
    data = tf.data.Dataset.from_tensors(x).map(lambda m: masked(m.values + 1, m.mask, "km")).repeat(2)
    return (_flat(tf, mapped), mapped.unit, len(tf.nest.flatten(x)), [_flat(tf, v) for v in data],
            data.element_spec.unit, _flat(tf, tf.identity(x)), _flat(tf, tf.stop_gradient(x)), tf.is_tensor(x))


@case("eager")
def functions_of_one_class(tf: Any) -> Any:
    masked = _masked(tf)
    experimental = tf.experimental
    x = masked([1.0, -2.0], [True, False])

    @experimental.dispatch_for_api(tf.math.add, {"x": masked}, {"y": masked})
    def add(x: Any, y: Any, name: Any = None) -> Any:
        a, b = (t.values if isinstance(t, masked) else t for t in (x, y))
        return masked(a + b, [True, True], f"add {name}")

    # Silenced: as programs for TensorFlow have it.
    @experimental.dispatch_for_api(tf.concat, {"values": typing.List[masked]})  # noqa: UP006
    def concat(values: Any, axis: Any, name: Any = "concat") -> Any:
        return masked(tf.concat([v.values for v in values], axis), tf.concat([v.mask for v in values], axis))

    @experimental.dispatch_for_api(tf.reshape)
    def reshape(tensor: masked, shape):  # no annotation but the class's
        return masked(tf.reshape(tensor.values, shape), tf.reshape(tensor.mask, shape))

    sums = [tf.add(x, 1.0), tf.add(1.0, y=x), tf.add(x, x, name="q")]
    calls = [lambda: tf.concat([x, x.values], 0), lambda: tf.constant(1.0) + x]
    found = ([_flat(tf, s) for s in sums], [s.unit for s in sums], tf.add(1.0, 2.0),
             _flat(tf, tf.concat((x, x), axis=0)), tf.concat([[]], 0),
             _flat(tf, tf.reshape(x, [2, 1], name="abc")), [raised(c) for c in calls])
    for target in (add, concat, reshape):
        experimental.unregister_dispatch_for(target)
    return found, [raised(c) for c in (lambda: tf.add(x, x), lambda: tf.reshape(x, [2, 1]))]


@case("eager")
def refused_functions(tf: Any) -> Any:
    masked, d = _masked(tf), tf.experimental.dispatch_for_api

    def both(x: Any, y: Any) -> Any:
        return "both"

    class Plain:
        pass

    calls = [
        lambda: d(tf.add, {"x": masked})(lambda x: x), lambda: d(tf.add, {"q": masked}), lambda: d(tf.add, 3),
        lambda: d(tf.add, {"x": "M"}), lambda: d(tf.add)(lambda x, y: x), lambda: d(tf.add, {"x": masked})(3),
        lambda: d(tf.gradients, {"ys": masked}), lambda: d(len, {"x": masked}),
        lambda: tf.experimental.unregister_dispatch_for(len),
    ]
    found = [raised(c) for c in calls]
    first, second = d(tf.add, {"x": masked, "y": masked})(both), d(tf.add, {"x": masked})(lambda x, y: "first")
    plain = d(tf.add, {"x": Plain})(lambda x, y: "plain")
    x = masked(1.0, True)
    found += [tf.add(x, 1.0), raised(lambda: tf.add(x, x)), raised(lambda: tf.add(Plain(), 1.0)) != "nothing"]
    tf.experimental.unregister_dispatch_for(second)
    found += [tf.add(x, x), raised(lambda: tf.add(x, 1.0)),
              raised(lambda: tf.experimental.unregister_dispatch_for(both))]
    for target in (first, plain):
        tf.experimental.unregister_dispatch_for(target)
    return found


@case("eager")
def elementwise_functions(tf: Any) -> Any:
    masked, e = _masked(tf), tf.experimental
    x = masked([1.0, -2.0], [True, False])

    @e.dispatch_for_unary_elementwise_apis(masked)
    def one(api: Any, x: Any) -> Any:
        return masked(api(x.values), x.mask)

    # Silenced: as programs for TensorFlow have it.
    @e.dispatch_for_binary_elementwise_apis(masked, typing.Union[masked, tf.Tensor])  # noqa: UP007
    def two(api: Any, x: Any, y: Any) -> Any:
        return masked(api(x.values, y.values if isinstance(y, masked) else y), x.mask)

    @e.dispatch_for_binary_elementwise_assert_apis(masked, masked)
    def _(api: Any, x: Any, y: Any) -> Any:
        api(x.values, y.values)
        return "asserted"

    v1 = tf.compat.v1
    found = [tf.abs(x), tf.abs(x=x, name="n"), tf.ones_like(x, dtype=tf.int32), tf.cast(x, tf.int32), v1.ones_like(x),
             tf.clip_by_value(x, 0.0, 1.0), tf.nn.relu(x), v1.abs(x), tf.multiply(x, x),
             tf.multiply(x, tf.constant(3.0)), tf.less(x, x, name="n"), tf.pow(y=x, x=x),
             tf.math.atan2(x, x), tf.math.special.spence(tf.abs(x))]
    calls = [
        lambda: tf.multiply(x, 3.0), lambda: tf.multiply(tf.constant(3.0), x),
        lambda: tf.debugging.assert_greater(x, x),
        lambda: e.dispatch_for_unary_elementwise_apis(masked)(one),
        # Silenced: as programs for TensorFlow have it.
        lambda: e.dispatch_for_binary_elementwise_apis(masked, typing.Union[masked, tf.Tensor])(two),  # noqa: UP007
    ]
    result = [_flat(tf, v) for v in found], tf.debugging.assert_equal(x, x), [raised(c) for c in calls]
    for target in (one, two):  # TensorFlow fails to unregister assertions
        e.unregister_dispatch_for(target)
    return result, [raised(c) for c in (lambda: tf.abs(x), lambda: tf.multiply(x, x))]


@case("graph")
def names(tf: Any) -> Any:
    masked = _masked(tf)

    @tf.experimental.dispatch_for_unary_elementwise_apis(masked)
    def one(api: Any, x: Any) -> Any:
        return masked(api(x.values), x.mask)

    x = masked([1.0], [True])
    found = [tf.abs(x, name="xyz").values.name, tf.abs(x).values.name, tf.abs(x).values.name]
    tf.experimental.unregister_dispatch_for(one)
    return found


@case("graph", differs=_NO_SESSIONS, expected=[[{"dtype": "float32", "shape": [1], "values": [2.0]}, "m"], "nothing"])
def sessions(tf: Any) -> Any:
    x = _masked(tf)([2.0], [True])
    with tf.Session() as sess:
        failure = raised(lambda: sess.run(x))
        return [[None, ""] if failure != "nothing" else [sess.run(x).values, sess.run(x).unit], failure]
