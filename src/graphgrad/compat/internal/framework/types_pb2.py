"""`tensorflow.core.framework.types_pb2`: the numbers of dtypes."""

from graphgrad.ir.graph_messages import _TYPE_NAMES

globals().update({name: number for number, name in _TYPE_NAMES.items()})
