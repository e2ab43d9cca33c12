"""`tf` of TensorFlow 2: what `import graphgrad as tf` gives."""

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

from graphgrad.frontend.scopes import control_dependencies as control_dependencies
from graphgrad.frontend.scopes import device as device
from graphgrad.frontend.scopes import name_scope_v2 as name_scope
from graphgrad.gradients.backprop import gradients_v2 as gradients
from graphgrad.gradients.custom import custom_gradient as custom_gradient
from graphgrad.ir.convert import constant as constant

# -- variables ------------------------------------------------------------------------
from graphgrad.frontend.initializers import ConstantV2 as constant_initializer
from graphgrad.frontend.initializers import OnesV2 as ones_initializer
from graphgrad.frontend.initializers import RandomNormalV2 as random_normal_initializer
from graphgrad.frontend.initializers import RandomUniformV2 as random_uniform_initializer
from graphgrad.frontend.initializers import ZerosV2 as zeros_initializer
from graphgrad.frontend.variables import Variable as Variable
from graphgrad.frontend.variables import VariableAggregationV2 as VariableAggregation
from graphgrad.frontend.variables import VariableSynchronization as VariableSynchronization
from graphgrad.compat.v2 import initializers as initializers

# -- control flow -----------------------------------------------------------------------
from graphgrad.frontend.control_flow import case as case
from graphgrad.frontend.control_flow import cond as cond
from graphgrad.frontend.control_flow import while_loop as while_loop

__version__ = "2.21.0"  # the version of TensorFlow whose behaviour is offered
newaxis = None
