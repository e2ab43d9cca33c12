"""`tensorflow.compat.v1`: the names of TensorFlow 1, without turning graph mode on."""

# Importing a face registers the operations and installs the operators.
import graphgrad.frontend.operators
import graphgrad.ops  # noqa: F401

# -- core -----------------------------------------------------------------------------
from graphgrad import errors as errors
from graphgrad.frontend import nest as nest
from graphgrad.frontend.function import TensorSpec as TensorSpec
from graphgrad.frontend.function import function as function
from graphgrad.frontend.init_scope import init_scope as init_scope
from graphgrad.gradients.aggregate import AggregationMethod as AggregationMethod
from graphgrad.gradients.backprop import UnconnectedGradients as UnconnectedGradients
from graphgrad.gradients.registry import RegisterGradient as RegisterGradient
from graphgrad.ir.context import executing_eagerly as executing_eagerly
from graphgrad.ir.convert import convert_to_tensor as convert_to_tensor
from graphgrad.ir.convert import register_tensor_conversion_function as register_tensor_conversion_function
from graphgrad.ir.dtypes import DType as DType
from graphgrad.ir.dtypes import as_dtype as as_dtype
from graphgrad.ir.dtypes import bfloat16 as bfloat16
from graphgrad.ir.dtypes import bool_ as bool  # noqa: A004  # the name TensorFlow gives it
from graphgrad.ir.dtypes import complex64 as complex64
from graphgrad.ir.dtypes import complex128 as complex128
from graphgrad.ir.dtypes import float16 as float16
from graphgrad.ir.dtypes import float16 as half
from graphgrad.ir.dtypes import float32 as float32
from graphgrad.ir.dtypes import float64 as double
from graphgrad.ir.dtypes import float64 as float64
from graphgrad.ir.dtypes import int8 as int8
from graphgrad.ir.dtypes import int16 as int16
from graphgrad.ir.dtypes import int32 as int32
from graphgrad.ir.dtypes import int64 as int64
from graphgrad.ir.dtypes import qint8 as qint8
from graphgrad.ir.dtypes import qint16 as qint16
from graphgrad.ir.dtypes import qint32 as qint32
from graphgrad.ir.dtypes import quint8 as quint8
from graphgrad.ir.dtypes import quint16 as quint16
from graphgrad.ir.dtypes import resource as resource
from graphgrad.ir.dtypes import string as string
from graphgrad.ir.dtypes import uint8 as uint8
from graphgrad.ir.dtypes import uint16 as uint16
from graphgrad.ir.dtypes import uint32 as uint32
from graphgrad.ir.dtypes import uint64 as uint64
from graphgrad.ir.dtypes import variant as variant
from graphgrad.ir.graph import Graph as Graph
from graphgrad.ir.graph import Operation as Operation
from graphgrad.ir.graph import Tensor as Tensor
from graphgrad.ir.opdef import raw as raw_ops
from graphgrad.ir.shape import TensorShape as TensorShape
from graphgrad.ir.slices import IndexedSlices as IndexedSlices

from graphgrad.executor.session import InteractiveSession as InteractiveSession
from graphgrad.executor.session import Session as Session
from graphgrad.executor.session import get_default_session as get_default_session
from graphgrad.frontend.config import ConfigProto as ConfigProto
from graphgrad.frontend.config import GPUOptions as GPUOptions
from graphgrad.frontend.config import OptimizerOptions as OptimizerOptions
from graphgrad.frontend.config import GraphOptions as GraphOptions
from graphgrad.frontend.config import RunMetadata as RunMetadata
from graphgrad.frontend.config import RunOptions as RunOptions
from graphgrad.frontend.modes import control_flow_v2_enabled as control_flow_v2_enabled
from graphgrad.frontend.modes import disable_control_flow_v2 as disable_control_flow_v2
from graphgrad.frontend.modes import disable_eager_execution as disable_eager_execution
from graphgrad.frontend.modes import disable_resource_variables as disable_resource_variables
from graphgrad.frontend.modes import disable_tensor_equality as disable_tensor_equality
from graphgrad.frontend.modes import disable_v2_behavior as disable_v2_behavior
from graphgrad.frontend.modes import disable_v2_tensorshape as disable_v2_tensorshape
from graphgrad.frontend.modes import enable_control_flow_v2 as enable_control_flow_v2
from graphgrad.frontend.modes import enable_eager_execution as enable_eager_execution
from graphgrad.frontend.modes import enable_resource_variables as enable_resource_variables
from graphgrad.frontend.modes import enable_tensor_equality as enable_tensor_equality
from graphgrad.frontend.modes import enable_v2_behavior as enable_v2_behavior
from graphgrad.frontend.modes import enable_v2_tensorshape as enable_v2_tensorshape
from graphgrad.frontend.modes import resource_variables_enabled as resource_variables_enabled
from graphgrad.frontend.scopes import add_to_collection as add_to_collection
from graphgrad.frontend.scopes import add_to_collections as add_to_collections
from graphgrad.frontend.scopes import colocate_with as colocate_with
from graphgrad.frontend.scopes import container as container
from graphgrad.frontend.scopes import control_dependencies as control_dependencies
from graphgrad.frontend.scopes import device as device
from graphgrad.frontend.scopes import get_collection as get_collection
from graphgrad.frontend.scopes import get_collection_ref as get_collection_ref
from graphgrad.frontend.scopes import name_scope as name_scope
from graphgrad.frontend.scopes import op_scope as op_scope
from graphgrad.gradients.backprop import gradients as gradients
from graphgrad.gradients.custom import custom_gradient as custom_gradient
from graphgrad.gradients.registry import NoGradient as NoGradient
from graphgrad.gradients.registry import NotDifferentiable as NotDifferentiable
from graphgrad.ir.context import get_default_graph as get_default_graph
from graphgrad.ir.context import reset_default_graph as reset_default_graph
from graphgrad.ir.convert import constant as constant
from graphgrad.ir.shape import Dimension as Dimension
from graphgrad.ir.shape import dimension_value as dimension_value

