"""Objects that track what they hold; what checkpoints and libraries of layers see of them."""

from __future__ import annotations

import collections
import copy
import json
import pickle
from typing import Any

import pytest

import graphgrad as tf
from graphgrad.frontend.tracking.data_structures import DictWrapper, ListWrapper, TrackableDataStructure, wrap
from graphgrad.frontend.tracking.trackable import (
    AutoTrackable,
    DelegatingTrackableMixin,
    NoDependency,
    Trackable,
    no_automatic_dependency_tracking,
)
from graphgrad.ir import context


@pytest.fixture(autouse=True)
def _eager() -> Any:
    with context.use(context.EAGER):
        yield


def test_attributes_are_tracked() -> None:
    """Assignment tracks, replacement replaces, deletion forgets."""
    thing: Any = AutoTrackable()
    thing.v, thing.text, thing.rest = tf.Variable(1.0), "text", [tf.Variable(2.0)]
    assert list(thing._trackable_children()) == ["v", "rest"]
    first = thing.v
    thing.v = tf.Variable(3.0)
    assert thing._lookup_dependency("v") is thing.v is not first
    del thing.v
    assert list(thing._trackable_children()) == ["rest"]
    assert [(r.name, r.ref) for r in thing._checkpoint_dependencies] == [("rest", thing.rest)]


def test_what_is_not_tracked() -> None:
    """Methods and values may say that they do not want to be tracked."""

    class Thing(AutoTrackable):
        @no_automatic_dependency_tracking
        def __init__(self) -> None:
            self.quiet = [tf.Variable(1.0)]

    thing: Any = Thing()
    thing.alone = NoDependency(tf.Variable(1.0))
    thing.also = thing._no_dependency({})
    assert thing._trackable_children() == {} and type(thing.quiet) is list and type(thing.also) is dict
    thing.loud = tf.Variable(1.0)
    assert list(thing._trackable_children()) == ["loud"]


def test_names_are_taken_once() -> None:
    """Another child of the same name is an error, unless it may take the place."""
    thing, v = AutoTrackable(), tf.Variable(1.0)
    assert thing._track_trackable(v, "v") is v
    with pytest.raises(ValueError, match="already declared as a dependency"):
        thing._track_trackable(tf.Variable(2.0), "v")
    with pytest.raises(TypeError, match="can only be used to track objects of type Trackable"):
        thing._track_trackable(3, "n")


def test_lists_are_lists() -> None:
    """A wrapped list shares its elements with the list, and is one for programs."""
    plain: Any = [1, [2], {"a": 3}]
    module: Any = tf.Module()
    module.items = plain
    assert isinstance(module.items, list) and isinstance(module.items, ListWrapper) and module.items == plain
    plain.append(4)
    module.items.extend([5, 6])
    module.items += [7]
    module.items.insert(0, 0)
    assert plain == [0, 1, [2], {"a": 3}, 4, 5, 6, 7] == list(module.items) == [*module.items]
    assert len(module.items) == 8 and module.items[1:3] == [1, [2]] and 7 in module.items and module.items.index(7) == 7
    assert module.items + [8] == [*plain, 8] and [9] + module.items == [9, *plain] and module.items * 2 == plain * 2
    module.items[1] = 10
    del module.items[2:]
    module.items.sort(reverse=True)
    assert plain == [10, 0] and module.items.pop() == 0 and module.items.copy() == plain
    assert copy.deepcopy(module.items) == [10] and pickle.loads(pickle.dumps(module.items)) == [10]
    assert hash(module.items) == hash(module.items)


def test_dictionaries_are_dictionaries() -> None:
    """A wrapped dictionary shares its entries, too."""
    plain: Any = collections.OrderedDict(b=1)
    module: Any = tf.Module()
    module.items = plain
    assert isinstance(module.items, dict) and type(module.items) is DictWrapper
    module.items["a"] = [tf.Variable(1.0)]
    module.items.update(c=3)
    assert module.items.setdefault("d", 4) == 4 and list(plain) == ["b", "a", "c", "d"]
    assert {**module.items}.keys() == plain.keys() and "a" in module.items and module.items.get("z") is None
    del module.items["d"]
    assert module.items.pop("c") == 3 and len(module.items) == 2 and dict(module.items) == plain
    assert json.loads(json.dumps(dict(module.items, a=0))) == {"a": 0, "b": 1}
    assert tf.nest.map_structure(lambda _: 0, module.items) == {"a": [0], "b": 0}
    assert copy.copy(module.items) == plain and tf.nest.flatten(module.items) == [plain["a"][0], 1]


def test_tuples_are_tuples() -> None:
    """A tuple is wrapped only if it holds what is tracked; named ones keep their names."""
    pair = collections.namedtuple("pair", "first second")
    module: Any = tf.Module()
    module.plain, module.held, module.named = (1, 2), (1, tf.Variable(2.0)), pair(tf.Variable(1.0), 3)
    assert type(module.plain) is tuple and isinstance(module.held, (tuple, TrackableDataStructure))
    assert isinstance(module.named, pair) and module.named.second == 3 and module.named._replace(second=4).second == 4
    assert list(module.held._trackable_children()) == ["1"]
    assert list(module.named._trackable_children()) == ["first"]
    assert hash(wrap(pair(1, 2))) == hash(pair(1, 2))


