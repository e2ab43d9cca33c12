"""What estimators export: the outputs of a signature, by what they are."""

from __future__ import annotations

from typing import Any

from graphgrad.extras.import_v1.saved_model import (
    build_signature_def,
    build_tensor_info,
    classification_signature_def,
    predict_signature_def,
    regression_signature_def,
)
from graphgrad.frontend.graph.default_graph import control_dependencies
from graphgrad.ir.conversion import constant
from graphgrad.ir.dtypes import string
from graphgrad.ir.graph import Operation, Tensor


def _named(outputs: Any, default: str, what: str) -> dict[str, Any]:
    """Returns outputs by name, one alone by the default; tuples of names are joined."""
    found = {}
    for key, value in (outputs if isinstance(outputs, dict) else {default: outputs}).items():
        name = "/".join(key) if isinstance(key, tuple) else key
        if not isinstance(name, str):
            raise ValueError(f"{what} output key must be a string; got {name}.")
        if not isinstance(value, Tensor):
            raise ValueError(f"{what} output value must be a Tensor; got {value}.")
        found[name] = value
    return found


def _examples(receiver_tensors: dict[str, Any], kind: str) -> Any:
    """Returns the only input, which is of serialized examples."""
    found = list(receiver_tensors.values())
    if len(found) != 1 or found[0].dtype is not string:
        raise ValueError(f"{kind} signatures can only accept a single tensor input of type tf.string. "
                         f"Received: {receiver_tensors}. Fix: use tf.io.parse_example in serving_input_receiver_fn")
    return found[0]


class ExportOutput:
    """The base of outputs."""

    def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
        """Returns the signature with these outputs.

        Args:
          receiver_tensors: the inputs by name.
        """
        raise NotImplementedError  # each kind of output has its own


class ClassificationOutput(ExportOutput):
    """Classes, strings, and their scores.

    Args:
      scores: a float tensor, or None.
      classes: a tensor of strings, or None.
    Raises: ValueError for other tensors, or neither.
    """

    def __init__(self, scores: Any = None, classes: Any = None):
        if scores is not None and not (isinstance(scores, Tensor) and scores.dtype.is_floating):
            raise ValueError(f"Classification scores must be a float32 Tensor; got {scores}")
        if classes is not None and not (isinstance(classes, Tensor) and classes.dtype is string):
            raise ValueError(f"Classification classes must be a string Tensor; got {classes}")
        if scores is None and classes is None:
            raise ValueError("Cannot create a ClassificationOutput with empty arguments. "
                             "At least one of `scores` and `classes` must be defined.")
        self.scores, self.classes = scores, classes

    def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
        """Returns the signature of a classification; ValueError for inputs other than examples."""
        return classification_signature_def(_examples(receiver_tensors, "Classification"), self.classes, self.scores)


class RegressionOutput(ExportOutput):
    """Numbers.

    Args:
      value: a float tensor.
    Raises: ValueError for another.
    """

    def __init__(self, value: Any):
        if not (isinstance(value, Tensor) and value.dtype.is_floating):
            raise ValueError(f"Regression output value must be a float32 Tensor; got {value}")
        self.value = value

    def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
        """Returns the signature of a regression; ValueError for inputs other than examples."""
        return regression_signature_def(_examples(receiver_tensors, "Regression"), self.value)


class PredictOutput(ExportOutput):
    """Tensors by name.

    Args:
      outputs: a dict of tensors, or one.
    Raises: ValueError for other values and names.
    """

    def __init__(self, outputs: Any):
        self.outputs = _named(outputs, "output", "Prediction")

    def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
        """Returns the signature of predictions."""
        return predict_signature_def(receiver_tensors, self.outputs)


class _SupervisedOutput(ExportOutput):
    """Loss, predictions and metrics of training or evaluation."""

    _method = ""

    def __init__(self, loss: Any = None, predictions: Any = None, metrics: Any = None):
        self.loss = loss if loss is None else _prefixed(_named(loss, "loss", "loss"), "loss")
        self.predictions = predictions if predictions is None else _prefixed(
            _named(predictions, "predictions", "predictions"), "predictions")
        self.metrics = metrics if metrics is None else _of_metrics(metrics)

    def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
        """Returns the signature of training or evaluation."""
        outputs = {**(self.loss or {}), **(self.predictions or {}), **(self.metrics or {})}
        return build_signature_def({k: build_tensor_info(v) for k, v in receiver_tensors.items()},
                                   {k: build_tensor_info(v) for k, v in outputs.items()}, self._method)


def _prefixed(outputs: dict[str, Any], prefix: str) -> dict[str, Any]:
    return {key if key.startswith(prefix) else f"{prefix}/{key}": value for key, value in outputs.items()}


def _of_metrics(metrics: Any) -> dict[str, Any]:
    """Returns values and updates of metrics, given as pairs or objects of Keras's."""
    found = {}
    for key, metric in (metrics if isinstance(metrics, dict) else {"metrics": metrics}).items():
        value, update = metric if isinstance(metric, tuple) else (metric.result(), metric.updates[0])
        name = next(iter(_prefixed({key: value}, "metrics")))
        if isinstance(update, Operation):
            with control_dependencies([update]):
                update = constant([], name="metric_op_wrapper")
        found[f"{name}/value"], found[f"{name}/update_op"] = value, update
    return found


class TrainOutput(_SupervisedOutput):
    """Loss, predictions and metrics of training.

    Args:
      loss, predictions: a dict of tensors, or one.
      metrics: a dict of pairs of value and update, or one.
    """

    _method = "tensorflow/supervised/training"


class EvalOutput(_SupervisedOutput):
    """Loss, predictions and metrics of evaluation.

    Args:
      loss, predictions: a dict of tensors, or one.
      metrics: a dict of pairs of value and update, or one.
    """

    _method = "tensorflow/supervised/eval"
