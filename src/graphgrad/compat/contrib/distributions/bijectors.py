"""`tf.contrib.distributions.bijectors` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.contrib.bijectors.affine: Affine AffineLinearOperator AffineScalar Chain Invert Permute Reshape
graphgrad.extras.contrib.bijectors.bijector: Bijector ConditionalBijector Identity=IdentityBijector Inline
graphgrad.extras.contrib.bijectors.elementwise_bijectors: Exp Gumbel PowerTransform Sigmoid SinhArcsinh SoftmaxCentered
    Softplus Softsign Square Weibull
graphgrad.extras.contrib.bijectors.flows: BatchNormalization=BatchNormalizationBijector MaskedAutoregressiveFlow RealNVP
    masked_autoregressive_default_template masked_dense real_nvp_default_template
graphgrad.extras.contrib.bijectors.triangular: FillTriangular ScaleTriL TransformDiagonal
""")
