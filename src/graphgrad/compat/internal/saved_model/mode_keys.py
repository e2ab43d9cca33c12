"""Names of what a saved graph is for: `tensorflow.python.saved_model.model_utils.mode_keys`."""


class KerasModeKeys:
    """The modes of Keras's models."""

    TRAIN = "train"
    TEST = "test"
    PREDICT = "predict"


class EstimatorModeKeys:
    """The modes of estimators."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


def is_predict(mode: str) -> bool:
    """Returns whether a mode is for predictions."""
    return mode in (KerasModeKeys.PREDICT, EstimatorModeKeys.PREDICT)


def is_eval(mode: str) -> bool:
    """Returns whether a mode is for evaluation."""
    return mode in (KerasModeKeys.TEST, EstimatorModeKeys.EVAL)


def is_train(mode: str) -> bool:
    """Returns whether a mode is for training."""
    return mode == KerasModeKeys.TRAIN
