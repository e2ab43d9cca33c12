"""Summaries of tensors (`tf.contrib.layers`), and tables of variables and operations (`tf.contrib.slim`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphgrad.frontend.graph.collections import GraphKeys, get_collection
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import float32
from graphgrad.ir.opdef import raw
from graphgrad.ir.tensor import Tensor
from graphgrad.ops.math.reduce_functions import reduce_mean
from graphgrad.training.summaries.summaries_v1 import histogram, scalar

_RECTIFIERS = ("Relu", "Softplus", "Relu6")


def summarize_tensor(tensor: Any, tag: str | None = None) -> Tensor | None:
    """Adds a summary of a tensor: the value of a scalar, else a histogram.

    Args:
      tensor: the tensor.
      tag: its tag; the operation's name by default.
    Returns: the summary; None for strings and bools.
    Reference: TensorFlow 1.15 `tf.contrib.layers.summarize_tensor`.
    """
    tag = tag or (tensor.op.name if hasattr(tensor, "op") else None)
    tensor = convert_to_tensor(tensor)
    tag = tag or tensor.op.name
    if not (tensor.dtype.is_floating or tensor.dtype.is_integer):
        return None
    return scalar(tag, tensor) if tensor.shape.rank == 0 else histogram(tag, tensor)


def summarize_activation(op: Any) -> Tensor:
    """Adds summaries of a layer's output: a histogram and, after relu or relu6, the fraction of clipped elements.

    Args:
      op: the output, a tensor.
    Returns: the histogram's summary.
    Reference: TensorFlow 1.15 `tf.contrib.layers.summarize_activation`.

    >>> summarize_activation(tf.nn.relu(tf.constant([-1.0, 2.0]), name="r")).op.name
    'r/activation'
    """
    if op.op.type in _RECTIFIERS:
        before = op.op.inputs[0]
        zeros = raw.Cast(raw.Less(before, convert_to_tensor(0, before.dtype)), DstT=float32)
        scalar(f"{op.op.name}/zeros", reduce_mean(zeros))
    if op.op.type == "Relu6":
        sixes = raw.Cast(raw.Greater(op.op.inputs[0], convert_to_tensor(6, op.dtype)), DstT=float32)
        scalar(f"{op.op.name}/sixes", reduce_mean(sixes))
    return histogram(f"{op.op.name}/activation", op)


def summarize_tensors(tensors: Any, summarizer: Callable[[Any], Any] = summarize_tensor) -> list[Any]:
    """Adds the summaries of several tensors, by a function; omits those that are None.

    Args:
      tensors: the tensors.
      summarizer: a function of a tensor that returns its summary or None.
    Returns: a list of summaries, scalar strings.
    Reference: TensorFlow 1.15 `tf.contrib.layers.summarize_tensors`.
    """
    return [s for t in tensors if (s := summarizer(t)) is not None]


def summarize_collection(collection: str, name_filter: str | None = None,
                         summarizer: Callable[[Any], Any] = summarize_tensor) -> list[Any]:
    """Adds the summaries of a collection's tensors, optionally of those whose names match a pattern.

    Args:
      collection: the name of the collection.
      name_filter: a regular expression for the beginning of names.
      summarizer: as in `summarize_tensors`.
    Returns: a list of summaries, scalar strings.
    Reference: TensorFlow 1.15 `tf.contrib.layers.summarize_collection`.
    """
    import re

    found = [t for t in get_collection(collection) if name_filter is None or re.match(name_filter, t.op.name)]
    return summarize_tensors(found, summarizer)


def summarize_activations(name_filter: str | None = None,
                          summarizer: Callable[[Any], Any] = summarize_activation) -> list[Any]:
    """Adds the summaries of the collection ACTIVATIONS.

    Args:
      name_filter, summarizer: as in `summarize_collection`.
    Returns: a list of summaries, scalar strings.
    Reference: TensorFlow 1.15 `tf.contrib.layers.summarize_activations`.
    """
    return summarize_collection(GraphKeys.ACTIVATIONS, name_filter, summarizer)


def summarize_variables(name_filter: str | None = None,
                        summarizer: Callable[[Any], Any] = summarize_tensor) -> list[Any]:
    """Adds the summaries of the trainable variables.

    Args:
      name_filter, summarizer: as in `summarize_collection`.
    Returns: a list of summaries, scalar strings.
    Reference: TensorFlow 1.15 `tf.contrib.layers.summarize_variables`.
    """
    return summarize_collection(GraphKeys.TRAINABLE_VARIABLES, name_filter, summarizer)


# -- tables --------------------------------------------------------------------------------


def tensor_description(var: Any) -> str:
    """Describes dtype and shape of a variable or tensor, as `(float32_ref 2x3)`.

    Args:
      var: a variable or tensor of known rank.
    Reference: TensorFlow 1.15 `tf.contrib.slim.model_analyzer.tensor_description`.

    >>> tensor_description(tf.zeros([2, 3]))
    '(float32 2x3)'
    """
    return f"({var.dtype.name} {'x'.join('?' if n is None else str(n) for n in var.shape.as_list())})"


def analyze_vars(variables: Any, print_info: bool = False) -> tuple[int, int]:
    """Counts the elements of variables, and their bytes.

    Args:
      variables: the variables.
      print_info: whether to print a table.
    Returns: (numbers, bytes).
    Reference: TensorFlow 1.15 `tf.contrib.slim.model_analyzer.analyze_vars`.

    >>> analyze_vars([tf.Variable(tf.zeros([2, 3]), name="w")], print_info=True)
    ---------
    Variables: name (type shape) [size]
    ---------
    w:0 (float32 2x3) [6, bytes: 24]
    Total size of variables: 6
    Total bytes of variables: 24
    (6, 24)
    """
    if print_info:
        print("---------\nVariables: name (type shape) [size]\n---------")
    total = total_bytes = 0
    for v in variables:
        size = v.shape.num_elements() or 0
        number = size * v.dtype.size
        total += size
        total_bytes += number
        if print_info:
            print(v.name, tensor_description(v), f"[{size}, bytes: {number}]")
    if print_info:
        print(f"Total size of variables: {total}\nTotal bytes of variables: {total_bytes}")
    return total, total_bytes


def analyze_ops(graph: Any, print_info: bool = False) -> int:
    """Counts the elements of the outputs of a graph's operations, as far as their shapes are known.

    Args:
      graph: the graph.
      print_info: whether to print a table.
    Reference: TensorFlow 1.15 `tf.contrib.slim.model_analyzer.analyze_ops`.
    """
    if print_info:
        print("---------\nOperations: name -> (type shapes) [size]\n---------")
    total = 0
    for op in graph.get_operations():
        size = sum(t.shape.num_elements() or 0 for t in op.outputs)
        total += size
        if print_info:
            shown = ", ".join(tensor_description(t) for t in op.outputs if t.shape.rank is not None)
            print(op.name, "\t->", shown or "()", f"[{size}]")
    return total
