"""`tf.initializers`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.frontend.variables.initializers: Constant=KerasConstant GlorotNormal=GlorotNormalV2
    GlorotUniform=GlorotUniformV2 HeNormal HeUniform Identity=IdentityV2 IdentityInitializer=IdentityV2 Initializer
    LecunNormal LecunUniform Ones=OnesV2 Orthogonal=OrthogonalV2 OrthogonalInitializer=OrthogonalV2
    RandomNormal=RandomNormalV2 RandomUniform=RandomUniformV2 TruncatedNormal=TruncatedNormalV2
    VarianceScaling=VarianceScalingV2 Zeros=ZerosV2 constant=KerasConstant glorot_normal=GlorotNormalV2
    glorot_uniform=GlorotUniformV2 he_normal=HeNormal he_uniform=HeUniform identity=IdentityV2 lecun_normal=LecunNormal
    lecun_uniform=LecunUniform ones=OnesV2 orthogonal=OrthogonalV2 random_normal=RandomNormalV2
    random_uniform=RandomUniformV2 truncated_normal=TruncatedNormalV2 variance_scaling=VarianceScalingV2 zeros=ZerosV2
""")
