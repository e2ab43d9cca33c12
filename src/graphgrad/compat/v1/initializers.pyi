"""`tf.initializers` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.extras.pipelines.lookup_tables import tables_initializer as tables_initializer
from graphgrad.frontend.variables.initializers import Constant as constant
from graphgrad.frontend.variables.initializers import Identity as identity
from graphgrad.frontend.variables.initializers import Ones as ones
from graphgrad.frontend.variables.initializers import Orthogonal as orthogonal
from graphgrad.frontend.variables.initializers import RandomNormal as random_normal
from graphgrad.frontend.variables.initializers import RandomUniform as random_uniform
from graphgrad.frontend.variables.initializers import TruncatedNormal as truncated_normal
from graphgrad.frontend.variables.initializers import Zeros as zeros
from graphgrad.frontend.variables.scaling_initializers import GlorotNormal as glorot_normal
from graphgrad.frontend.variables.scaling_initializers import GlorotUniform as glorot_uniform
from graphgrad.frontend.variables.scaling_initializers import UniformUnitScaling as uniform_unit_scaling
from graphgrad.frontend.variables.scaling_initializers import VarianceScaling as variance_scaling
from graphgrad.frontend.variables.scaling_initializers import he_normal as he_normal
from graphgrad.frontend.variables.scaling_initializers import he_uniform as he_uniform
from graphgrad.frontend.variables.scaling_initializers import lecun_normal as lecun_normal
from graphgrad.frontend.variables.scaling_initializers import lecun_uniform as lecun_uniform
from graphgrad.frontend.variables.variable_functions import global_variables_initializer as global_variables
from graphgrad.frontend.variables.variable_functions import local_variables_initializer as local_variables
from graphgrad.frontend.variables.variable_functions import variables_initializer as variables

__all__ = [
    "constant", "global_variables", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "identity",
    "lecun_normal", "lecun_uniform", "local_variables", "ones", "orthogonal", "random_normal", "random_uniform",
    "tables_initializer", "truncated_normal", "uniform_unit_scaling", "variables", "variance_scaling", "zeros"
]
