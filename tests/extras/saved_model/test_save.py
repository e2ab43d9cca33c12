"""Models that are saved here: what is in the files. `tests/record/saved_here.py` has TensorFlow load and train them."""

from __future__ import annotations

import itertools
import pathlib
from typing import Any

import numpy as np
import pytest

import graphgrad as tf
from graphgrad.training.checkpoints.bundle import BundleReader
from graphgrad.training.checkpoints.saved_object_messages import SavedModel

from .saved_here_cases import ALL_CASES


def saved(root: Any, folder: pathlib.Path, **further: Any) -> Any:
    """Saves an object; returns the one meta graph of the file."""
    tf.saved_model.save(root, str(folder), **further)
    return read(folder)


def read(folder: pathlib.Path) -> Any:
    """Returns the one meta graph of a model's file."""
    (made,) = SavedModel.FromString((folder / "saved_model.pb").read_bytes()).meta_graphs
    return made


@pytest.mark.parametrize("name", ALL_CASES)
def test_cases(name: str, tmp_path: pathlib.Path) -> None:
    """All that the object graph names is there: functions in the library, objects by number, values in the bundle."""
    root, further = ALL_CASES[name][0](tf, tmp_path)
    made = saved(root, tmp_path / "model", **further)
    library = {f.signature.name: f for f in made.graph_def.library.function}
    objects = made.object_graph_def
    assert len(library) == len(made.graph_def.library.function)
    for function, described in objects.concrete_functions.items():
        arguments = library[function].signature.input_arg
        assert len(arguments) >= len(described.bound_inputs)
        assert all(0 <= n < len(objects.nodes) for n in described.bound_inputs)
    for node in objects.nodes:
        assert node.WhichOneof("kind") and all(0 < c.node_id < len(objects.nodes) for c in node.children)
        for function in node.function.concrete_functions:
            assert function in objects.concrete_functions
    names = {n.name for n in made.graph_def.node}
    assert len(names) == len(made.graph_def.node)
    for node in made.graph_def.node:
        assert {i.removeprefix("^").partition(":")[0] for i in node.input} <= names
        assert node.op != "StatefulPartitionedCall" or node.attr["f"].func.name in library
    bundle = BundleReader(str(tmp_path / "model" / "variables" / "variables"))
    count = sum({"variable": 1}.get(node.WhichOneof("kind"), 2 * len(node.saveable_objects)) for node in objects.nodes)
    assert sum(".ATTRIBUTES" in n for n in bundle.names()) == count


def test_order_of_effects(tmp_path: pathlib.Path) -> None:
    """Operations on a variable that changes wait for each other in the order in which they run here."""
    root = tf.Module()
    root.v = tf.Variable(1.0)

    @tf.function(input_signature=[])
    def f() -> Any:
        before = root.v + 0.0
        root.v.assign_add(1.0)
        between = root.v + 0.0
        root.v.assign(between * 10.0)
        return before, between, root.v + 0.0

    root.f = f
    made = saved(root, tmp_path / "model")
    (function,) = [f for f in made.graph_def.library.function if f.signature.name.startswith("__inference_f")]
    on_variable = [n for n in function.node_def if n.op.endswith("VariableOp")]
    assert [n.op for n in on_variable] == ["ReadVariableOp", "AssignAddVariableOp", "ReadVariableOp",
                                          "AssignVariableOp", "ReadVariableOp"]
    for before, after in itertools.pairwise(on_variable):
        assert f"^{before.name}" in after.input
    assert len(function.signature.control_output) == 2


def test_what_cannot_be_written_is_left_out(tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture) -> None:
    """A function that uses what TensorFlow lacks is named in a warning; the rest is saved."""
    root = tf.Module()
    root.v = tf.Variable([1.0, 2.0])
    root.f = tf.function(lambda x: x * root.v, input_signature=[tf.TensorSpec([2])])
    root.g = tf.function(lambda x: tf.raw_ops.BatchNonMaxSuppression(
        boxes=x, scores=x[..., 0], max_output_size=2, iou_threshold=0.5, score_threshold=0.0),
                         input_signature=[tf.TensorSpec([1, 2, 4])])
    made = saved(root, tmp_path / "model", signatures=root.f)
    kinds = {c.local_name: made.object_graph_def.nodes[c.node_id] for c in made.object_graph_def.nodes[0].children}
    assert len(kinds["f"].function.concrete_functions) == 1 and not kinds["g"].function.concrete_functions


