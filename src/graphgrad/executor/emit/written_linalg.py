"""Linear algebra for programs that are written without JAX: calls of LAPACK, as JAX writes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .arrays import Array
from .element_types import Unsupported, kind_of, type_of

_LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}


class WrittenLinalg:
    """The functions, by the names of jax.numpy.linalg and jax.lax.linalg.

    Args:
      xp: the array module.
    """

    def __init__(self, xp: Any):
        self._xp = xp

    def __getattr__(self, name: str) -> Any:
        raise Unsupported(name)

    def _call(self, function: str, operands: Sequence[Array], results: Sequence[tuple[Sequence[int], Any]],
              reused: int, **options: str) -> list[Array]:
        """Writes a call of LAPACK; the first result takes the place of an operand.

        Args:
          function: its name, without the letter for the dtype.
          operands: matrices, or stacks of them; after the first one vectors, too.
          results: shape and dtype of each; what has the rank of the operands is of matrices, too.
          reused: the number of that operand.
          **options: letters.
        """
        first = operands[0]
        if first.dtype.name not in _LETTERS or any(0 in o.shape or o.dtype != first.dtype for o in operands):
            raise Unsupported("such matrices")
        rank = first.ndim
        config = ", ".join([f"{name} = {ord(letter)} : ui8" for name, letter in options.items()])
        place = "0" if len(results) > 1 else ""
        target = f"lapack_{_LETTERS[first.dtype.name]}{function}_ffi"
        line = (f"stablehlo.custom_call @{target}({', '.join([o.name for o in operands])}) {{backend_config = "
                f'"", mhlo.backend_config = {{{config}}}, '
                f"operand_layouts = [{_layouts([o.ndim for o in operands], rank)}], "
                f"output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [{place}], "
                f"operand_index = {reused}, operand_tuple_indices = []>], result_layouts = "
                f"[{_layouts([len(shape) for shape, _ in results], rank)}]}}")
        types = [type_of(shape, dtype) for shape, dtype in results]
        kind = f"({', '.join([o.type for o in operands])}) -> "
        if len(results) == 1:
            names = [self._xp.text.add(line, kind + types[0])]
        else:
            names = self._xp.text.add_many(line, f"{kind}({', '.join(types)})", len(results))
        return [Array(self._xp.text, name, shape, dtype) for name, (shape, dtype) in zip(names, results, strict=True)]

    def _valid(self, x: Array, valid: Array) -> Array:
        """Returns x, NaN where a factorization has failed."""
        found: Array = self._xp.where(valid.widened(range(valid.ndim, x.ndim)), x, np.asarray(np.nan, x.dtype))
        return found

    def cholesky(self, x: Array, symmetrize_input: bool = True) -> Array:
        if symmetrize_input:
            raise Unsupported("symmetric parts")
        found, info = self._call("potrf", [x], [(x.shape, x.dtype), (x.shape[:-2], np.int32)], 0, uplo="L")
        return self._xp.tril(self._valid(found, info == 0))

    def triangular_solve(self, a: Any, b: Any, left_side: bool = False, lower: bool = False, transpose_a: bool = False,
                         conjugate_a: bool = False, unit_diagonal: bool = False) -> Array:
        a, b = self._xp.asarray(a), self._xp.asarray(b)
        conjugate = conjugate_a and kind_of(a.dtype) == "c"
        if a.shape[:-2] != b.shape[:-2] or (conjugate and not transpose_a):
            raise Unsupported("such a system")
        (found,) = self._call(
            "trsm", [a, b], [(b.shape, b.dtype)], 1, diag="U" if unit_diagonal else "N", side="L" if left_side else "R",
            trans_x="N" if not transpose_a else "C" if conjugate else "T", uplo="L" if lower else "U")
        return found

    def lu(self, x: Any) -> tuple[Array, Array, Array]:
        x = self._xp.asarray(x)
        batch, (m, n) = x.shape[:-2], x.shape[-2:]
        found, pivots, info = self._call("getrf", [x], [(x.shape, x.dtype), ((*batch, min(m, n)), np.int32),
                                                        (batch, np.int32)], 0)
        pivots = pivots - 1
        return self._valid(found, info >= 0), pivots, self._permutation(pivots, m)

    def _permutation(self, pivots: Array, rows: int) -> Array:
        """Returns the order of the rows from exchanges of two, one after the other."""
        xp, n, batch = self._xp, pivots.shape[-1], pivots.ndim - 1
        places = xp.iota(np.int32, (*pivots.shape[:-1], rows), batch)

        def exchange(i: Array, order: Array) -> Array:
            j = xp.written_lax.dynamic_slice_in_dim(pivots, i, 1, batch)
            x = xp.written_lax.dynamic_slice_in_dim(order, i, 1, batch)
            y = xp.take_along_axis(order, j, batch)
            return xp.where(places == j, x, xp.where(places == i, y, order))

        return xp.written_lax.fori_loop(0, np.int32(n), exchange, places)

    def solve(self, a: Any, b: Any) -> Array:
        xp = self._xp
        a, b = xp.asarray(a), xp.asarray(b)
        if a.shape[:-2] != b.shape[:-2] or a.dtype != b.dtype:
            raise Unsupported("such a system")
        factors, _, order = self.lu(a)
        batch = a.ndim - 2
        rows = xp.take_in_batches(b, order, batch, batch)
        rows = self.triangular_solve(factors, rows, left_side=True, lower=True, unit_diagonal=True)
        return self.triangular_solve(factors, rows, left_side=True)

    def inv(self, a: Any) -> Array:
        a = self._xp.asarray(a)
        return self.solve(a, self._xp.eye(a.shape[-1], dtype=a.dtype).broadcast(a.shape))

    def det(self, a: Any) -> Array:
        a = self._xp.asarray(a)
        n = a.shape[-1]
        if n == 2:
            return a[..., 0, 0] * a[..., 1, 1] - a[..., 0, 1] * a[..., 1, 0]
        if n != 3:
            sign, log = self.slogdet(a)
            return sign * self._xp.exp(log).astype(sign.dtype)
        terms = [a[..., 0, i] * a[..., 1, j] * a[..., 2, k]
                 for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0), (0, 2, 1), (1, 0, 2))]
        return terms[0] + terms[1] + terms[2] - terms[3] - terms[4] - terms[5]

    def slogdet(self, a: Any) -> tuple[Array, Array]:
        xp = self._xp
        a = xp.asarray(a)
        factors, pivots, _ = self.lu(a)
        diagonal = xp.diagonal(factors, axis1=-2, axis2=-1)
        singular = xp.any(diagonal == 0, -1)
        odd = xp.count_nonzero(pivots != xp.iota(np.int32, pivots.shape, pivots.ndim - 1), -1)
        if kind_of(a.dtype) == "c":
            sign = xp.prod(diagonal / abs(diagonal).astype(a.dtype), -1)
        else:
            sign, odd = a.dtype.type(1), odd + xp.count_nonzero(diagonal < 0, -1)
        sign = xp.where(singular, np.zeros((), a.dtype), sign * (1 - 2 * (odd % 2)).astype(a.dtype))
        log = xp.sum(xp.log(abs(diagonal)).astype(a.dtype), -1)
        return sign, xp.real(xp.where(singular, np.asarray(-np.inf, a.dtype), log))

    def qr(self, x: Any, mode: str = "reduced") -> tuple[Array, Array]:
        x = self._xp.asarray(x)
        *stack, rows, columns = x.shape
        least = min(rows, columns)
        packed, factors = self._call("geqrf", [x], [(x.shape, x.dtype), ((*stack, least), x.dtype)], 0)
        width = rows if mode == "complete" else least
        start = packed[..., :width]
        if width > columns:
            start = self._xp.pad(start, [(0, 0)] * (x.ndim - 1) + [(0, width - columns)])
        function = "ungqr" if kind_of(x.dtype) == "c" else "orgqr"
        (q,) = self._call(function, [start, factors], [((*stack, rows, width), x.dtype)], 0)
        return q, self._xp.triu(packed[..., :width, :])

    def eigh(self, x: Any, UPLO: str = "L", symmetrize_input: bool = True) -> tuple[Array, Array]:
        x = self._xp.asarray(x)
        if symmetrize_input:
            x = (x + self._xp.conj(self._xp.swapaxes(x, -1, -2))) / 2
        real = np.empty(0, x.dtype).real.dtype
        vectors, values, info = self._call(
            "heevd" if kind_of(x.dtype) == "c" else "syevd", [x],
            [(x.shape, x.dtype), (x.shape[:-1], real), (x.shape[:-2], np.int32)], 0, mode="V", uplo=UPLO)
        return self._valid(values, info == 0), self._valid(vectors, info == 0)

    def eigvalsh(self, x: Any) -> Array:
        return self.eigh(x)[0]


def _layouts(ranks: Sequence[int], of_matrices: int) -> str:
    """Returns the orders of axes in memory: matrices are stored by columns."""
    found = []
    for rank in ranks:
        order = list(range(rank - 1, -1, -1))
        if rank == of_matrices:
            order[:2] = order[1::-1]
        values = "" if not rank else str(order) if rank > 1 else str(order[0])
        found.append(f"dense<{values}> : tensor<{rank}xindex>")
    return ", ".join(found)
