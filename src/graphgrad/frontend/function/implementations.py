"""Functions that compute the same for different devices, as libraries declare them by attributes of `tf.function`.

A function with the attribute `api_implements` is called. Then the trace of another one with the same value, and with
`api_preferred_device`, is added to the graph; it replaces the call where graphs run on such a device, which TensorFlow
does when it optimizes the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from graphgrad.frontend.config.devices import list_physical_devices
from graphgrad.frontend.structure import nest
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.graph import Graph, Tensor
from graphgrad.ir.opdef import raw


def noted(graph: Graph, attributes: Mapping[str, Any], args: Any, kwargs: Any, result: Any) -> Any:
    """Notes the call of a function that another one may replace.

    Args:
      graph: the graph that the call was added to.
      attributes: those of the function.
      args, kwargs: the arguments.
      result: the results.
    Returns: the results, as tensors of their own if the call may be replaced.
    """
    name = attributes.get("api_implements")
    if name is None or "api_preferred_device" in attributes:
        return result
    leaves = nest.flatten(result)
    if not leaves or not all(isinstance(leaf, Tensor) and leaf.graph is graph for leaf in leaves):
        return result
    own = [raw.Identity(leaf) for leaf in leaves]
    graph._scoped_state.setdefault("implemented_calls", {})[name] = args, kwargs, own
    return nest.pack_sequence_as(result, own)


def replace(attributes: Mapping[str, Any], function: Callable[..., Any]) -> None:
    """Replaces the call, in the graph that is being built, of a function that this one implements for its device.

    Args:
      attributes: those of this function.
      function: this function.
    """
    graph = current_graph()
    calls = {} if graph is None else graph._scoped_state.get("implemented_calls", {})
    call = calls.pop(attributes.get("api_implements"), None)
    if graph is None or call is None or not _runs_on(str(attributes.get("api_preferred_device"))):
        return
    args, kwargs, results = call
    with graph.before(results[0].op):
        found = [convert_to_tensor(t) for t in nest.flatten(function(*args, **kwargs))]
    if [t.dtype for t in found] == [t.dtype for t in results]:
        for old, new in zip(results, found, strict=True):
            graph._rebuild(old.op, (new,), old.op.attrs, ())


def _runs_on(device: str) -> bool:
    """Returns whether graphs run on a kind of device where no device is named."""
    others = [d for d in list_physical_devices() if d.device_type != "CPU"]
    return device == (others[0].device_type if others else "CPU")
