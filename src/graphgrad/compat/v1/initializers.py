"""`tf.initializers` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.pipelines.lookup_tables: tables_initializer
graphgrad.frontend.variables.initializers: constant=Constant identity=Identity ones=Ones orthogonal=Orthogonal
    random_normal=RandomNormal random_uniform=RandomUniform truncated_normal=TruncatedNormal zeros=Zeros
graphgrad.frontend.variables.scaling_initializers: glorot_normal=GlorotNormal glorot_uniform=GlorotUniform he_normal
    he_uniform lecun_normal lecun_uniform uniform_unit_scaling=UniformUnitScaling variance_scaling=VarianceScaling
graphgrad.frontend.variables.variable_functions: global_variables=global_variables_initializer
    local_variables=local_variables_initializer variables=variables_initializer
""")
