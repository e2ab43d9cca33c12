"""`tf.contrib.image` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.contrib.contrib_image: angles_to_projective_transforms compose_transforms dense_image_warp
    flat_transforms_to_matrices matrices_to_flat_transforms rotate transform translate
    translations_to_projective_transforms
""")
