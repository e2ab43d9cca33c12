"""Which operations of eager mode are worth a compiled program, see `eager_programs`; a table and no more imports."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

# Op types whose compiled programs take at most three quarters of NumPy's time on a million elements, with that time in
# seconds for an element of the largest input or output; see "Eager mode" in docs/performance.md.
SECONDS: Mapping[str, float] = {
    "AvgPool": 8e-10, "AvgPoolGrad": 1.3e-09, "Cholesky": 5e-09, "Conv2D": 1e-09, "Conv2DBackpropInput": 1e-09,
    "DepthwiseConv2dNative": 5e-09, "DepthwiseConv2dNativeBackpropInput": 6e-09, "Erf": 2e-09, "Erfc": 1.3e-08,
    "FusedBatchNormGradV3": 2.4e-09, "FusedBatchNormV3": 1.5e-09, "Lgamma": 1.3e-08, "LinearRecurrence": 1.5e-08,
    "LogSoftmax": 1.7e-09, "MatrixInverse": 2e-08, "MatrixTriangularSolve": 2e-08, "MaxPool": 6e-10,
    "MaxPoolGrad": 3e-09, "Polygamma": 2e-07, "Prod": 5e-10, "ResizeBilinear": 2e-09, "ResizeBilinearGrad": 3e-09,
    "RsqrtGrad": 2e-09, "ScatterNd": 1e-09, "Sigmoid": 1e-09, "SigmoidGrad": 1e-09, "Softmax": 1.7e-09,
    "SoftmaxCrossEntropyWithLogits": 3.7e-09, "SoftplusGrad": 1e-09, "SparseSoftmaxCrossEntropyWithLogits": 3.9e-09,
    "SqrtGrad": 1.5e-09, "UnsortedSegmentSum": 9e-10,
}
WORTH = 3e-4  # seconds: what takes less stays with NumPy


def seconds(opdef: Any, inputs: Sequence[Any], specs: Sequence[Any]) -> float:
    """Estimates what NumPy takes for an operation; 0 if it is not worth a program.

    Args:
      opdef: its record.
      inputs: eager tensors.
      specs: of its outputs.
    """
    largest = max([getattr(t._value, "size", 0) for t in inputs], default=0)
    largest = max(largest, *[math.prod(s.shape) for s in specs if s.shape is not None and None not in s.shape], 0)
    found = SECONDS[opdef.name] * largest
    return found if found >= WORTH else 0.0