# -- variables ------------------------------------------------------------------------
from graphgrad.frontend.collections import GraphKeys as GraphKeys
from graphgrad.frontend.initializers import Constant as constant_initializer
from graphgrad.frontend.initializers import GlorotNormal as glorot_normal_initializer
from graphgrad.frontend.initializers import GlorotUniform as glorot_uniform_initializer
from graphgrad.frontend.initializers import Ones as ones_initializer
from graphgrad.frontend.initializers import Orthogonal as orthogonal_initializer
from graphgrad.frontend.initializers import RandomNormal as random_normal_initializer
from graphgrad.frontend.initializers import RandomUniform as random_uniform_initializer
from graphgrad.frontend.initializers import TruncatedNormal as truncated_normal_initializer
from graphgrad.frontend.initializers import UniformUnitScaling as uniform_unit_scaling_initializer
from graphgrad.frontend.initializers import VarianceScaling as variance_scaling_initializer
from graphgrad.frontend.initializers import Zeros as zeros_initializer
from graphgrad.frontend.template import make_template as make_template
from graphgrad.frontend.variable_ops import all_variables as all_variables
from graphgrad.frontend.variable_ops import assert_variables_initialized as assert_variables_initialized
from graphgrad.frontend.variable_ops import assign as assign
from graphgrad.frontend.variable_ops import assign_add as assign_add
from graphgrad.frontend.variable_ops import assign_sub as assign_sub
from graphgrad.frontend.variable_ops import batch_scatter_update as batch_scatter_update
from graphgrad.frontend.variable_ops import count_up_to as count_up_to
from graphgrad.frontend.variable_ops import global_variables as global_variables
from graphgrad.frontend.variable_ops import global_variables_initializer as global_variables_initializer
from graphgrad.frontend.variable_ops import initialize_all_variables as initialize_all_variables
from graphgrad.frontend.variable_ops import initialize_local_variables as initialize_local_variables
from graphgrad.frontend.variable_ops import initialize_variables as initialize_variables
from graphgrad.frontend.variable_ops import is_variable_initialized as is_variable_initialized
from graphgrad.frontend.variable_ops import local_variables as local_variables
from graphgrad.frontend.variable_ops import local_variables_initializer as local_variables_initializer
from graphgrad.frontend.variable_ops import model_variables as model_variables
from graphgrad.frontend.variable_ops import moving_average_variables as moving_average_variables
from graphgrad.frontend.variable_ops import report_uninitialized_variables as report_uninitialized_variables
from graphgrad.frontend.variable_ops import scatter_add as scatter_add
from graphgrad.frontend.variable_ops import scatter_div as scatter_div
from graphgrad.frontend.variable_ops import scatter_max as scatter_max
from graphgrad.frontend.variable_ops import scatter_min as scatter_min
from graphgrad.frontend.variable_ops import scatter_mul as scatter_mul
from graphgrad.frontend.variable_ops import scatter_nd_add as scatter_nd_add
from graphgrad.frontend.variable_ops import scatter_nd_sub as scatter_nd_sub
from graphgrad.frontend.variable_ops import scatter_nd_update as scatter_nd_update
from graphgrad.frontend.variable_ops import scatter_sub as scatter_sub
from graphgrad.frontend.variable_ops import scatter_update as scatter_update
from graphgrad.frontend.variable_ops import trainable_variables as trainable_variables
from graphgrad.frontend.variable_ops import variables_initializer as variables_initializer
from graphgrad.frontend.variable_scope import AUTO_REUSE as AUTO_REUSE
from graphgrad.frontend.variable_scope import VariableScope as VariableScope
from graphgrad.frontend.variable_scope import fixed_size_partitioner as fixed_size_partitioner
from graphgrad.frontend.variable_scope import get_local_variable as get_local_variable
from graphgrad.frontend.variable_scope import get_variable as get_variable
from graphgrad.frontend.variable_scope import get_variable_scope as get_variable_scope
from graphgrad.frontend.variable_scope import no_regularizer as no_regularizer
from graphgrad.frontend.variable_scope import variable_op_scope as variable_op_scope
from graphgrad.frontend.variable_scope import variable_scope as variable_scope
from graphgrad.frontend.variables import VariableAggregation as VariableAggregation
from graphgrad.frontend.variables import VariableSynchronization as VariableSynchronization
from graphgrad.frontend.variables import VariableV1 as Variable
from graphgrad.compat.v1 import initializers as initializers
from graphgrad.compat.v1 import train as train

# -- control flow -----------------------------------------------------------------------
from graphgrad.frontend.control_flow import case_v1 as case
from graphgrad.frontend.control_flow import cond_v1 as cond
from graphgrad.frontend.control_flow import while_loop_v1 as while_loop

__version__ = "2.21.0"  # the version of TensorFlow whose behaviour is offered
newaxis = None
