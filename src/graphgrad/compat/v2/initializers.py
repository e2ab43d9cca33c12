"""`tf.initializers`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.frontend.variables.initializers: Constant=KerasConstant Identity=IdentityV2 IdentityInitializer=IdentityV2
    Initializer Ones=OnesV2 Orthogonal=OrthogonalV2 OrthogonalInitializer=OrthogonalV2 RandomNormal=RandomNormalV2
    RandomUniform=RandomUniformV2 TruncatedNormal=TruncatedNormalV2 Zeros=ZerosV2 constant=KerasConstant
    identity=IdentityV2 ones=OnesV2 orthogonal=OrthogonalV2 random_normal=RandomNormalV2 random_uniform=RandomUniformV2
    truncated_normal=TruncatedNormalV2 zeros=ZerosV2
graphgrad.frontend.variables.scaling_initializers: GlorotNormal=GlorotNormalV2 GlorotUniform=GlorotUniformV2 HeNormal
    HeUniform LecunNormal LecunUniform VarianceScaling=VarianceScalingV2 glorot_normal=GlorotNormalV2
    glorot_uniform=GlorotUniformV2 he_normal=HeNormal he_uniform=HeUniform lecun_normal=LecunNormal
    lecun_uniform=LecunUniform variance_scaling=VarianceScalingV2
""")
