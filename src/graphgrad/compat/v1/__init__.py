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

__version__ = "2.21.0"  # the version of TensorFlow whose behaviour is offered
newaxis = None
