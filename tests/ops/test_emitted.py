"""Kernels that write themselves into programs without JAX: their results are NumPy's, and to the last bit JAX's."""

from __future__ import annotations

import collections
import functools
import operator
import warnings
import zlib
from typing import Any

import numpy as np
import pytest

from graphgrad.executor.backend import xla
from graphgrad.executor.emit.arrays import Array
from graphgrad.executor.emit.namespace import Namespace
from graphgrad.executor.emit.program_text import Text
from graphgrad.executor.runtime import executable
from tests.support.effort import long
from tests.support.table import draw, row_dtypes

from .test_ops import ROWS, Kernels, assert_close, often

_PART = 14  # one of so many rows is checked by `make test` in all cases; `test_first_cases` has one of each row
_TOGETHER = 20  # so many rows are one program there


def _written(kernels: Kernels, text: Text, number: int) -> tuple[list[Any], list[Array]] | None:
    """The arguments and results of a kernel that writes itself into a program; None if only JAX can lower it."""
    flat, given = list(kernels.inputs.flat), []
    known = {kernels.opdef.inputs[i].name for i in kernels.opdef.host}
    for i, name in enumerate(kernels.inputs.names):
        if name not in known:
            given.append((f"%a{number}_{i}", np.asarray(flat[i])))
    arrays = iter([Array(text, name, a.shape, a.dtype) for name, a in given])
    for i, name in enumerate(kernels.inputs.names):
        if name not in known:
            flat[i] = next(arrays)
    xp = Namespace(text)
    try:
        for _, a in given:
            xp.zeros(a.shape, a.dtype)  # refuses its dtype, and no elements
        with np.errstate(all="ignore"):
            found = [xp.asarray(r) for r in kernels.run(xp, flat)]
        for r, spec in zip(found, kernels.specs, strict=True):
            assert r.dtype == spec.dtype.np_dtype
            r.type  # noqa: B018  # refuses its dtype
        return given, found
    except AssertionError:
        raise
    except Exception:  # as in `lower`; what it has written is not used
        return None


