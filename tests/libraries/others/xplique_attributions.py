"""Xplique: attributions of a classifier's outputs to pixels, by gradients and by what is hidden, on given weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import into, keras_seeds
from .keras_vis_maps import _images, _model

CASES: dict[str, Callable[[Any], Any]] = {}
_case = into(CASES)
prepare = keras_seeds
_TARGETS = np.eye(4, dtype=np.float32)[[0, 2, 3]]


def _explained(tf: Any, kind: Any, **kwargs: Any) -> Any:
    return kind(_model(tf), batch_size=2, **kwargs)(_images(), _TARGETS)


@_case
def the_first_program(tf: Any) -> Any:
    """Saliency and Grad-CAM, as in the README."""
    from xplique.attributions import GradCAM, Saliency

    return [_explained(tf, Saliency, output_layer=-1), _explained(tf, GradCAM, output_layer=-1, conv_layer="last")]


@_case
def by_gradients(tf: Any) -> Any:
    from xplique import attributions as a

    logits = {"output_layer": -1}
    return [_explained(tf, a.GradientInput, **logits), _explained(tf, a.IntegratedGradients, steps=12, **logits),
            _explained(tf, a.GradCAMPP, conv_layer="last", **logits), _explained(tf, a.GuidedBackprop, **logits),
            _explained(tf, a.DeconvNet, **logits)]


@_case
def by_what_is_hidden(tf: Any) -> Any:
    from xplique import attributions as a

    return [_explained(tf, a.Occlusion, patch_size=3, patch_stride=3)]


@_case
def how_faithful_they_are(tf: Any) -> Any:
    """Metrics of explanations: pixels are taken away and put back in the order of their attribution."""
    from xplique.attributions import Saliency
    from xplique.metrics import Deletion, Insertion

    maps = _explained(tf, Saliency, output_layer=-1)
    return [kind(_model(tf), _images(), _TARGETS, batch_size=3, steps=6)(maps) for kind in (Deletion, Insertion)]
