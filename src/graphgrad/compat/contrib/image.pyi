"""`tf.contrib.image` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.extras.contrib.contrib_image import angles_to_projective_transforms as angles_to_projective_transforms
from graphgrad.extras.contrib.contrib_image import compose_transforms as compose_transforms
from graphgrad.extras.contrib.contrib_image import dense_image_warp as dense_image_warp
from graphgrad.extras.contrib.contrib_image import flat_transforms_to_matrices as flat_transforms_to_matrices
from graphgrad.extras.contrib.contrib_image import matrices_to_flat_transforms as matrices_to_flat_transforms
from graphgrad.extras.contrib.contrib_image import rotate as rotate
from graphgrad.extras.contrib.contrib_image import transform as transform
from graphgrad.extras.contrib.contrib_image import translate as translate
from graphgrad.extras.contrib.contrib_image import translations_to_projective_transforms as translations_to_projective_transforms

__all__ = [
    "angles_to_projective_transforms", "compose_transforms", "dense_image_warp", "flat_transforms_to_matrices",
    "matrices_to_flat_transforms", "rotate", "transform", "translate", "translations_to_projective_transforms"
]
