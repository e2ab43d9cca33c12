"""`tf.contrib.distributions.bijectors` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.contrib.bijectors.affine: Affine Chain Invert Permute
graphgrad.extras.contrib.bijectors.bijector: Bijector ConditionalBijector Identity=IdentityBijector
graphgrad.extras.contrib.bijectors.elementwise_bijectors: Exp Sigmoid SoftmaxCentered Softplus
graphgrad.extras.contrib.bijectors.flows: MaskedAutoregressiveFlow masked_autoregressive_default_template masked_dense
""")
