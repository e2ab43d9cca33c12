"""How estimators write what they export: signatures of outputs, folders with the time in their names."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

from graphgrad.extras.import_v1.saved_model import is_valid_signature
from graphgrad.platform.gfile import exists
from graphgrad.system.log import Log

from .export_output import (
    EvalOutput,
    ExportOutput,
    PredictOutput,
    TrainOutput,
)
from .mode_keys import EstimatorModeKeys, KerasModeKeys, is_eval, is_predict, is_train

_log = Log("tensorflow")
SINGLE_FEATURE_DEFAULT_NAME = "feature"
SINGLE_RECEIVER_DEFAULT_NAME = "input"
SINGLE_LABEL_DEFAULT_NAME = "label"
MAX_DIRECTORY_CREATION_ATTEMPTS = 10
_DEFAULT = "serving_default"


class ModeKeyMap(Mapping[str, Any]):
    """Values by mode: the names of Keras and of estimators mean the same modes.

    Args:
      **kwargs: the values of "train", "test" and "predict".
    """

    def __init__(self, **kwargs: Any):
        self._values = kwargs

    def _mode(self, key: str) -> str:
        for matches, name in ((is_train, KerasModeKeys.TRAIN), (is_eval, KerasModeKeys.TEST),
                              (is_predict, KerasModeKeys.PREDICT)):
            if matches(key):
                return name
        raise ValueError(f"Invalid mode key: {key}.")

    def __getitem__(self, key: str) -> Any:
        return self._values[self._mode(key)]

    def __contains__(self, key: object) -> bool:
        return key in (*self._values, EstimatorModeKeys.TRAIN, EstimatorModeKeys.EVAL, EstimatorModeKeys.PREDICT)

    def __iter__(self) -> Any:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


EXPORT_TAG_MAP = ModeKeyMap(predict=["serve"], train=["train"], test=["eval"])
SIGNATURE_KEY_MAP = ModeKeyMap(predict=_DEFAULT, train="train", test="eval")


def build_all_signature_defs(receiver_tensors: Any, export_outputs: Any, receiver_tensors_alternatives: Any = None,
                             serving_only: bool = True) -> dict[str, Any]:
    """Returns the signatures of outputs, those that fit the inputs.

    Args:
      receiver_tensors: the inputs by name, or one.
      export_outputs: `ExportOutput`s by name.
      receiver_tensors_alternatives: further inputs by name, whose signatures are named "inputs:outputs".
      serving_only: whether those of training and evaluation are left out.
    Raises: ValueError for outputs that are no dict.
    """
    if not isinstance(export_outputs, dict):
        raise ValueError(f"`export_outputs` must be a dict. Received {export_outputs} with type "
                         f"{type(export_outputs).__name__}.")
    found: dict[str, Any] = {}
    for prefix, tensors in {None: receiver_tensors, **(receiver_tensors_alternatives or {})}.items():
        inputs = tensors if isinstance(tensors, dict) else {SINGLE_RECEIVER_DEFAULT_NAME: tensors}
        for key, output in export_outputs.items():
            name = f"{key or 'None'}" if prefix is None else f"{prefix}:{key or 'None'}"
            try:
                found[name] = output.as_signature_def(inputs)
            except ValueError as e:
                _log.info("Export excludes the signature %s: %s", name, e)
    return {k: v for k, v in found.items() if is_valid_signature(v)} if serving_only else found


def get_export_outputs(export_outputs: Any, predictions: Any) -> dict[str, Any]:
    """Returns outputs with a default among them.

    Args:
      export_outputs: `ExportOutput`s by name, or None for the predictions.
      predictions: tensors by name, or one.
    Raises: TypeError for other values; ValueError for several without a default.
    """
    if export_outputs is None:
        export_outputs = {_DEFAULT: PredictOutput(predictions)}
    if not isinstance(export_outputs, dict):
        raise TypeError(f"`export_outputs` must be dict, received: {export_outputs}.")
    if not all(isinstance(v, ExportOutput) for v in export_outputs.values()):
        raise TypeError(f"Values in `export_outputs` must be ExportOutput objects, received: {export_outputs}.")
    if len(export_outputs) == 1:
        export_outputs.setdefault(_DEFAULT, next(iter(export_outputs.values())))
    if len(export_outputs) > 1 and _DEFAULT not in export_outputs:
        raise ValueError("Multiple `export_outputs` were provided, but none of them are specified as the default. "
                         "Fix: use tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY for one of them")
    return export_outputs


def export_outputs_for_mode(mode: str, serving_export_outputs: Any = None, predictions: Any = None, loss: Any = None,
                            metrics: Any = None) -> dict[str, Any]:
    """Returns what is exported of a model in a mode.

    Args:
      mode: a mode of estimators or Keras.
      serving_export_outputs: `ExportOutput`s by name, for predictions.
      predictions, loss, metrics: what the model gives.
    Raises: ValueError for another mode.
    """
    if mode not in SIGNATURE_KEY_MAP:
        raise ValueError(f"Export output type not found for `mode`: {mode}. "
                         f"Expected one of: {list(SIGNATURE_KEY_MAP)}.")
    if is_predict(mode):
        return get_export_outputs(serving_export_outputs, predictions)
    kind = TrainOutput if is_train(mode) else EvalOutput
    return {SIGNATURE_KEY_MAP[mode]: kind(loss=loss, predictions=predictions, metrics=metrics)}


def get_timestamped_export_dir(export_dir_base: Any) -> bytes:
    """Returns the path of a new folder whose name is the time in seconds.

    Args:
      export_dir_base: the folder above it.
    Raises: RuntimeError if there is one for each of several seconds.
    """
    for _ in range(MAX_DIRECTORY_CREATION_ATTEMPTS):
        found = os.path.join(os.fsencode(export_dir_base), str(int(time.time())).encode())
        if not exists(found):
            return found
        time.sleep(1)
    raise RuntimeError("Failed to obtain a unique export directory name after "
                       f"{MAX_DIRECTORY_CREATION_ATTEMPTS} attempts.")


def get_temp_export_dir(timestamped_export_dir: Any) -> bytes:
    """Returns the path of the folder that is written before it gets its name.

    Args:
      timestamped_export_dir: the path it will have.
    """
    folder, name = os.path.split(os.fsencode(timestamped_export_dir))
    return os.path.join(folder, b"temp-" + name)
