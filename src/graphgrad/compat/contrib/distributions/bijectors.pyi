"""`tf.contrib.distributions.bijectors` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.extras.contrib.bijectors.affine import Affine as Affine
from graphgrad.extras.contrib.bijectors.affine import Chain as Chain
from graphgrad.extras.contrib.bijectors.affine import Invert as Invert
from graphgrad.extras.contrib.bijectors.affine import Permute as Permute
from graphgrad.extras.contrib.bijectors.bijector import Bijector as Bijector
from graphgrad.extras.contrib.bijectors.bijector import ConditionalBijector as ConditionalBijector
from graphgrad.extras.contrib.bijectors.bijector import IdentityBijector as Identity
from graphgrad.extras.contrib.bijectors.elementwise_bijectors import Exp as Exp
from graphgrad.extras.contrib.bijectors.elementwise_bijectors import Sigmoid as Sigmoid
from graphgrad.extras.contrib.bijectors.elementwise_bijectors import SoftmaxCentered as SoftmaxCentered
from graphgrad.extras.contrib.bijectors.elementwise_bijectors import Softplus as Softplus
from graphgrad.extras.contrib.bijectors.flows import MaskedAutoregressiveFlow as MaskedAutoregressiveFlow
from graphgrad.extras.contrib.bijectors.flows import masked_autoregressive_default_template as masked_autoregressive_default_template
from graphgrad.extras.contrib.bijectors.flows import masked_dense as masked_dense

__all__ = [
    "Affine", "Bijector", "Chain", "ConditionalBijector", "Exp", "Identity", "Invert", "MaskedAutoregressiveFlow",
    "Permute", "Sigmoid", "SoftmaxCentered", "Softplus", "masked_autoregressive_default_template", "masked_dense"
]