def test_untracked_variable(tmp_path: pathlib.Path) -> None:
    """A function's variable that no object holds is an error, and nothing is written."""
    root, other = tf.Module(), tf.Variable(1.0)
    root.f = tf.function(lambda: other + 1.0, input_signature=[])
    with pytest.raises(AssertionError, match=r"(?s)'untracked' resource.*Fix:"):
        tf.saved_model.save(root, str(tmp_path / "model"))
    assert not (tmp_path / "model").exists()


def test_arguments(tmp_path: pathlib.Path) -> None:
    """What cannot be saved is an error in TensorFlow's words."""
    with pytest.raises(ValueError, match="Expected an object of type `Trackable`"):
        tf.saved_model.save(3, str(tmp_path / "model"))
    with pytest.raises(ValueError, match="Only `tf.functions` with an input signature"):
        tf.saved_model.save(tf.Module(), str(tmp_path / "model"), signatures=tf.function(lambda x: x))
    root = tf.Module()
    root.signatures = tf.Module()
    with pytest.raises(ValueError, match="reserved attribute"):
        tf.saved_model.save(root, str(tmp_path / "model"))
    tf.saved_model.save(tf.Module(), str(tmp_path / "empty"))
    assert tf.saved_model.contains_saved_model(str(tmp_path / "empty"))


