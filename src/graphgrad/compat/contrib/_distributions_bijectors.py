"""`tf.contrib.distributions.bijectors`."""

from graphgrad.contrib.bijectors import Bijector as Bijector
from graphgrad.contrib.bijectors import ConditionalBijector as ConditionalBijector
from graphgrad.contrib.bijectors import Identity as Identity
from graphgrad.contrib.bijectors import Inline as Inline
from graphgrad.contrib.bijectors_elementwise import Exp as Exp
from graphgrad.contrib.bijectors_elementwise import Gumbel as Gumbel
from graphgrad.contrib.bijectors_elementwise import PowerTransform as PowerTransform
from graphgrad.contrib.bijectors_elementwise import Sigmoid as Sigmoid
from graphgrad.contrib.bijectors_elementwise import SinhArcsinh as SinhArcsinh
from graphgrad.contrib.bijectors_elementwise import SoftmaxCentered as SoftmaxCentered
from graphgrad.contrib.bijectors_elementwise import Softplus as Softplus
from graphgrad.contrib.bijectors_elementwise import Softsign as Softsign
from graphgrad.contrib.bijectors_elementwise import Square as Square
from graphgrad.contrib.bijectors_elementwise import Weibull as Weibull
from graphgrad.contrib.bijectors_flows import BatchNormalization as BatchNormalization
from graphgrad.contrib.bijectors_flows import MaskedAutoregressiveFlow as MaskedAutoregressiveFlow
from graphgrad.contrib.bijectors_flows import RealNVP as RealNVP
from graphgrad.contrib.bijectors_flows import masked_autoregressive_default_template as masked_autoregressive_default_template  # noqa: E501
from graphgrad.contrib.bijectors_flows import masked_dense as masked_dense
from graphgrad.contrib.bijectors_flows import real_nvp_default_template as real_nvp_default_template
from graphgrad.contrib.bijectors_linear import Affine as Affine
from graphgrad.contrib.bijectors_linear import AffineLinearOperator as AffineLinearOperator
from graphgrad.contrib.bijectors_linear import AffineScalar as AffineScalar
from graphgrad.contrib.bijectors_linear import Chain as Chain
from graphgrad.contrib.bijectors_linear import Invert as Invert
from graphgrad.contrib.bijectors_linear import Permute as Permute
from graphgrad.contrib.bijectors_linear import Reshape as Reshape
from graphgrad.contrib.bijectors_triangular import FillTriangular as FillTriangular
from graphgrad.contrib.bijectors_triangular import ScaleTriL as ScaleTriL
from graphgrad.contrib.bijectors_triangular import TransformDiagonal as TransformDiagonal

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
