"""`tf.initializers`. Written by `make faces` from exports.txt."""

from graphgrad.frontend.variables.initializers import IdentityV2 as Identity
from graphgrad.frontend.variables.initializers import IdentityV2 as IdentityInitializer
from graphgrad.frontend.variables.initializers import IdentityV2 as identity
from graphgrad.frontend.variables.initializers import Initializer as Initializer
from graphgrad.frontend.variables.initializers import KerasConstant as Constant
from graphgrad.frontend.variables.initializers import KerasConstant as constant
from graphgrad.frontend.variables.initializers import OnesV2 as Ones
from graphgrad.frontend.variables.initializers import OnesV2 as ones
from graphgrad.frontend.variables.initializers import OrthogonalV2 as Orthogonal
from graphgrad.frontend.variables.initializers import OrthogonalV2 as OrthogonalInitializer
from graphgrad.frontend.variables.initializers import OrthogonalV2 as orthogonal
from graphgrad.frontend.variables.initializers import RandomNormalV2 as RandomNormal
from graphgrad.frontend.variables.initializers import RandomNormalV2 as random_normal
from graphgrad.frontend.variables.initializers import RandomUniformV2 as RandomUniform
from graphgrad.frontend.variables.initializers import RandomUniformV2 as random_uniform
from graphgrad.frontend.variables.initializers import TruncatedNormalV2 as TruncatedNormal
from graphgrad.frontend.variables.initializers import TruncatedNormalV2 as truncated_normal
from graphgrad.frontend.variables.initializers import ZerosV2 as Zeros
from graphgrad.frontend.variables.initializers import ZerosV2 as zeros
from graphgrad.frontend.variables.scaling_initializers import GlorotNormalV2 as GlorotNormal
from graphgrad.frontend.variables.scaling_initializers import GlorotNormalV2 as glorot_normal
from graphgrad.frontend.variables.scaling_initializers import GlorotUniformV2 as GlorotUniform
from graphgrad.frontend.variables.scaling_initializers import GlorotUniformV2 as glorot_uniform
from graphgrad.frontend.variables.scaling_initializers import HeNormal as HeNormal
from graphgrad.frontend.variables.scaling_initializers import HeNormal as he_normal
from graphgrad.frontend.variables.scaling_initializers import HeUniform as HeUniform
from graphgrad.frontend.variables.scaling_initializers import HeUniform as he_uniform
from graphgrad.frontend.variables.scaling_initializers import LecunNormal as LecunNormal
from graphgrad.frontend.variables.scaling_initializers import LecunNormal as lecun_normal
from graphgrad.frontend.variables.scaling_initializers import LecunUniform as LecunUniform
from graphgrad.frontend.variables.scaling_initializers import LecunUniform as lecun_uniform
from graphgrad.frontend.variables.scaling_initializers import VarianceScalingV2 as VarianceScaling
from graphgrad.frontend.variables.scaling_initializers import VarianceScalingV2 as variance_scaling

__all__ = [
    "Constant", "GlorotNormal", "GlorotUniform", "HeNormal", "HeUniform", "Identity", "IdentityInitializer",
    "Initializer", "LecunNormal", "LecunUniform", "Ones", "Orthogonal", "OrthogonalInitializer", "RandomNormal",
    "RandomUniform", "TruncatedNormal", "VarianceScaling", "Zeros", "constant", "glorot_normal", "glorot_uniform",
    "he_normal", "he_uniform", "identity", "lecun_normal", "lecun_uniform", "ones", "orthogonal", "random_normal",
    "random_uniform", "truncated_normal", "variance_scaling", "zeros"
]
