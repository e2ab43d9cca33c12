"""What libraries import from `python.ops.confusion_matrix`."""

from __future__ import annotations

from typing import Any

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ops.math.bincount import confusion_matrix_v1 as confusion_matrix


def remove_squeezable_dimensions(labels: Any, predictions: Any, expected_rank_diff: int = 0,
                                 name: str | None = None) -> tuple[Any, Any]:
    """Squeezes a last dimension of 1 where ranks differ by one more than expected.

    Args:
      labels, predictions: tensors.
      expected_rank_diff: the rank of predictions less that of labels that is left alone.
      name: the name of the scope.
    Returns: (labels, predictions).
    """
    with name_scope(name, "remove_squeezable_dimensions"):
        predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
        p, k = predictions.shape, labels.shape
        if p.rank is None or k.rank is None:
            return labels, predictions
        more = p.rank - k.rank - expected_rank_diff
        if more == 1 and p.as_list()[-1] in (1, None):
            predictions = raw.Squeeze(predictions, squeeze_dims=(-1,))
        elif more == -1 and k.as_list()[-1] in (1, None):
            labels = raw.Squeeze(labels, squeeze_dims=(-1,))
        return labels, predictions
