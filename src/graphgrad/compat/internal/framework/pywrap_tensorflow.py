"""`tensorflow.python.pywrap_tensorflow`: what libraries call of TensorFlow's compiled part."""

from __future__ import annotations

from typing import Any

from graphgrad.ir.constant_value import constant_value


def TF_TryEvaluateConstant_wrapper(graph: Any, output: Any) -> Any:
    """Returns the value of a tensor if it is known, else None.

    Args:
      graph: accepted.
      output: the operation, and the number of its output.
    """
    op, number = output
    return constant_value(op.outputs[number])
