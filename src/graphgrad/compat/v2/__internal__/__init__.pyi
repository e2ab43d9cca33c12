"""`tf.__internal__`. Written by `make faces` from exports.txt."""

from graphgrad.compat.internal.absent import execute_fn_for_device as execute_fn_for_device
from graphgrad.compat.internal.absent import lift_to_graph as lift_to_graph
from graphgrad.compat.internal.eager.execute import record_gradient as record_gradient
from graphgrad.compat.internal.framework.made_operation import create_c_op as create_c_op
from graphgrad.compat.internal.state import get_enclosing_xla_context as get_enclosing_xla_context
from graphgrad.compat.internal.state import is_tfrt_enabled as is_tfrt_enabled
from graphgrad.compat.internal.state import load_context as load_context
from graphgrad.compat.internal.util.keras_deps import register_call_context_function as register_call_context_function
from graphgrad.compat.internal.util.keras_deps import register_clear_session_function as register_clear_session_function
from graphgrad.compat.internal.util.keras_deps import register_get_session_function as register_get_session_function
from graphgrad.compat.internal.util.keras_deps import register_load_model_function as register_load_model_function
from graphgrad.compat.v2.__internal__ import autograph as autograph
from graphgrad.compat.v2.__internal__ import decorator as decorator
from graphgrad.compat.v2.__internal__ import dispatch as dispatch
from graphgrad.compat.v2.__internal__ import distribute as distribute
from graphgrad.compat.v2.__internal__ import eager_context as eager_context
from graphgrad.compat.v2.__internal__ import feature_column as feature_column
from graphgrad.compat.v2.__internal__ import function as function
from graphgrad.compat.v2.__internal__ import mixed_precision as mixed_precision
from graphgrad.compat.v2.__internal__ import monitoring as monitoring
from graphgrad.compat.v2.__internal__ import nest as nest
from graphgrad.compat.v2.__internal__ import ops as ops
from graphgrad.compat.v2.__internal__ import saved_model as saved_model
from graphgrad.compat.v2.__internal__ import smart_cond as smart_cond
from graphgrad.compat.v2.__internal__ import tf2 as tf2
from graphgrad.compat.v2.__internal__ import tracking as tracking
from graphgrad.compat.v2.__internal__ import train as train
from graphgrad.compat.v2.__internal__ import types as types
from graphgrad.frontend.graph.default_graph import get_name_scope as get_name_scope
from graphgrad.frontend.variables.composite_tensor import CompositeTensor as CompositeTensor
from graphgrad.ir.eager import EagerTensor as EagerTensor
from graphgrad.ir.funcgraph import FuncGraph as FuncGraph
from graphgrad.ir.operation import SymbolicTensor as SymbolicTensor

__all__ = [
    "CompositeTensor", "EagerTensor", "FuncGraph", "SymbolicTensor", "autograph", "create_c_op", "decorator",
    "dispatch", "distribute", "eager_context", "execute_fn_for_device", "feature_column", "function",
    "get_enclosing_xla_context", "get_name_scope", "is_tfrt_enabled", "lift_to_graph", "load_context",
    "mixed_precision", "monitoring", "nest", "ops", "record_gradient", "register_call_context_function",
    "register_clear_session_function", "register_get_session_function", "register_load_model_function", "saved_model",
    "smart_cond", "tf2", "tracking", "train", "types"
]
