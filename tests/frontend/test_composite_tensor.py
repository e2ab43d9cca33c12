"""Composites that libraries define by a spec of their own: functions, loops, branches, `tf.nest`, variables in them."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np
import pytest

import graphgrad as tf
from graphgrad.compat.internal.framework import type_spec_registry
from graphgrad.compat.internal.util import nest as inner_nest
from graphgrad.compat.internal.util.variable_utils import convert_variables_to_tensors
from graphgrad.frontend.structure.nest import map_structure_up_to
from graphgrad.frontend.structure.type_spec import BatchableTypeSpec
from graphgrad.frontend.variables.composite_tensor import CompositeTensor
from graphgrad.frontend.variables.variable_spec import VariableSpec


class Line(CompositeTensor):
    """A slope and an offset, which may be variables, by a spec whose components are a dictionary."""

    def __init__(self, slope: Any, offset: Any, unit: str = "m"):
        self.slope, self.offset, self.unit = [v if isinstance(v, (tf.Variable, Line)) else tf.convert_to_tensor(v)
                                              for v in (slope, offset)] + [unit]

    @property
    def _type_spec(self) -> LineSpec:
        return LineSpec({k: getattr(v, "_type_spec", None) or tf.TensorSpec(v.shape, v.dtype)
                         for k, v in (("slope", self.slope), ("offset", self.offset))}, self.unit)

    def __call__(self, x: Any) -> Any:
        slope = self.slope(1.0) if isinstance(self.slope, Line) else self.slope
        return slope * x + self.offset

    def _convert_variables_to_tensors(self) -> Line:
        return Line(*convert_variables_to_tensors([self.slope, self.offset]), self.unit)


class LineSpec(BatchableTypeSpec):
    def __init__(self, parts: dict[str, Any], unit: str):
        self.parts, self.unit = parts, unit

    value_type = Line

    @property
    def _component_specs(self) -> Any:
        return self.parts

    def _to_components(self, value: Any) -> Any:
        return {"slope": value.slope, "offset": value.offset}

    def _from_components(self, components: Any) -> Line:
        return Line(components["slope"], components["offset"], self.unit)

    def _serialize(self) -> tuple[Any, ...]:
        return self.parts, self.unit

    def __eq__(self, other: object) -> bool:
        return type(other) is LineSpec and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> Any:
        return self._TypeSpec__make_cmp_key(self._serialize())


def test_a_function_is_traced_once_for_a_spec() -> None:
    traced = []

    @tf.function
    def at_two(line: Any) -> Any:
        traced.append(line.unit)
        return line(2.0)

    assert at_two(Line(3.0, 1.0)).numpy() == 7.0
    assert at_two(Line(5.0, 1.0)).numpy() == 11.0
    assert at_two(Line(5.0, 1.0, "s")).numpy() == 11.0
    assert traced == ["m", "s"]


def test_variables_stay_variables() -> None:
    slope = tf.Variable(3.0)
    at_two = tf.function(lambda line: line(2.0))
    with tf.GradientTape() as tape:
        y = at_two(Line(slope, 1.0))
    assert y.numpy() == 7.0
    assert tape.gradient(y, slope).numpy() == 2.0
    slope.assign(4.0)
    assert at_two(Line(slope, 1.0)).numpy() == 9.0
    assert at_two(Line(tf.Variable(10.0), 1.0)).numpy() == 21.0


def test_a_composite_in_a_composite() -> None:
    slope = tf.Variable(3.0)
    nested = Line(Line(slope, 1.0), 0.5)
    assert tf.function(lambda line: line(2.0))(nested).numpy() == 8.5
    offset, inner, held = tf.nest.flatten(nested, expand_composites=True)
    assert (offset.numpy(), inner.numpy()) == (0.5, 1.0)
    assert held is slope
    doubled = tf.nest.map_structure(lambda v: 2 * v, nested, expand_composites=True)
    assert doubled(2.0).numpy() == 17.0


def test_loops_and_branches() -> None:
    @tf.function
    def steeper(line: Any, n: Any) -> Any:
        return tf.while_loop(lambda i, _: i < n, lambda i, v: (i + 1, Line(v.slope * 2.0, v.offset)), (0, line))[1]

    assert steeper(Line(3.0, 1.0), tf.constant(3)).slope.numpy() == 24.0
    slope = tf.Variable(3.0)

    @tf.function
    def chosen(p: Any) -> Any:
        return tf.cond(p, lambda: Line(slope, 1.0), lambda: Line(slope, 2.0))

    assert chosen(tf.constant(False))(1.0).numpy() == 5.0
    with pytest.raises(TypeError, match="same number, type, and overall structure"):
        tf.function(lambda p: tf.cond(p, lambda: Line(slope, 1.0), lambda: Line(1.0, 1.0)))(tf.constant(True))


def test_classes() -> None:
    assert isinstance(tf.sparse.from_dense([1]), CompositeTensor)
    assert isinstance(tf.Variable(1.0), CompositeTensor)
    assert not isinstance(tf.constant(1.0), CompositeTensor)
    assert not isinstance(tf.sparse.from_dense([1]), Line)
    assert not tf.is_tensor(Line(1.0, 2.0))
    with pytest.raises(TypeError, match="abstract"):
        CompositeTensor()  # type: ignore[abstract]  # which is what is tested


def test_specs() -> None:
    spec = Line(3.0, [1.0, 2.0])._type_spec
    assert spec._with_tensor_ranks_only().parts["offset"].shape.as_list() == [None]
    assert spec._TypeSpec__is_compatible((1, {"a": tf.TensorShape([None])}), (1, {"a": tf.TensorShape([3])}))
    assert not spec._TypeSpec__is_compatible((1,), [1])
    assert [s.shape.rank for s in spec._flat_tensor_specs] == [1, 0]
    line = spec._from_tensor_list(spec._to_tensor_list(Line(3.0, [1.0, 2.0])))
    np.testing.assert_array_equal(line(1.0), [4.0, 5.0])
    assert tf.TensorSpec([3])._batch(2).shape.as_list() == [2, 3]
    assert tf.TensorSpec([3], name="x")._unbatch() == tf.TensorSpec([])
    with pytest.raises(ValueError, match="rank >= 1"):
        tf.TensorSpec([])._unbatch()
    own = VariableSpec.from_value(tf.Variable([1.0], trainable=False))
    assert own.is_compatible_with(tf.Variable([2.0], trainable=False))
    assert not own.is_compatible_with(tf.Variable([2.0]))
    assert own == tf.Variable([2.0], trainable=False)._type_spec


def test_the_registry_of_specs() -> None:
    assert type_spec_registry.register("tests.LineSpec")(LineSpec) is LineSpec
    assert type_spec_registry.get_name(LineSpec) == "tests.LineSpec"
    assert type_spec_registry.lookup("tests.LineSpec") is LineSpec
    # Libraries that let a class be defined again take its name from these.
    assert type_spec_registry._TYPE_SPEC_TO_NAME[LineSpec] == "tests.LineSpec"
    assert type_spec_registry._NAME_TO_TYPE_SPEC["tests.LineSpec"] is LineSpec
    with pytest.raises(ValueError, match="already"):
        type_spec_registry.register("tests.LineSpec")(type("Other", (LineSpec,), {}))
    with pytest.raises(ValueError, match="form"):
        type_spec_registry.register("LineSpec")


def test_variables_are_read() -> None:
    found = convert_variables_to_tensors([tf.Variable(1.0), Line(tf.Variable(2.0), 3.0), "text"])
    assert isinstance(found[0], tf.Tensor)
    assert isinstance(found[1].slope, tf.Tensor)
    assert found[2] == "text"


def test_paths_of_structures() -> None:
    structure = {"a": [1, (2,)]}
    assert inner_nest.flatten_with_tuple_paths(structure) == [(("a", 0), 1), (("a", 1, 0), 2)]
    assert inner_nest.flatten_with_joined_string_paths(structure) == [("a/0", 1), ("a/1/0", 2)]
    assert inner_nest.map_structure_with_tuple_paths(lambda path, v: (len(path), v), structure) == {
        "a": [(2, 1), ((3, 2),)]}
    assert inner_nest.map_structure_with_tuple_paths_up_to({"a": 0}, lambda path, v: (path, v), structure) == {
        "a": (("a",), [1, (2,)])}
    assert inner_nest.flatten_with_tuple_paths([Line(3.0, 1.0)], expand_composites=True)[1][0] == (0, 1)


def test_structures_keep_the_types_of_dictionaries() -> None:
    ordered = collections.OrderedDict(b=[1], a=[2, 3])
    shallow = collections.OrderedDict(b=0, a=0)
    for found in (inner_nest.map_structure_with_tuple_paths_up_to(shallow, lambda _, v: len(v), ordered),
                  map_structure_up_to(shallow, len, ordered)):
        assert type(found) is collections.OrderedDict
        assert list(found.items()) == [("b", 1), ("a", 2)]


def test_results_with_names() -> None:
    assert tf.linalg.slogdet([[2.0]]).sign.numpy() == 1.0
    assert tf.linalg.qr([[2.0]]).r.shape == (1, 1)
    assert tf.linalg.lu([[2.0]]).lu.numpy() == [[2.0]]
    assert tf.nn.max_pool_with_argmax(tf.ones([1, 2, 2, 1]), 2, 2, "SAME").argmax.shape == (1, 1, 1, 1)
    drawn = tf.random.uniform_candidate_sampler(tf.constant([[1]], tf.int64), 1, 1, True, 5)
    assert drawn.sampled_candidates.shape == (1,)


def test_shapes_inside_loops_are_known_as_outside() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, 1, 3]), tf.TensorSpec([], tf.int32)])
    def total(x: Any, n: Any) -> Any:
        sizes = tf.concat([[n], [1, 3]], 0)
        return tf.while_loop(lambda i, _: i < 3, lambda i, s: (i + 1, s + x + tf.ones(sizes)), (0, tf.zeros(sizes)))[1]

    assert total.get_concrete_function().output_shapes.as_list() == [None, 1, 3]
    assert total(tf.ones([2, 1, 3]), 2).numpy().tolist() == [[[6.0] * 3]] * 2


def test_a_dtype_that_is_none_is_the_default() -> None:
    assert tf.searchsorted([1.0, 2.0], [1.5], out_type=None).dtype is tf.int32