def _traced(kernels: list[Kernels], values: list[np.ndarray]) -> bytes:
    """The program as JAX lowers it."""
    import io

    import jax

    def run(*given: Any) -> list[Any]:
        left, results = iter(given), []
        for k in kernels:
            known = {k.opdef.inputs[i].name for i in k.opdef.host}
            traced = [i for i, name in enumerate(k.inputs.names) if name not in known]
            results += k.on_device(traced, [next(left) for _ in traced])
        return results

    with jax.enable_x64(True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = jax.jit(run, keep_unused=True).lower(*values).compiler_ir("stablehlo")
    code = io.BytesIO()
    module.operation.write_bytecode(code)
    return code.getvalue()


@functools.lru_cache(1)
def _compiled(number: int) -> dict[tuple[int, str], list[tuple[Any, Any]]]:
    """What the kernels of `ROWS[number]` give: written, and lowered by JAX, each compiled as one program."""
    row, text = ROWS[number], Text()
    arguments, values, results, found, used = [], [], [], {}, []
    for i in range(len(row.cases)):
        for dtype in row_dtypes(row):
            if not often(row, i, dtype):
                continue
            kernels = Kernels(row, draw(row, row.case(i), dtype))
            if _written(kernels, Text(), 0) is not None:
                written = _written(kernels, text, len(arguments))
                arguments += [f"{name}: {Array(text, name, a.shape, a.dtype).type}" for name, a in written[0]]
                values += [a for _, a in written[0]]
                found[i, dtype] = range(len(results), len(results) + len(written[1]))
                results += written[1]
                used.append(kernels)
    if not results:
        return {}
    module = text.module(arguments, [(r.name, r.type) for r in results])
    device = xla.device()
    specs = [xla.ArraySpec(r.shape, r.dtype) for r in results]
    made = []
    for code in (module.encode(), _traced(used, values)):
        program = device.compile(code, specs, frozenset())
        made.append([xla.to_numpy(v) for v in program([device.put(v) for v in values])])
    both = list(zip(*made, strict=True))
    return {key: [both[k] for k in places] for key, places in found.items()}


@pytest.mark.parametrize("block", range(0, len(ROWS), _TOGETHER))
def test_first_cases(block: int) -> None:
    """What writes itself computes what NumPy does, in the first case of each row."""
    text, arguments, values, results, wanted = Text(), [], [], [], []
    for number, row in enumerate(ROWS[block : block + _TOGETHER]):
        if row.xla and "host" not in row.opdef.flags and row.cases:
            kernels = Kernels(row, draw(row, row.case(0), row_dtypes(row)[0]))
            if _written(kernels, Text(), 0) is not None:
                given, found = _written(kernels, text, number)
                arguments += [f"{name}: {Array(text, name, a.shape, a.dtype).type}" for name, a in given]
                values += [a for _, a in given]
                results += found
                wanted += [(row, spec.dtype, v) for spec, v in zip(kernels.specs, kernels.numpy(), strict=True)]
    if not results:
        pytest.skip("JAX lowers all of these rows")
    device = xla.device()
    xla.load_lapack()
    module = text.module(arguments, [(r.name, r.type) for r in results])
    program = device.compile(module.encode(), [xla.ArraySpec(r.shape, r.dtype) for r in results], frozenset())
    found = [xla.to_numpy(v) for v in program([device.put(v) for v in values])]
    for got, (row, dtype, want) in zip(found, wanted, strict=True):
        assert_close(got, want, row, dtype, f"{row.op_type}: written against NumPy")


# Op type -> how many of its cases, in its first dtype, only JAX can lower.
_LEFT_TO_JAX = {
    "Add": 2, "BesselI0": 3, "BesselI0e": 3, "BesselK0": 3, "BesselK0e": 3, "Betainc": 6, "BetaincDerivative": 2,
    "Bucketize": 1, "Dawsn": 3, "Einsum": 7, "Equal": 2, "EuclideanNorm": 3, "Expint": 3, "FresnelCos": 3,
    "FresnelSin": 3, "Igamma": 5, "IgammaDerivative": 5, "IgammaGradA": 4, "Igammac": 5, "MatrixSolveLs": 3,
    "NotEqual": 2, "OneHot": 1, "Pow": 1, "RandomGammaGrad": 4, "ScatterNd": 1, "Slice": 1, "Spence": 3,
    "StridedSlice": 6, "StridedSliceGrad": 1, "Svd": 9, "TensorStridedSliceUpdate": 4, "TopKV2": 1,
}


def test_what_is_left_to_jax() -> None:
    """A kernel that uses what `Namespace` lacks is lowered by JAX, silently, which takes much longer."""
    found: collections.Counter[str] = collections.Counter()
    for row in ROWS:
        if row.xla and "host" not in row.opdef.flags:
            for i in range(len(row.cases)):
                kernels = Kernels(row, draw(row, row.case(i), row_dtypes(row)[0]))
                if all(map(np.size, kernels.inputs.flat)) and _written(kernels, Text(), 0) is None:
                    found[row.op_type] += 1
    assert dict(found) == _LEFT_TO_JAX


# Op types whose programs are not JAX's: why.
_OTHERWISE = {
    "LogMatrixDeterminant": "JAX takes diagonals by a gather",
    "MatrixSolveLs": "JAX has the right sides of complex systems in another order",
    "FakeQuantWithMinMaxArgs": "XLA folds constants before it inlines functions of JAX",
    "Ndtri": "JAX has loops over a polynomial's coefficients",
}


def _params() -> Any:
    for number, row in enumerate(ROWS):
        often = zlib.crc32(row.op_type.encode()) % _PART == 0
        if row.xla and "host" not in row.opdef.flags:
            yield pytest.param(number, id=row.op_type, marks=() if often else long("test_xla has all rows"))


@pytest.mark.parametrize("number", list(_params()))
def test_kernels(number: int) -> None:
    """What writes itself computes what NumPy does, and what JAX makes of it, in every case and dtype."""
    row = ROWS[number]
    for (i, dtype), found in _compiled(number).items():
        kernels = Kernels(row, draw(row, row.case(i), dtype))
        for k, ((got, traced), want) in enumerate(zip(found, kernels.numpy(), strict=True)):
            assert_close(got, want, row, kernels.specs[k].dtype, f"output {k} of case {i}, {dtype}")
            if row.op_type not in _OTHERWISE:
                assert got.tobytes() == traced.tobytes(), f"output {k} of case {i}, {dtype}, is not JAX's"


_X = np.random.default_rng(0).standard_normal((4, 5, 6)).astype(np.float32)
_I = np.array([[0, -1], [3, 2], [7, -9]])
_FUNCTIONS: dict[str, Any] = {
    "rows added": lambda xp, x, i: x.at[i].add(1.5),
    "rows set": lambda xp, x, i: x.at[i[:, 0]].set(x[:3] * 2),
    "elements added": lambda xp, x, i: x.at[i, i[::-1]].add(x[0, 0]),
    "rows added without wrapping": lambda xp, x, i: x.at[(i,)].add(2, mode="drop", wrap_negative_indices=False),
    "taken": lambda xp, x, i: xp.take(x, i, 1, mode="clip"),
    "taken from the front": lambda xp, x, i: xp.take(x, i, 0, mode="clip"),
    "taken from the end": lambda xp, x, i: xp.take(x, i, -1, mode="clip"),
    "backwards": lambda xp, x, i: x[::-2, None, 1:-1, ::-1],
    "nothing": lambda xp, x, i: xp.sum(x[2:1], 0),
    "from the end": lambda xp, x, i: x[-2, ..., -3:],
    "products": lambda xp, x, i: xp.einsum("abc,cbd->dba", x, xp.transpose(x, (2, 1, 0))),
    "products summed": lambda xp, x, i: xp.einsum("abc,db->d", x, x[:, :, 0]),
    "outer products": lambda xp, x, i: xp.einsum("a,b->ba", x[0, 0], x[0, :, 0]),
    "tiled": lambda xp, x, i: xp.tile(x, (2, 1, 3)),
    "flipped": lambda xp, x, i: xp.flip(x, (0, -1)),
    "stacked": lambda xp, x, i: xp.stack([x, -x], -2),
    "apart": lambda xp, x, i: [part * k for k, part in enumerate(xp.split(x, [1, 3], 1))],
    "equal parts": lambda xp, x, i: xp.split(x, 3, 2),
    "padded": lambda xp, x, i: xp.pad(x, ((1, 0), (0, 2), (3, 3)), constant_values=-1),
    "moved": lambda xp, x, i: x.swapaxes(0, -1).T.reshape(2, -1),
    "spread out": lambda xp, x, i: xp.broadcast_to(xp.expand_dims(x[0], (0, 2)), (3, 5, 2, 6)),
    "chosen": lambda xp, x, i: xp.where(x[:, :1] > 0, 1.0, x),
    "logarithms of sums": lambda xp, x, i: xp.logaddexp(x * 100, x[::-1]),
    "extremes": lambda xp, x, i: [xp.max(x, (0, 2)), xp.min(x), xp.max(x, 1, keepdims=True, initial=x[0, 0, 0])],
    "logic": lambda xp, x, i: [xp.any(x > 2, 1), xp.all(x > -9), ~(x > 0) & (x < 1) | (x == x[0, 0, 0])],
    "numbers": lambda xp, x, i: [1 - x, 2 / x, x**2, abs(-x), x >= 0.5, x != 0, i * 2 - 1],
    "conversions": lambda xp, x, i: [x.astype(bool), i.astype(np.float32), (x > 0).astype(np.int32), x.astype("int64")],
    "means": lambda xp, x, i: [xp.mean(x, (0, 1)), xp.prod(x, 2), xp.sum(i, 0), xp.arange(5, dtype=np.int32)],
    "what is not finite": lambda xp, x, i: [xp.isnan(x / 0 * 0), xp.isfinite(x / 0), xp.sign(-x)],
    "remainders": lambda xp, x, i: [x % 0.3, i % 4, i // -4, x // 0.7, xp.fmod(x, -0.4), 5 % (i + 20), i % 0, i % -3],
    "orders": lambda xp, x, i: [xp.sort(x, 1), xp.argsort(x, axis=0), xp.argmax(x, 2), xp.argmin(i, 0),
                                xp.argmax(xp.where(x > 1, xp.nan, x), 0), xp.cumsum(x, 1), xp.cumprod(x, 0)],
    "bits": lambda xp, x, i: [i & 3, i | 8, i ^ 5, ~i, i << 2, i >> 1, xp.invert(i), x.view(np.int32) & 255,
                              i.astype(np.uint32) >> np.uint32(3), xp.uint64(i) * np.uint64(3)],
    "of two dtypes": lambda xp, x, i: [x[0, 0, :1] + i, i + np.float32(1), (x[0, 0, 0] > 0) + i, i.astype(np.int32) * i,
                                       xp.where(x > 0, i[0, 0], x), x.astype(np.float16) * x[0], xp.sum(x > 0, 1),
                                       x.astype("complex64") * x.astype("float64"), i.astype(np.int8) - i],
    "taken or nothing": lambda xp, x, i: [xp.take(x, i, 1), xp.take_along_axis(x, xp.argsort(x, axis=0), 0),
                              x[i % 4, :, 2], x[..., i[:, 0]], x.at[i[0, 1]].get(), x.at[1, i[0, 0]].get()],
    "complex": lambda xp, x, i: [xp.conj(z := x.astype("complex64") * 1j + 2), abs(z), z.real, z.imag, z / xp.exp(z)],
    "bands": lambda xp, x, i: [xp.tril(x, 1), xp.triu(x), xp.eye(3, dtype=np.float32), xp.diag(x[0, 0]),
                               xp.diagonal(x[:, :4, :4], axis1=-2, axis2=-1)],
    "rolled": lambda xp, x, i: [xp.roll(x, (2, -1), (0, 2)), xp.roll(x, (i[0, 1],), (1,)), xp.moveaxis(x, 0, 2),
                                xp.pad(x, ((1, 1), (2, 0), (0, 3)), mode="reflect")],
    "products of stacks": lambda xp, x, i: [xp.matmul(x[:, None], x.swapaxes(1, 2)), x[0] @ x[1].T, xp.tensordot(
        x, x, [[0, 2], [0, 2]]), xp.einsum("...ab,cb->...ac", x, x[0]), xp.einsum("abc->ca", x)],
    "whole powers": lambda xp, x, i: [x**3, x**-2, x**5, i**2, x**0, 2.0**x, xp.hypot(x, x[::-1]), xp.round(x * 3)],
    "powers": lambda xp, x, i: [xp.power(abs(x), x), xp.arctan2(x, x[::-1]), xp.rint(x * 3), xp.expm1(x)],
}


@pytest.mark.parametrize("name", _FUNCTIONS)
def test_functions(name: str) -> None:
    """What is written means what it does in JAX."""
    import jax
    import jax.numpy as jnp

    def flat(found: Any) -> list[Any]:
        return list(found) if isinstance(found, (list, tuple)) else [found]

    text = Text()
    x, i = (Array(text, n, a.shape, a.dtype) for n, a in (("%a0", _X), ("%a1", _I)))
    written = flat(_FUNCTIONS[name](Namespace(text), x, i))
    module = text.module([f"{a.name}: {a.type}" for a in (x, i)], [(r.name, r.type) for r in written])
    device = xla.device()
    program = device.compile(module.encode(), [xla.ArraySpec(r.shape, r.dtype) for r in written], frozenset())
    with jax.enable_x64(True):
        wanted = [np.asarray(w) for w in flat(jax.jit(lambda x, i: _FUNCTIONS[name](jnp, x, i))(_X, _I))]
    for got, want in zip(program([device.put(_X), device.put(_I)]), wanted, strict=True):
        got = xla.to_numpy(got)
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        np.testing.assert_allclose(got, want, rtol=2e-6, atol=1e-6)


_SIDES, _POSITIVE = np.linspace(-40, 40, 401), np.linspace(0.02, 40, 401)
_SPECIAL: dict[str, tuple[str, np.ndarray]] = {  # by name: SciPy's name, and arguments from each piece of the domain
    "math.erf": ("erf", np.linspace(-6, 6, 241)),
    "math.erfc": ("erfc", np.linspace(-6, 26, 321)),
    "math.lgamma": ("gammaln", _POSITIVE),
    "math.digamma": ("psi", _POSITIVE),
    "math.expm1": ("expm1", _SIDES),
    "math.log1p": ("log1p", _POSITIVE),
    "math.ndtri": ("ndtri", np.concatenate([10.0 ** np.arange(-300.0, 0.0, 7.0), np.linspace(0.01, 0.99, 99),
                                            1 - 2.0 ** -np.arange(2.0, 53.0)])),
    "math.erfinv": ("erfinv", np.concatenate([np.linspace(-0.99, 0.99, 199), 1 - 2.0 ** -np.arange(2.0, 53.0)])),
    **{f"math.special.bessel_{name}": (name, _SIDES) for name in ("i0e", "i1e", "j0", "j1")},
    **{f"math.special.bessel_{name}": (name, _POSITIVE) for name in ("k0e", "k1e", "y0", "y1")},
}


@pytest.mark.parametrize("name", _SPECIAL)
def test_special_functions_to_double_precision(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong digit in a coefficient shows: SciPy has approximations of its own."""
    import scipy.special

    import graphgrad.compat.v1 as tf

    monkeypatch.setattr(executable, "first_in_numpy", False)
    monkeypatch.setattr(executable, "tiered", False)
    scipys, given = _SPECIAL[name]
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float64, [None])
        found = session.run(operator.attrgetter(name)(tf)(x), {x: given})
    np.testing.assert_allclose(found, getattr(scipy.special, scipys)(given), rtol=1e-13, atol=1e-14)
