"""XLA's compile options: which parts of a program go to the library YNNPACK.

By default XLA:CPU of jaxlib 0.10.2 and 0.11 passes matrix products, convolutions, and reductions with neighbouring
operations to YNNPACK. The last kind is defective. Reductions of seven dimensions and more end the process or never end
(jax 39257, 40412); those fused with a matrix product compute wrong elements where an array has tens of thousands of
rows (jax 39103). Of the other kinds, products of eight dimensions end the process. So a rule, which depends only on the
program, decides what YNNPACK gets.
"""

from __future__ import annotations

import re
from typing import Any

from graphgrad.ir.proto.wire import DELIMITED, FIXED32, FIXED64, VARINT, delimited, read_fields, varint

# To be changed with the rule, with those of `executor.rewrite`, and with what kernels write: programs on disk depend on
# them.
RULE = "6"

# xla.DebugOptions.LibraryFusionType
KINDS = _REDUCTION, _PRODUCT, _CONVOLUTION = 3, 4, 5
# The field path: CompileOptionsProto, ExecutableBuildOptionsProto, DebugOptions.
_BUILD_OPTIONS, _DEBUG_OPTIONS, _YNNPACK = 3, 3, 422
# The most dimensions of programs with reductions, and with products, in YNNPACK: its defects begin at seven and eight.
_REDUCED_RANK, _RANK = 5, 6

_SHAPE = re.compile(r"tensor<((?:[\d?]+x)*)")
_PRODUCTS = ("stablehlo.dot_general", "stablehlo.dot ", "stablehlo.convolution")


def libraries(text: str) -> frozenset[int]:
    """Decides which parts of a program YNNPACK gets.

    Args:
      text: the program, as StableHLO.
    Returns: numbers of XLA's `LibraryFusionType`.
    """
    rank = max((shape.count("x") for shape in _SHAPE.findall(text)), default=0)
    if rank > _RANK:
        return frozenset()
    if any(name in text for name in _PRODUCTS) or rank > _REDUCED_RANK:
        return frozenset({_PRODUCT, _CONVOLUTION})
    return frozenset({_PRODUCT, _CONVOLUTION, _REDUCTION})


def sums(allowed: frozenset[int]) -> bool:
    """Returns whether YNNPACK gets reductions."""
    return _REDUCTION in allowed


def options(jaxlib: Any, allowed: frozenset[int]) -> Any:
    """Makes the options to compile a program with.

    Args:
      jaxlib: its module `_jax`.
      allowed: of `libraries`; only restricts XLA's default.
    """
    made = jaxlib.CompileOptions()
    # LLVM's O3 compiles for up to 1.6 times as long as O2, and the programs are not faster
    # (docs/inside/performance.md).
    made.executable_build_options.debug_options.xla_backend_optimization_level = 2
    # The list has no attribute, and options set by name take all of it or nothing.
    return jaxlib.CompileOptions.ParseFromString(_within(made.SerializeAsString(), allowed))


def use_older_emitters(options: Any) -> None:
    """Changes options for a program in which XLA only moves numbers, and a library computes.

    XLA's older emitters compile such programs in less than two thirds of the time, and these are as fast.
    """
    options.env_option_overrides = [("xla_cpu_use_fusion_emitters", False)]


def _within(message: bytes, allowed: frozenset[int]) -> bytes:
    """Shortens the list of parts for YNNPACK in serialized options."""

    def build_options(data: bytes) -> bytes:
        return _changed(data, _DEBUG_OPTIONS, debug_options)

    def debug_options(data: bytes) -> bytes:
        return _changed(data, _YNNPACK, lambda kinds: bytes(k for k in kinds if k in allowed))

    return _changed(message, _BUILD_OPTIONS, build_options)


def _changed(message: bytes, field: int, change: Any) -> bytes:
    """Replaces the contents of a delimited field of a message."""
    out = bytearray()
    for number, wire, value in read_fields(message):
        if wire == DELIMITED:
            out += delimited(number, change(value) if number == field else value)
        else:
            assert wire in (VARINT, FIXED64, FIXED32)
            out += varint(number << 3 | wire) + (varint(value) if wire == VARINT else value)
    return bytes(out)
