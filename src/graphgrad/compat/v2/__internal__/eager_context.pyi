"""`tf.__internal__.eager_context`. Written by `make faces` from exports.txt."""

from graphgrad.compat.internal.eager.context import eager_mode as eager_mode
from graphgrad.compat.internal.eager.context import get_config as get_config
from graphgrad.compat.internal.eager.context import get_device_name as get_device_name
from graphgrad.compat.internal.eager.context import get_executor as get_executor
from graphgrad.compat.internal.eager.context import set_soft_device_placement as set_soft_device_placement

__all__ = [
    "eager_mode", "get_config", "get_device_name", "get_executor", "set_soft_device_placement"
]
