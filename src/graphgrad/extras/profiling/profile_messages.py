"""The messages of `tf.compat.v1.profiler`.

Reference: TensorFlow 2.21 tfprof_output.proto, tfprof_log.proto.
"""

from __future__ import annotations

from typing import Any, ClassVar

from graphgrad.ir.graph_messages import TensorShapeProto
from graphgrad.ir.proto.messages import MapOf, Message


def _numbers(fields: str) -> dict[str, Any]:
    return {name: (int(number), "int") for name, number in (item.split("=") for item in fields.split())}


class TFProfTensorProto(Message):
    """The value of a tensor in a profile; not filled in here."""

    FIELDS = {"dtype": (1, "int"), "value_double": (2, ["double"]), "value_int64": (3, ["int"]),
              "value_str": (4, ["string"])}


class GraphNodeProto(Message):
    """An operation or a name scope in a profile: what it takes itself, and with what is beneath it.

    Args:
      **fields: TensorFlow's.
    """

    FIELDS: ClassVar[dict[str, Any]] = {
        "name": (1, "string"), "tensor_value": (15, TFProfTensorProto), "devices": (10, ["string"]),
        "shapes": (11, [TensorShapeProto]), "input_shapes": (16, MapOf(TensorShapeProto, "int")),
        **_numbers("""run_count=21 exec_micros=2 accelerator_exec_micros=17 cpu_exec_micros=18 requested_bytes=3
            peak_bytes=24 residual_bytes=25 output_bytes=26 parameters=4 float_ops=13 total_definition_count=23
            total_run_count=22 total_exec_micros=6 total_accelerator_exec_micros=19 total_cpu_exec_micros=20
            total_requested_bytes=7 total_peak_bytes=27 total_residual_bytes=28 total_output_bytes=29
            total_parameters=8 total_float_ops=14""")}


GraphNodeProto.FIELDS["children"] = (12, [GraphNodeProto])


class MultiGraphNodeProto(Message):
    """A type of operations, or a line of the program, in a profile.

    Args:
      **fields: TensorFlow's.
    """

    FIELDS: ClassVar[dict[str, Any]] = {
        "name": (1, "string"), "graph_nodes": (10, [GraphNodeProto]),
        **_numbers("""exec_micros=2 accelerator_exec_micros=12 cpu_exec_micros=13 requested_bytes=3 peak_bytes=16
            residual_bytes=17 output_bytes=18 parameters=4 float_ops=5 total_exec_micros=6
            total_accelerator_exec_micros=14 total_cpu_exec_micros=15 total_requested_bytes=7 total_peak_bytes=19
            total_residual_bytes=20 total_output_bytes=21 total_parameters=8 total_float_ops=9""")}


MultiGraphNodeProto.FIELDS["children"] = (11, [MultiGraphNodeProto])


class _Trace(Message):
    FIELDS = {"file": (1, "string"), "file_id": (6, "int"), "lineno": (2, "int"), "function": (3, "string"),
              "function_id": (7, "int"), "line": (4, "string"), "line_id": (8, "int"), "func_start_line": (5, "int")}


class CodeDef(Message):
    """The lines of a program that built an operation, from the outermost one."""

    Trace = _Trace
    FIELDS = {"traces": (1, [_Trace])}


class OpLogEntry(Message):
    """What a program says of an operation: float operations, and types to choose it by."""

    FIELDS = {"name": (1, "string"), "float_ops": (2, "int"), "types": (3, ["string"]), "code_def": (4, CodeDef)}


class OpLogProto(Message):
    """What a program says of its operations.

    Args:
      **fields: TensorFlow's.
    """

    FIELDS = {"log_entries": (1, [OpLogEntry]), "id_to_string": (2, MapOf("string", "int"))}


class _Checker(Message):
    FIELDS = {"reports": (2, ["string"])}


class AdviceProto(Message):
    """What `tf.profiler.advise` found.

    Args:
      **fields: TensorFlow's.
    """

    Checker = _Checker
    FIELDS = {"checkers": (1, MapOf(_Checker))}


class _Tuple(Message):
    FIELDS = {"int64_values": (1, ["int"])}


class _ExecTime(Message):
    FIELDS = {"times": (1, [_Tuple])}


class _ExecProfile(Message):
    FIELDS = {"run_count": (1, "int"), "all_start_micros": (2, "int"), "latest_end_micros": (3, "int"),
              "cpu_execs": (5, MapOf(_ExecTime)), "devices": (6, ["string"])}


class _ProfileNode(Message):
    FIELDS = {"name": (1, "string"), "op": (9, "string"), "id": (13, "int"), "shape": (4, ["int"]),
              "op_types": (5, ["string"]), "float_ops": (8, "int"), "execs": (12, MapOf(_ExecProfile, "int"))}


class ProfileProto(Message):
    """A whole `Profiler`: its operations, and when they ran in each step."""

    FIELDS = {"nodes": (1, MapOf(_ProfileNode, "int")), "has_trace": (2, "bool"), "steps": (3, ["int"])}
