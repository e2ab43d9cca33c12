"""Lays narrow matrices of a StableHLO program out by columns, so that loops over them run along the long axis.

XLA:CPU keeps every array by rows. For a layer of 20 units it makes loops of 20 numbers, which leave vector registers
partly empty: tanh of [1000, 20] takes 2.5 times as long as that of [20000]. So matrices of many rows and few columns
are computed as their transposes where the operations on them outweigh the transpositions of what enters and leaves.
Products of matrices take and give either layout at no cost. docs/inside/performance.md has the measurements.
"""

from __future__ import annotations

import collections
import re
from collections.abc import Iterator
from typing import Any

from graphgrad.system.late_imports import load

_ROWS, _COLUMNS, _TIMES = 128, 48, 4  # the fewest rows, the most columns, the least ratio of the two
# What transposing a value that enters or leaves counts for, of few elements and of many; an addition counts for 1.
_COST, _COST_OF_MANY, _MANY = 20, 80, 1 << 17
_DEAR = 3  # what tanh and the like count for

_NARROW = re.compile(r"tensor<(\d+)x(\d+)xf(?:32|64)>")
_FUNCTIONS = frozenset([*(f"stablehlo.{n}" for n in """atan2 cbrt cosine divide exponential exponential_minus_one log
    log_plus_one logistic power remainder rsqrt sine sqrt tan tanh""".split()), *(f"chlo.{n}" for n in """acos acosh
    asin asinh atan atanh cosh digamma erf erf_inv erfc lgamma sinh tan""".split())])
_BY_ELEMENT = _FUNCTIONS | {f"stablehlo.{n}" for n in """abs add and ceil clamp compare convert floor is_finite maximum
    minimum multiply negate not or round_nearest_afz round_nearest_even select sign subtract xor""".split()}
_BY_AXIS = {"stablehlo.slice": ("start_indices", "limit_indices", "strides"), "stablehlo.concatenate": (),
            "stablehlo.pad": ("edge_padding_low", "edge_padding_high", "interior_padding")}
_BY_METHOD = frozenset("concatenate broadcast_in_dim dot_general reduce reshape transpose".split())  # of the same name
_WITH_BLOCKS = ("func.func", "stablehlo.while", "stablehlo.case", "stablehlo.if")


def found(text: str) -> bool:
    """Returns whether a program, as StableHLO, has narrow matrices."""
    return any(_is_narrow(int(rows), int(columns)) for rows, columns in set(_NARROW.findall(text)))


def rewrite(module: Any) -> None:
    """Rewrites a module, in place.

    Args:
      module: an operation of `jaxlib.mlir.ir`.
    """
    with module.location:
        for block in list(_blocks(module)):
            _Rewriter(block).run()


def _blocks(operation: Any) -> Iterator[Any]:
    """Yields the blocks of functions, loops and branches, outer ones first."""
    for region in operation.regions:
        for block in region.blocks:
            if operation.name in _WITH_BLOCKS:
                yield block
            for inner in block.operations:
                yield from _blocks(inner.operation)


def _is_narrow(rows: int, columns: int) -> bool:
    return rows >= _ROWS and 1 <= columns <= _COLUMNS and rows >= _TIMES * columns