def test_layers_in_containers() -> None:
    """Containers tell libraries of layers which weights are in them, and which of these are trained."""

    class Layer(tf.Module):
        def __init__(self, *numbers: float, trainable: bool = True):
            super().__init__()
            self.vs = [tf.Variable(n, trainable=trainable) for n in numbers]

        trainable_weights = property(lambda self: [v for v in self.vs if v.trainable])
        non_trainable_weights = property(lambda self: [v for v in self.vs if not v.trainable])
        losses = property(lambda self: [1.0])

    def numbers(variables: Any) -> list[float]:
        return [float(v) for v in variables]

    holder: Any = tf.Module()
    holder.layers = [Layer(1.0), {"deep": Layer(2.0, trainable=False)}, tf.Variable(3.0)]
    found = holder.layers
    assert len(found.layers) == 2 and numbers(found.trainable_weights) == [3.0, 1.0]
    assert numbers(found.non_trainable_weights) == [2.0] and len(found.losses) == 2 and found.updates == []
    found.trainable = False
    assert found.trainable_weights == [] and numbers(found.weights) == [3.0, 1.0, 2.0]
    assert numbers(holder.trainable_variables) == [3.0, 1.0]


def test_restored_when_attached(tmp_path: Any) -> None:
    """What is put into a restored object's containers later gets its value then."""

    def made(number: float) -> Any:
        return tf.Variable(number)

    saved: Any = tf.Module()
    saved.rest, saved.named = [made(1.0), made(2.0)], {"a": made(3.0)}
    path = tf.train.Checkpoint(model=saved).save(str(tmp_path / "c"))
    later: Any = tf.Module()
    later.rest, later.named = [made(0.0)], {}
    tf.train.Checkpoint(model=later).restore(path)
    assert float(later.rest[0]) == 1.0
    later.rest.append(made(0.0))
    later.named["a"] = made(0.0)
    assert float(later.rest[1]) == 2.0 and float(later.named["a"]) == 3.0


def test_wrappers_that_stand_for_others() -> None:
    """A delegating object has the children of what it wraps."""

    class Stands(DelegatingTrackableMixin, Trackable):
        pass

    inner: Any = AutoTrackable()
    inner.v = tf.Variable(1.0)
    outer: Any = Stands(inner)
    assert outer._trackable_children() == inner._trackable_children() and outer._lookup_dependency("v") is inner.v
    outer._setattr_tracking = False
    assert inner._setattr_tracking is False


def test_variables_of_layers() -> None:
    """A layer's variable is made by the library's function, and tracked."""
    layer = tf.Module()
    v = layer._add_variable_with_custom_getter(
        "w", shape=[2], initializer=tf.zeros, getter=lambda name, shape, dtype, initializer: tf.Variable(
            initializer(shape, dtype), name=name))
    assert layer._trackable_children() == {"w": v} and v.dtype == tf.float32


def test_leaves_of_modules() -> None:
    """Libraries ask a module for its leaves: by a predicate, with paths, by another order, and of itself alone."""
    class Inner(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.v, self.d = tf.Variable(1.0), {"x": [tf.Variable(2.0), 3]}

    module: Any = tf.Module()
    module.a = module.b = Inner()
    module.z, module.itself = tf.Variable(4.0), module

    def is_variable(leaf: Any) -> bool:
        return isinstance(leaf, tf.Variable)

    with_paths = {path: float(v) for path, v in module._flatten(predicate=is_variable, with_path=True)}
    assert with_paths == {("z",): 4.0, ("a", "d", "x", 0): 2.0, ("a", "v"): 1.0, ("b", "d", "x", 0): 2.0,
                          ("b", "v"): 1.0}
    backwards = module._flatten(predicate=is_variable, attribute_traversal_key=lambda key: -ord(key[0]))
    assert [float(v) for v in backwards] == [4.0, 1.0, 2.0]
    assert list(module._flatten(recursive=False, predicate=is_variable)) == [module.z]


def test_variables_of_composites() -> None:
    """A module that stands for its tensors counts as one of the outer module's own attributes."""
    class Spec(tf.TypeSpec):
        value_type = property(lambda self: Held)

        def _serialize(self) -> tuple[()]:
            return ()

        _component_specs = tf.TensorSpec([])

        def _to_components(self, value: Any) -> Any:
            return value.held

        def _from_components(self, components: Any) -> Any:
            return Held(components)

    class Held(tf.Module, tf.__internal__.CompositeTensor):
        def __init__(self, held: Any):
            super().__init__()
            self.held = held

        _type_spec = property(lambda self: Spec())

    outer: Any = tf.Module()
    outer.a = tf.Module()
    outer.a.inner = tf.Variable(1.0)
    outer.b = Held(tf.Variable(2.0))
    assert [float(v) for v in outer.variables] == [2.0, 1.0]
