"""Values of a saved model's variables and tables, from its checkpoint."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from graphgrad.errors import NotFoundError
from graphgrad.training.checkpoints.bundle import BundleReader, read_bundle
from graphgrad.training.checkpoints.checkpoint_state import checkpoint_exists
from graphgrad.training.checkpoints.object_graph import KEY, TrackableObjectGraph

_VARIABLE = "VARIABLE_VALUE"


class Value(NamedTuple):
    """A tensor of a checkpoint.

    Attributes:
      array: its value.
      dtype: its dtype.
    """

    array: Any
    dtype: Any


def read_values(folder: str, objects: Any) -> dict[int, list[Value]]:
    """Reads the values of objects.

    Args:
      folder: the model's folder.
      objects: the `SavedObjectGraph`.
    Returns: the values, by the numbers of the objects.
    Raises: FileNotFoundError if there is no checkpoint; DataLossError for a damaged one.
    """
    prefix = os.path.join(folder, "variables", "variables")
    if not checkpoint_exists(prefix):
        raise FileNotFoundError(f"Could not find the checkpoint of the SavedModel: {prefix}. Fix: use a whole copy")
    try:
        return read_bundle(prefix, lambda bundle: _values(bundle, objects))
    except NotFoundError as e:
        raise FileNotFoundError(str(e)) from e


def _values(bundle: BundleReader, objects: Any) -> dict[int, list[Value]]:
    if not bundle.has(KEY):
        return {}
    nodes = TrackableObjectGraph.FromString(bundle.read(KEY).item()).nodes
    found = {}
    for number, other in _matched(objects.nodes, nodes).items():
        keys = {a.name: a.checkpoint_key for a in nodes[other].attributes}
        kind = objects.nodes[number].WhichOneof("kind")
        if kind == "variable" and _VARIABLE in keys:
            wanted = [keys[_VARIABLE]]
        elif kind == "resource" and objects.nodes[number].saveable_objects:
            wanted = [k for name in objects.nodes[number].saveable_objects for k in _of_saveable(bundle, name, keys)]
        else:
            continue
        found[number] = [Value(bundle.read(k), bundle.dtype(k)) for k in wanted]
    return found


def _of_saveable(bundle: BundleReader, name: str, keys: dict[str, str]) -> list[str]:
    """Returns the keys of an object's tensors; those of a table are its keys and its values."""
    if name in keys and not bundle.has(keys[name]):
        return [f"{keys[name]}-keys", f"{keys[name]}-values"]
    return [keys[name]] if name in keys else [k for k in keys.values() if bundle.has(k)]


def _matched(saved: Any, nodes: Any) -> dict[int, int]:
    """Matches the objects of two graphs by the names of children; returns numbers by numbers."""
    found: dict[int, int] = {}
    waiting = [(0, 0)] if saved and nodes else []
    while waiting:
        number, other = waiting.pop()
        if number in found or not (0 <= number < len(saved) and 0 <= other < len(nodes)):
            continue
        found[number] = other
        children = {c.local_name: c.node_id for c in nodes[other].children}
        waiting += [(c.node_id, children[c.local_name]) for c in saved[number].children if c.local_name in children]
    back = {other: number for number, other in found.items()}
    for number, other in list(found.items()):
        slots = {(back.get(s.original_variable_node_id), s.slot_name): s.slot_variable_node_id
                 for s in nodes[other].slot_variables}
        for s in saved[number].slot_variables:
            place = slots.get((s.original_variable_node_id, s.slot_name))
            if place is not None and 0 <= place < len(nodes) and 0 <= s.slot_variable_node_id < len(saved):
                found.setdefault(s.slot_variable_node_id, place)
    return found
