"""`tf.contrib.distributions.bijectors` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.extras.contrib.bijectors.affine import Affine as Affine
from graphgrad.extras.contrib.bijectors.affine import AffineLinearOperator as AffineLinearOperator
from graphgrad.extras.contrib.bijectors.affine import AffineScalar as AffineScalar
from graphgrad.extras.contrib.bijectors.affine import Chain as Chain
from graphgrad.extras.contrib.bijectors.affine import Invert as Invert
from graphgrad.extras.contrib.bijectors.affine import Permute as Permute
from graphgrad.extras.contrib.bijectors.affine import Reshape as Reshape
from graphgrad.extras.contrib.bijectors.bijector import Bijector as Bijector
from graphgrad.extras.contrib.bijectors.bijector import ConditionalBijector as ConditionalBijector
from graphgrad.extras.contrib.bijectors.bijector import IdentityBijector as Identity
from graphgrad.extras.contrib.bijectors.bijector import Inline as Inline
from graphgrad.extras.contrib.bijectors.elementwise_bijectors import Exp as Exp
from graphgrad.extras.contrib.bijectors.elementwise_bijectors import Gumbel as Gumbel
from graphgrad.extras.contrib.bijectors.elementwise_bijectors import PowerTransform as PowerTransform
from graphgrad.extras.contrib.bijectors.elementwise_bijectors import Sigmoid as Sigmoid
from graphgrad.extras.contrib.bijectors.elementwise_bijectors import SinhArcsinh as SinhArcsinh
from graphgrad.extras.contrib.bijectors.elementwise_bijectors import SoftmaxCentered as SoftmaxCentered
from graphgrad.extras.contrib.bijectors.elementwise_bijectors import Softplus as Softplus
from graphgrad.extras.contrib.bijectors.elementwise_bijectors import Softsign as Softsign
from graphgrad.extras.contrib.bijectors.elementwise_bijectors import Square as Square
from graphgrad.extras.contrib.bijectors.elementwise_bijectors import Weibull as Weibull
from graphgrad.extras.contrib.bijectors.flows import BatchNormalizationBijector as BatchNormalization
from graphgrad.extras.contrib.bijectors.flows import MaskedAutoregressiveFlow as MaskedAutoregressiveFlow
from graphgrad.extras.contrib.bijectors.flows import RealNVP as RealNVP
from graphgrad.extras.contrib.bijectors.flows import masked_autoregressive_default_template as masked_autoregressive_default_template
from graphgrad.extras.contrib.bijectors.flows import masked_dense as masked_dense
from graphgrad.extras.contrib.bijectors.flows import real_nvp_default_template as real_nvp_default_template
from graphgrad.extras.contrib.bijectors.triangular import FillTriangular as FillTriangular
from graphgrad.extras.contrib.bijectors.triangular import ScaleTriL as ScaleTriL
from graphgrad.extras.contrib.bijectors.triangular import TransformDiagonal as TransformDiagonal

__all__ = [
    "Affine", "AffineLinearOperator", "AffineScalar", "BatchNormalization", "Bijector", "Chain", "ConditionalBijector",
    "Exp", "FillTriangular", "Gumbel", "Identity", "Inline", "Invert", "MaskedAutoregressiveFlow", "Permute",
    "PowerTransform", "RealNVP", "Reshape", "ScaleTriL", "Sigmoid", "SinhArcsinh", "SoftmaxCentered", "Softplus",
    "Softsign", "Square", "TransformDiagonal", "Weibull", "masked_autoregressive_default_template", "masked_dense",
    "real_nvp_default_template"
]