def test_an_unfinished_model_is_none(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever writing ends, the directory holds the whole new model or none."""
    root = tf.Module()
    root.v = tf.Variable([1.0, 2.0])
    folder = tmp_path / "model"
    tf.saved_model.save(root, str(folder))
    root.w = tf.Variable(3.0)
    from graphgrad.extras.saved_model import save as module

    for name in ("write_objects", "write_whole"):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, lambda *args: (_ for _ in ()).throw(KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                tf.saved_model.save(root, str(folder))
        assert not tf.saved_model.contains_saved_model(str(folder))
    tf.saved_model.save(root, str(folder))
    assert tf.saved_model.contains_saved_model(str(folder))
    bundle = BundleReader(str(folder / "variables" / "variables"))
    np.testing.assert_array_equal(bundle.read("v/.ATTRIBUTES/VARIABLE_VALUE"), [1.0, 2.0])
    assert bundle.read("w/.ATTRIBUTES/VARIABLE_VALUE") == 3.0


def test_maps_and_loops(tmp_path: pathlib.Path) -> None:
    """Maps over rows are written as loops, and loops with the counter and the bound that TensorFlow's gradients use."""
    root = tf.Module()
    root.f = tf.function(lambda x: tf.map_fn(lambda e: e * 2.0, x), input_signature=[tf.TensorSpec([None, 2])])
    root.g = tf.function(lambda x: tf.while_loop(lambda v: v < 9.0, lambda v: v * 2.0, [x], maximum_iterations=4),
                         input_signature=[tf.TensorSpec([])])
    made = saved(root, tmp_path / "model", signatures=root.g)
    library = {f.signature.name: f for f in made.graph_def.library.function}
    loops = [n for f in library.values() for n in f.node_def if n.op == "While"]
    assert len(loops) == 2 and "VectorizedMap" not in {n.op for f in library.values() for n in f.node_def}
    for loop in loops:
        body, cond = (library[loop.attr[k].func.name] for k in ("body", "cond"))
        types = list(loop.attr["T"].list.type)
        assert types[:2] == [3, 3] and len(types) == len(loop.input)
        assert [a.type for a in body.signature.input_arg] == [a.type for a in body.signature.output_arg] == types
        assert [a.type for a in cond.signature.input_arg] == types and len(cond.signature.output_arg) == 1


@pytest.mark.parametrize("keep", [True, False])
def test_custom_gradients(tmp_path: pathlib.Path, keep: bool) -> None:
    """They are functions of the library, or at least have names, so that no other gradient takes their place."""
    root = ALL_CASES["custom"][0](tf, tmp_path)[0]
    options = tf.saved_model.SaveOptions(experimental_custom_gradients=keep)
    library = saved(root, tmp_path / "model", options=options).graph_def.library
    marked = [n.attr["_gradient_op_type"].s.decode() for f in library.function for n in f.node_def
              if "_gradient_op_type" in n.attr]
    assert len(marked) == 3
    registered = {g.registered_op_type: g.gradient_func for g in library.registered_gradients}
    assert set(registered) == (set(marked) if keep else set())
    assert set(registered.values()) <= {f.signature.name for f in library.function}


def test_a_gradient_that_fails(tmp_path: pathlib.Path) -> None:
    """An error in the user's gradient function does not keep the model from being saved."""

    @tf.custom_gradient
    def wrong(x: Any) -> Any:
        def grad(dy: Any) -> Any:
            raise LookupError("not today")

        return x * 2.0, grad

    root = tf.Module()
    root.f = tf.function(wrong, input_signature=[tf.TensorSpec([2])])
    library = saved(root, tmp_path / "model").graph_def.library
    assert len(library.function) == 2 and not library.registered_gradients


def test_nodes_and_paths(tmp_path: pathlib.Path) -> None:
    """Libraries learn which objects there are, by number, and how they are reached."""
    from graphgrad.extras.saved_model.save import save_and_return_nodes

    root = tf.Module()
    root.inner = [tf.Variable(1.0), tf.Module()]
    nodes, paths = save_and_return_nodes(root, str(tmp_path / "model"), experimental_skip_checkpoint=True)
    assert nodes[0] is root and paths[root] == ()
    assert [reference.name for reference in paths[root.inner[0]]] == ["inner", "0"]
    made = read(tmp_path / "model").object_graph_def
    assert len(made.nodes) == len(nodes) and not (tmp_path / "model" / "variables").exists()


def test_defaults_of_a_decorator(tmp_path: pathlib.Path) -> None:
    """A decorator may give the decorated function other defaults; these are what is saved, and what calls get."""
    from graphgrad.compat.internal.util.decorator import make_decorator
    from graphgrad.compat.internal.util.tf_inspect import getfullargspec

    def target(x: Any, training: Any = None) -> Any:
        return x

    spec = getfullargspec(target)._replace(defaults=(False,))
    root = tf.Module()
    root.f = tf.function(make_decorator(target, lambda x, training: x * 2.0 if training else x * 3.0,
                                        decorator_argspec=spec))
    for training in (True, False):
        root.f.get_concrete_function(tf.TensorSpec([2]), training)
    assert root.f(tf.ones([2])).numpy().tolist() == [3.0, 3.0]
    tf.saved_model.save(root, str(tmp_path / "model"))
    loaded = tf.saved_model.load(str(tmp_path / "model"))
    assert loaded.f(tf.ones([2])).numpy().tolist() == [3.0, 3.0]
    assert loaded.f(tf.ones([2]), training=True).numpy().tolist() == [2.0, 2.0]


class _Held(tf.__internal__.tracking.AutoTrackable):
    """A variable in an object of its own, as other libraries keep theirs."""

    def __init__(self, variable: Any):
        self._inner = variable

    @property
    def value(self) -> Any:
        return self._inner

    def _serialize_to_tensors(self) -> Any:
        return {"VARIABLE_VALUE": self._inner}


class _Lists(tf.__internal__.tracking.AutoTrackable):
    """What it holds is named when it is asked, in plain lists and dictionaries."""

    def __init__(self) -> None:
        self._setattr_tracking = False
        self.parts = [_Held(tf.Variable(2.0))]
        self.named = {"b": tf.Variable(3.0)}
        self._setattr_tracking = True

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        own = super()._trackable_children(save_type, **kwargs)
        return {**own, "parts": [p.value for p in self.parts], "named": dict(self.named), "held": self.parts[0]}

    @tf.function(input_signature=[tf.TensorSpec([])])
    def line(self, x: Any) -> Any:
        return x * self.parts[0].value + self.named["b"]


def test_children_in_plain_lists(tmp_path: pathlib.Path) -> None:
    """Lists and dictionaries among an object's children are saved as such, variables in other objects as variables."""
    root = _Lists()
    assert not root.line._trackable_children()
    tf.saved_model.save(root, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    assert loaded.line(5.0).numpy() == 13 and loaded.parts[0] is loaded.held
    loaded.held.assign(10.0)
    loaded.named["b"].assign(1.0)
    assert loaded.line(5.0).numpy() == 51
    assert list(root.line._trackable_children("savedmodel")) == ["trace_0"]