class _Rewriter:
    """Rewrites a block: finds which of its values to lay out by columns, then goes from operation to operation."""

    def __init__(self, block: Any):
        self.ir = load("jaxlib.mlir.ir")
        self.hlo = load("jaxlib.mlir.dialects.stablehlo")
        self.block = block
        self.here: Any = None  # the operation that is being changed
        self.types: dict[Any, bool] = {}  # whether values of a type are narrow
        self.parents: dict[Any, Any] = {}  # of values: those that have one layout together are a group, of one root
        self.gains: collections.Counter[Any] = collections.Counter()  # of groups, by root
        self.changed: set[Any] = set()  # values that are by columns now, of the transposed type
        self.columns: dict[Any, Any] = {}  # the transposes of values that are by rows, as far as there are any
        self.rows: dict[Any, Any] = {}  # of changed values what they were, as far as that is there

    def run(self) -> None:
        """Rewrites the block."""
        concerned = [o.operation for o in self.block.operations if self.concerns(o.operation)]
        able = [self.able(o) for o in concerned]
        for operation, is_able in zip(concerned, able, strict=True):
            if is_able:
                self.join(operation)
        self.weigh(concerned, able)
        if max(self.gains.values(), default=0) <= 0:
            return
        for operation, is_able in zip(concerned, able, strict=True):
            self.here = operation
            if is_able:
                name = operation.name.removeprefix("stablehlo.")
                (getattr(self, name) if name in _BY_METHOD else self.together)(operation)
            else:
                self.by_rows(operation)
        for operation in concerned:
            if operation.name == "stablehlo.transpose" and operation.operands[0] in self.changed:
                operation.results[0].replace_all_uses_with(operation.operands[0])
                operation.erase()

    # -- groups ------------------------------------------------------------------------

    def narrow(self, value: Any) -> bool:
        """Returns whether a value, not yet changed, is a narrow matrix."""
        kind = value.type
        known = self.types.get(kind)
        if known is None:
            known = self.types[kind] = (isinstance(kind, self.ir.RankedTensorType) and kind.rank == 2
                                        and kind.has_static_shape and _is_narrow(*kind.shape))
        return known

    def concerns(self, operation: Any) -> bool:
        """Returns whether an operation may have to be changed."""
        return (any(map(self.narrow, operation.results)) or any(map(self.narrow, operation.operands))
                or operation.name in _WITH_BLOCKS)

    def able(self, operation: Any) -> bool:
        """Returns whether an operation can have its narrow matrices by columns."""
        name, operands = operation.name, operation.operands
        if name in _BY_ELEMENT:
            return True
        if name == "stablehlo.dot_general":
            numbers = self.hlo.DotDimensionNumbers(operation.attributes["dot_dimension_numbers"])
            return not numbers.lhs_batching_dimensions and (
                not self.narrow(operation.results[0]) or all(v.type.rank == 2 for v in operands))
        if name == "stablehlo.broadcast_in_dim":
            return self.narrow(operation.results[0]) and (
                operands[0].type.rank < 2 or self.axes(operation, "broadcast_dimensions") == [0, 1])
        if name in _BY_AXIS:
            return self.narrow(operation.results[0]) and all(self.narrow(v) for v in operands if v.type.rank == 2)
        if name == "stablehlo.reshape":
            return all(v.type.shape[1] == 1 for v in (operands[0], operation.results[0]) if self.narrow(v))
        if name == "stablehlo.transpose":
            return self.axes(operation, "permutation") == [1, 0]
        return name == "stablehlo.reduce" and len(operands) == 2

    def join(self, operation: Any) -> None:
        """Puts values that an operation has in one layout into one group."""
        if operation.name in _BY_ELEMENT or operation.name in _BY_AXIS:
            root = self.root(operation.results[0])
            for value in filter(self.narrow, operation.operands):
                if (other := self.root(value)) != root:
                    self.parents[other] = root

    def root(self, value: Any) -> Any:
        """Returns the root of a value's group."""
        passed = []
        while (parent := self.parents.get(value)) is not None:
            passed.append(value)
            value = parent
        for each in passed[:-1]:
            self.parents[each] = value
        return value

    def weigh(self, concerned: list[Any], able: list[bool]) -> None:
        """Adds up what groups gain by operations, and lose by values that are needed by rows or come so."""
        given: set[Any] = set()
        taken: set[Any] = set()
        left: set[Any] = set()
        uneven: set[Any] = set()  # groups in whose loops an axis matters; others are loops over all elements anyway
        for operation, is_able in zip(concerned, able, strict=True):
            operands = set(filter(self.narrow, operation.operands))
            if not is_able:
                left |= operands
                continue
            given.update(operation.results)
            if operation.name in _BY_ELEMENT:
                taken |= operands
                if (result := operation.results[0]).type.shape[1] > 1:
                    self.gains[self.root(result)] += _DEAR if operation.name in _FUNCTIONS else 1
            elif operation.name != "stablehlo.broadcast_in_dim" or operation.operands[0].type.rank:
                uneven.update(self.root(v) for v in (*operands, *operation.results) if self.narrow(v))
        for values in (taken - given, left):
            for value in values:
                rows, columns = value.type.shape
                if columns > 1:
                    self.gains[self.root(value)] -= _COST if rows * columns <= _MANY else _COST_OF_MANY
        for root in self.gains.keys() - uneven:
            self.gains[root] = 0

    def chosen(self, value: Any) -> bool:
        """Returns whether a value is to be by columns."""
        return self.gains.get(self.root(value), 0) > 0

    # -- layouts -----------------------------------------------------------------------

    def transposed(self, value: Any) -> Any:
        """Emits the transpose of a matrix."""
        rows, columns = value.type.shape
        kind = self.ir.RankedTensorType.get([columns, rows], value.type.element_type)
        with self.here.location, self.ir.InsertionPoint(self.here):
            return self.hlo.reshape(kind, value) if 1 in (rows, columns) else self.hlo.transpose(value, [1, 0])

    def in_columns(self, value: Any) -> Any:
        """Returns a matrix by columns."""
        if value in self.changed:
            return value
        if value not in self.columns:
            self.columns[value] = self.transposed(value)
        return self.columns[value]

    def in_rows(self, value: Any) -> Any:
        """Returns a value as it was."""
        if value not in self.changed:
            return value
        if value not in self.rows:
            self.rows[value] = self.transposed(value)
        return self.rows[value]

    def change(self, operation: Any) -> None:
        """Declares that an operation gives its result by columns."""
        value = operation.results[0]
        rows, columns = value.type.shape
        value.set_type(self.ir.RankedTensorType.get([columns, rows], value.type.element_type))
        self.changed.add(value)

    def axes(self, operation: Any, name: str) -> list[int]:
        """Returns numbers that are an attribute of an operation."""
        return list(self.ir.DenseI64ArrayAttr(operation.attributes[name]))

    def set_axes(self, operation: Any, name: str, axes: list[int]) -> None:
        """Sets such an attribute."""
        operation.attributes[name] = self.ir.DenseI64ArrayAttr.get(axes)

    def by_rows(self, operation: Any) -> None:
        """Lets an operation, and what is in it, have all values by rows."""
        for i, value in enumerate(operation.operands):
            if value in self.changed:
                operation.operands[i] = self.in_rows(value)
        for region in operation.regions:
            for block in region.blocks:
                for inner in block.operations:
                    self.by_rows(inner.operation)

    def together(self, operation: Any) -> None:
        """Changes an operation all of whose matrices have one layout."""
        if not self.chosen(operation.results[0]):
            return
        for i, value in enumerate(operation.operands):
            if value.type.rank == 2:
                operation.operands[i] = self.in_columns(value)
        for name in _BY_AXIS.get(operation.name, ()):
            self.set_axes(operation, name, self.axes(operation, name)[::-1])
        self.change(operation)

    def concatenate(self, operation: Any) -> None:
        """Changes a concatenation."""
        if self.chosen(operation.results[0]):
            axis = self.ir.IntegerAttr(operation.attributes["dimension"])
            operation.attributes["dimension"] = self.ir.IntegerAttr.get(axis.type, 1 - axis.value)
        self.together(operation)

    def broadcast_in_dim(self, operation: Any) -> None:
        """Changes a broadcast."""
        if not self.chosen(operation.results[0]):
            self.by_rows(operation)
        elif operation.operands[0].type.rank == 2:
            self.together(operation)
        else:
            axes = self.axes(operation, "broadcast_dimensions")
            self.set_axes(operation, "broadcast_dimensions", [1 - axis for axis in axes])
            self.change(operation)

    def dot_general(self, operation: Any) -> None:
        """Changes a product, each of whose operands is by rows or by columns, and its result."""
        numbers = self.hlo.DotDimensionNumbers(operation.attributes["dot_dimension_numbers"])
        operands = list(operation.operands)
        summed = [list(numbers.lhs_contracting_dimensions), list(numbers.rhs_contracting_dimensions)]
        for i, value in enumerate(operands):
            if value in self.changed or (self.narrow(value) and self.chosen(value)):
                operands[i] = self.in_columns(value)
                summed[i] = [1 - axis for axis in summed[i]]
        if self.narrow(operation.results[0]) and self.chosen(operation.results[0]):
            operands.reverse()
            summed.reverse()
            self.change(operation)
        for i, value in enumerate(operands):
            operation.operands[i] = value
        operation.attributes["dot_dimension_numbers"] = self.hlo.DotDimensionNumbers.get(
            lhs_batching_dimensions=[], rhs_batching_dimensions=[],
            lhs_contracting_dimensions=summed[0], rhs_contracting_dimensions=summed[1])

    def reduce(self, operation: Any) -> None:
        """Changes a reduction."""
        value = operation.operands[0]
        if value in self.changed:
            self.set_axes(operation, "dimensions", sorted(1 - axis for axis in self.axes(operation, "dimensions")))

    def reshape(self, operation: Any) -> None:
        """Changes a reshape of, or to, a matrix of one column, whose elements are in the same order in both layouts."""
        if self.narrow(operation.results[0]) and self.chosen(operation.results[0]):
            self.change(operation)

    def transpose(self, operation: Any) -> None:
        """Remembers what a transposition gives; `run` removes those of what is by columns."""
        operand, result = operation.operands[0], operation.results[0]
        if operand not in self.changed:
            self.columns[operand], self.columns[result] = result, operand
