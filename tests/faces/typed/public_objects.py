"""The public functions and classes, their types, and which have none."""

from __future__ import annotations

import ast
import pathlib
import re
from collections.abc import Sequence

SOURCE = pathlib.Path(__file__).parents[3] / "src"
COMPAT = SOURCE / "graphgrad" / "compat"

# The public functions whose results have no type, and why.
_NOT_BY_ARGUMENTS = "what it returns depends on what was saved, set or recorded before"
_ELEMENTS = "the structure of a data set's elements, which its type does not tell"
_STRUCTURE = "a structure of other leaves than the one it gets, for libraries"
_ABSENT = "it is not here, and says so when it is called"
_WHY = {
    "compat.internal.absent": {_ABSENT: """CheckpointInitialValue CheckpointInitialValueCallable ObjectGraphView
        SavedModelBuilder ShardedVariable deserialize_feature_column execute_fn_for_device lift_to_graph
        saveable_objects_from_trackable serialize_feature_column streaming_restore"""},
    "compat.internal.framework.types": {"what `TensorLike` stands for cannot be expressed": "TensorLike"},
    "extras.data.experimental_apply": {_ELEMENTS: "at get_structure"},
    "extras.data.experimental_datasets": {_ELEMENTS: "get_single_element"},
    "extras.data.graph_iterator": {_ELEMENTS: "get_output_classes get_output_shapes get_output_types"},
    "extras.saved_model.load": {_NOT_BY_ARGUMENTS: "load"},
    "extras.saved_model.load_structures": {_NOT_BY_ARGUMENTS: "structure_of"},
    "frontend.function.autograph.api": {"of the function it gets": "to_graph to_graph_v1"},
    "frontend.structure.nest": {
        _STRUCTURE: "get_traverse_shallow_structure list_to_tuple map_structure_up_to sequence_like"},
    "frontend.tracking.data_structures": {_STRUCTURE: "wrap"},
    "frontend.tracking.trackable": {_STRUCTURE: "sticky_attribute_assignment"},
    "training.summaries.summary_writers": {_NOT_BY_ARGUMENTS: "get_step"},
}
UNTYPED = {f"graphgrad.{module}.{name}": why for module, reasons in _WHY.items() for why, names in reasons.items()
           for name in names.split()}


def public_objects() -> list[tuple[str, str]]:
    """What the stubs of the faces import from this package: modules and names, in order."""
    found = {}
    for stub in sorted(path for path in COMPAT.rglob("*.pyi") if path.stem != "raw_ops"):  # it has names of its own
        for node in ast.parse(stub.read_text()).body:
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("graphgrad"):
                found.update({(node.module, alias.name): None for alias in node.names})
    return list(found)


def asking_for(objects: Sequence[tuple[str, str]]) -> str:
    """A program that asks for the type of each."""
    return "\n".join(f"from {module} import {name} as n{i}; reveal_type(n{i})"
                     for i, (module, name) in enumerate(objects))


def without_type(objects: Sequence[tuple[str, str]], said: Sequence[str]) -> list[str]:
    """Those that a checker tells no type of, or no type of what they return; overloads tell it for some arguments."""
    found, asked = [], 0
    for line in said:
        revealed = re.fullmatch(r'\w+\.py:(\d+): note: Revealed type is "(.*)"', line)
        if revealed:
            asked += 1
            number, kind = int(revealed[1]) - 1, revealed[2]
            if kind == "Any" or (kind.endswith(") -> Any") and not kind.startswith("Overload")):
                found.append(".".join(objects[number]))
    assert asked == len(objects) > 2000
    return sorted(found)
