"""The intermediate representation: dtypes, shapes, op records and the graph."""

from . import builder as builder
from .constant_value import constant_value as constant_value
from .context import current_graph as current_graph
from .context import executing_eagerly as executing_eagerly
from .context import get_default_graph as get_default_graph
from .context import reset_default_graph as reset_default_graph
from .conversion import constant as constant
from .conversion import convert_to_tensor as convert_to_tensor
from .conversion import register_tensor_conversion_function as register_tensor_conversion_function
from .dimension import Dimension as Dimension
from .dtypes import DType as DType
from .dtypes import as_dtype as as_dtype
from .eager import EagerTensor as EagerTensor
from .graph import Graph as Graph
from .graph import Operation as Operation
from .graph import Tensor as Tensor
from .opdef import NOT_DIFFERENTIABLE as NOT_DIFFERENTIABLE
from .opdef import OpDef as OpDef
from .opdef import op as op
from .opdef import raw as raw
from .opdef import registry as registry
from .shape import TensorShape as TensorShape
from .values import variable_store as variable_store
from .values.indexed_slices import IndexedSlices as IndexedSlices
