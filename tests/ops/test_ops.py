"""Every row of the table drives these tests.

- `test_xla`: the kernel under jax.jit against the same kernel under NumPy.
- `test_recorded`: values and gradients against those that TensorFlow computed.
- `test_shape`: inference against the result, with dimensions and ranks hidden.
- `test_derivatives`: gradients against finite differences, then their gradients, and those of these: to order 3.
- `test_bad_input`: the class and the text of errors.
"""

from __future__ import annotations

import functools
import re
from typing import Any

import numpy as np
import pytest

from graphgrad.errors import NeedsHostValue, OpError
from graphgrad.gradients.core.backprop import gradients
from graphgrad.ir import context
from graphgrad.ir.conversion import constant
from graphgrad.ir.dtypes import DType, as_dtype
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.graph import Graph, Tensor
from graphgrad.ir.inference import Inferred
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, registry
from graphgrad.ir.shape import compatible, merge
from tests.support.effort import ALL, chosen
from tests.support.host import dense, evaluate, placeholder
from tests.support.recordings import Recorded, shapes_from_text
from tests.support.table import Case, Inputs, Row, declarations, draw, generator, main_attr, row_dtypes, sample

from . import rows

ROWS = [r for r in rows.load() if r.op_type in registry]


def often(row: Row, i: int, dtype: str) -> bool:
    """Whether `make test` runs a case at a dtype: all cases at one dtype, and all dtypes in one case."""
    return ALL or i == 0 or dtype == row.dtypes[0]


def _params(keep: Any = None, by_dtype: bool = True) -> Any:
    params = []
    for row in ROWS:
        if keep is not None and not keep(row):
            continue
        for i in range(len(row.cases)):
            for dtype in row_dtypes(row) if by_dtype else [""]:
                if by_dtype and not often(row, i, dtype):
                    continue
                name = f"{row.op_type}-{i}" + (f"-{dtype}" if by_dtype else "")
                params.append(pytest.param(row, i, dtype, id=name) if by_dtype else pytest.param(row, i, id=name))
    return params


# How far two ways of computing the same may be apart, relative to the largest value.
_TOLERANCE = {"float64": 1e-10, "complex128": 1e-10, "float32": 2e-5, "complex64": 2e-5, "float16": 4e-3,
              "bfloat16": 3e-2}


def assert_close(got: Any, want: Any, row: Row, dtype: DType, what: str) -> None:
    """Values agree: exactly for what is not floating, else within the row's or the dtype's tolerance."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape, f"{what}: shape {got.shape} instead of {want.shape}"
    if not dtype.is_differentiable:
        np.testing.assert_array_equal(got, want, err_msg=what)
        return
    wide = np.complex128 if dtype.is_complex else np.float64
    got, want = got.astype(wide), want.astype(wide)
    tolerance = _TOLERANCE.get(dtype.name, 0.1)
    finite = np.abs(want[np.isfinite(want)])
    scale = max(1.0, float(finite.max())) if finite.size else 1.0
    np.testing.assert_allclose(got, want, rtol=row.rtol or tolerance, atol=row.atol or tolerance * scale, err_msg=what)


class Built:
    """A case's op in a graph.

    Args:
      row, inputs: the row, and the inputs drawn.
      fed: the positions of the inputs that are placeholders; the others are constants.
      shapes: the shape to declare for some of the fed ones, by position.
    """

    def __init__(self, row: Row, inputs: Inputs, fed: Any = (), shapes: dict[int, Any] | None = None):
        self.graph = Graph()
        self.feeds: dict[Tensor, Any] = {}
        with self.graph.as_default():
            self.flat: list[Tensor] = []
            for i, (array, dtype) in enumerate(zip(inputs.flat, inputs.dtypes, strict=True)):
                if i in fed:
                    t = placeholder(self.graph, dtype, (shapes or {}).get(i, array.shape))
                    self.feeds[t] = array
                else:
                    t = constant(array, dtype)
                self.flat.append(t)
            self.op = registry[row.op_type]
            result = self.op(*regrouped(inputs, self.flat), **inputs.attrs)
        self.outputs: list[Tensor] = list(self.op.unpack(result))


def regrouped(inputs: Inputs, flat: list[Any]) -> list[Any]:
    """The flat list as the op's arguments, with lists for list inputs."""
    args, position = [], 0
    for a in inputs.args:
        n = len(a) if isinstance(a, list) else 1
        args.append(flat[position : position + n] if isinstance(a, list) else flat[position])
        position += n
    return args


def _inferred(row: Row, inputs: Inputs) -> Inferred:
    eager_inputs = [EagerTensor(a, t) for a, t in zip(inputs.flat, inputs.dtypes, strict=True)]
    return row.opdef.infer(eager_inputs, dict(inputs.attrs))  # type: ignore[arg-type]  # specs stand for tensors


class Kernels:
    """A case's kernels, run directly."""

    def __init__(self, row: Row, inputs: Inputs):
        self.opdef = row.opdef
        self.inputs = inputs
        inferred = _inferred(row, inputs)
        self.specs = inferred.specs
        self.attrs = {**self.opdef.attrs, **inferred.type_attrs, **inputs.attrs}
        self.kernel_attrs = {k: self.attrs[k] for k in self.opdef.kernel_attrs}
        if "random" in self.opdef.flags:
            self.kernel_attrs["rng"] = 0  # as in a session's first run

    def run(self, xp: Any, flat: Any) -> list[Any]:
        """The results on one array module."""
        values = self.opdef.pack(list(flat), self.attrs)
        return list(self.opdef.unpack(self.opdef.bind_kernel(xp)(xp, *values, **self.kernel_attrs)))

    def numpy(self) -> list[Any]:
        """The results of the NumPy kernel."""
        with np.errstate(all="ignore"):
            return self.run(np, self.inputs.flat)

    def traced(self) -> list[int]:
        """The inputs that XLA need not know while it compiles."""
        import jax

        known = {self.opdef.inputs[i].name for i in self.opdef.host}
        while True:
            traced = [i for i, n in enumerate(self.inputs.names) if n not in known]
            try:
                jax.eval_shape(lambda values, traced=traced: self.on_device(traced, values), self.given(traced))
                return traced
            except NeedsHostValue as needed:
                assert needed.input_name not in known, f"{self.opdef} asks for {needed.input_name}, which it has"
                known.add(needed.input_name)

    def given(self, traced: list[int]) -> list[Any]:
        """The values of the traced inputs."""
        return [self.inputs.flat[i] for i in traced]

    def on_device(self, traced: list[int], values: list[Any]) -> list[Any]:
        """The results of the kernel in jax.numpy, for what stands for the traced inputs."""
        import jax.numpy as jnp

        flat = list(self.inputs.flat)
        for i, v in zip(traced, values, strict=True):
            flat[i] = v
        return self.run(jnp, flat)


def _on_xla(row: Row, i: int, dtype: str) -> bool:
    """To compile takes time: all cases at one dtype, and all dtypes in one case, will do; of most rows one."""
    first = (i == 0) + (dtype == row.dtypes[0])
    return row.xla and "host" not in row.opdef.flags and first >= (1 if chosen(row.op_type, 8) else 2)


_TOGETHER = 10  # so many rows are one program, which takes less time than a program each


@functools.lru_cache(1)
def _compiled(block: int) -> dict[tuple[int, int, str], list[Any]]:
    """What the kernels of `_TOGETHER` rows give, compiled by XLA as one program; keys begin with the row's number."""
    import jax

    kernels = {(n, i, dtype): Kernels(row, draw(row, row.case(i), dtype))
               for n, row in enumerate(ROWS) if n // _TOGETHER == block
               for i in range(len(row.cases)) for dtype in row_dtypes(row) if _on_xla(row, i, dtype)}
    kernels = {key: k for key, k in kernels.items() if not any(t.kind == "o" for t in k.inputs.dtypes)}
    with jax.enable_x64(True):
        traced = {key: k.traced() for key, k in kernels.items()}

        def call(values: list[list[Any]]) -> list[list[Any]]:
            return [k.on_device(traced[key], v) for (key, k), v in zip(kernels.items(), values, strict=True)]

        results = jax.jit(call)([k.given(traced[key]) for key, k in kernels.items()])
    return {key: [np.asarray(r) for r in found] for key, found in zip(kernels, results, strict=True)}


def _declared(results: list[Any], kernels: Kernels, what: str) -> None:
    assert len(results) == len(kernels.specs)
    for i, (r, spec) in enumerate(zip(results, kernels.specs, strict=True)):
        if spec.dtype.kind != "o":
            got = np.asarray(r)
            assert got.dtype == spec.dtype.np_dtype, f"{what}: output {i} is {got.dtype}, not {spec}"
            assert compatible(spec.shape, got.shape), f"{what}: output {i} has shape {got.shape}, not {spec}"


@pytest.mark.parametrize("row, i, dtype", _params())
def test_xla(row: Row, i: int, dtype: str) -> None:
    """XLA agrees with NumPy, and both give the dtypes and shapes that inference declares."""
    kernels = Kernels(row, draw(row, row.case(i), dtype))
    want = kernels.numpy()
    _declared(want, kernels, "NumPy")
    if not _on_xla(row, i, dtype) or any(t.kind == "o" for t in kernels.inputs.dtypes):
        return
    number = next(n for n, r in enumerate(ROWS) if r is row)
    got = _compiled(number // _TOGETHER)[number, i, dtype]
    _declared(got, kernels, "XLA")
    for k, (g, w, spec) in enumerate(zip(got, want, kernels.specs, strict=True)):
        assert_close(g, w, row, spec.dtype, f"output {k}: XLA against NumPy")


def _differentiated(row: Row, built: Built) -> list[int]:
    return [k for k, t in enumerate(built.outputs) if t.dtype.is_differentiable and (row.ys is None or k in row.ys)]


def cotangents(row: Row, key: str, outputs: list[tuple[tuple[int, ...], DType]]) -> list[np.ndarray]:
    """The fixed random cotangents of a case, for the outputs that are differentiated."""
    return [sample(generator("cotangent", key, k), shape, dtype, (-2, 2)) for k, (shape, dtype) in enumerate(outputs)]


@pytest.mark.parametrize("row, i, dtype", _params(lambda row: row.tf))
def test_recorded(row: Row, i: int, dtype: str) -> None:
    """Values and gradients agree with those recorded from TensorFlow."""
    case = row.case(i)
    key = row.key(case, dtype)
    inputs = draw(row, case, dtype)
    entry = Recorded.of(row.family).entry(key)
    if entry is None:
        pytest.fail("nothing is recorded for this case: run `make record`")
    if entry["inputs"] != inputs.checksum():
        pytest.fail("the inputs have changed since the recording: run `make record`")
    if "refused" in entry:
        known = row.note or "Could not find device" in entry["refused"]
        assert known, f"TensorFlow refuses this case; say in the row's note why it is accepted here: {entry['refused']}"
        return
    kernels = Kernels(row, inputs)
    outputs = kernels.numpy()
    recorded = entry["outputs"]
    assert len(outputs) == len(recorded)
    for k, (got, want, spec) in enumerate(zip(outputs, recorded, kernels.specs, strict=True)):
        if row.ys is None or k in row.ys or not spec.dtype.is_differentiable:
            assert_close(got, want, row, spec.dtype, f"output {k}")
    if entry["gradients"] is None or not row.tf_grad:
        return
    xs = inputs.differentiable(row)
    built = Built(row, inputs, fed=xs)
    ys = _differentiated(row, built)
    assert len(xs) == len(entry["gradients"])
    if not xs or not ys:
        return
    cts = cotangents(row, key, [(np.shape(outputs[k]), built.outputs[k].dtype) for k in ys])
    with built.graph.as_default():
        grads = gradients([built.outputs[k] for k in ys], [built.flat[x] for x in xs],
                          [constant(c, built.outputs[k].dtype) for c, k in zip(cts, ys, strict=True)])
        grads = [None if g is None else dense(g, built.graph) for g in grads]
    values = iter(evaluate([g for g in grads if g is not None], built.feeds))
    for x, g, want in zip(xs, grads, entry["gradients"], strict=True):
        what = f"gradient for input {inputs.names[x]}"
        assert (g is None) == (want is None), f"{what} is {g}; TensorFlow's is {'None' if want is None else 'not None'}"
        if g is not None:
            assert_close(next(values), want, row, inputs.dtypes[x], what)


@pytest.mark.parametrize("row, i", _params(by_dtype=False))
def test_shape(row: Row, i: int) -> None:
    """Inference says all there is to say of known inputs, no untruth of hidden ones, and what TensorFlow's says."""
    case = row.case(i)
    inputs = draw(row, case, row.dtypes[0])
    truth = [np.shape(r) for r in Kernels(row, inputs).numpy()]
    recorded: list[str] = []
    if row.tf and row.inference:
        text = Recorded.of(row.family).inferred.get(row.key(case, row.dtypes[0]))
        assert text is not None, "nothing is recorded for this case: run `make record`"
        recorded = text.split("|")
    first = None
    for n, (fed, shapes) in enumerate(declarations(row, inputs)):
        first = fed if first is None else first
        if len(shapes) == 1 < len(fed) and i and not chosen(f"{row.op_type}-{i}", 4):
            continue  # what one input hides is seen in the first case
        built = Built(row, inputs, fed, shapes)
        theirs = shapes_from_text(recorded[n]) if truth and recorded and recorded[n] != "-" else [None] * len(truth)
        for k, (t, true, other) in enumerate(zip(built.outputs, truth, theirs, strict=True)):
            shape = t._spec.shape
            where = f"output {k}: inferred {shape}, true {true}; inputs declared {shapes}, placeholders {fed}"
            assert compatible(shape, true), where
            if fed is first and not shapes and row.shapes == "exact":
                assert shape == true, where
            if fed is first and row.shapes != "any" and None not in shapes.values() and not recorded:
                assert shape is not None, where
            compared = row.inference is True or fed is first
            if compared and compatible(other, true):  # TensorFlow's inference makes mistakes too
                assert merge(shape, other) == shape, f"{where}; TensorFlow knows {other}"


def _derivative_dtypes(row: Row) -> list[str]:
    """The widest types of each kind that the row runs at, for finite differences."""
    main = main_attr(row.opdef, row.dtypes[0])
    kinds = [as_dtype(t) for t in row_dtypes(row)]
    if main is None or not any(t.is_differentiable for t in kinds):
        return [kinds[0].name]
    allowed = row.opdef.allowed[main]
    widest = []
    for flag, name in (("f", "float64"), ("c", "complex128")):
        of_kind = [t for t in kinds if t.kind == flag]
        if of_kind:
            widest.append(name if as_dtype(name) in allowed else of_kind[0].name)
    return widest


def _inner(a: Any, b: Any) -> float:
    return float(sum(np.real(np.vdot(np.asarray(x, np.complex128), np.asarray(y, np.complex128)))
                     for x, y in zip(a, b, strict=True)))


def _direction(rng: np.random.Generator, like: Any, dtype: DType) -> np.ndarray:
    return np.asarray(sample(rng, np.shape(like), dtype, (-1, 1)))


def check_derivatives(graph: Graph, ys: list[Tensor], xs: list[Tensor], feeds: dict[Tensor, Any], order: int,
                      rng: np.random.Generator, rtol: float | None = None, what: str = "") -> None:
    """Compares gradients with finite differences along a random direction, `order` times over.

    Each level differentiates what the level before gave, also with respect to its cotangents.

    Args:
      graph: the graph of the tensors.
      ys: floating tensors.
      xs: placeholders that they depend on.
      feeds: values of all placeholders.
      order: the highest derivative.
      rng: gives cotangents and directions.
      rtol: the tolerance, relative to the sizes of the terms.
    """
    feeds = dict(feeds)
    if any(t.dtype.size == 2 for t in (*ys, *xs)):
        return  # too coarse for differences
    coarse = any(t.dtype.name not in ("float64", "complex128") for t in (*ys, *xs))
    h = 1e-2 if coarse else 1e-5
    rtol = rtol or (3e-2 if coarse else 2e-6)
    for level in range(1, order + 1):
        values = evaluate(ys, feeds)
        cts = [placeholder(graph, y.dtype, v.shape) for y, v in zip(ys, values, strict=True)]
        feeds.update({c: _direction(rng, v, c.dtype) for c, v in zip(cts, values, strict=True)})
        with graph.as_default():
            grads = [None if g is None else dense(g, graph) for g in gradients(ys, xs, cts)]
        along = [_direction(rng, feeds[x], x.dtype) for x in xs]
        live = [(x, g, v) for x, g, v in zip(xs, grads, along, strict=True) if g is not None]
        slopes = evaluate([g for _, g, _ in live], feeds)
        for (x, g, _), s in zip(live, slopes, strict=True):
            assert s.shape == feeds[x].shape, f"{what}order {level}: gradient {s.shape} of x {feeds[x].shape}"
            assert g.dtype is x.dtype
        got = _inner(slopes, [v for _, _, v in live])
        ends = []
        for step in (h, -h):
            moved = {x: (feeds[x] + step * v).astype(x.dtype.np_dtype) for x, v in zip(xs, along, strict=True)}
            ends.append(_inner([feeds[c] for c in cts], evaluate(ys, {**feeds, **moved})))
        want = (ends[0] - ends[1]) / (2 * h)
        size = sum(float(np.sum(np.abs(s * v))) for s, (_, _, v) in zip(slopes, live, strict=True))
        assert np.isfinite(got) and abs(got - want) <= rtol * max(1.0, size), (
            f"{what}order {level}: gradient {got!r}, finite difference {want!r}; "
            f"no gradient for {[i for i, g in enumerate(grads) if g is None]} of {len(xs)} xs"
        )
        xs = [*xs, *cts]
        ys = [g for _, g, _ in live]
        if not ys:
            break


@pytest.mark.parametrize("row, i", _params(lambda row: row.order > 0, by_dtype=False))
def test_derivatives(row: Row, i: int) -> None:
    """Derivatives agree with finite differences, and do not depend on static shapes; of some cases the first ones."""
    order = row.order if i == 0 or chosen(f"{row.op_type}-{i}", 4) else 1
    for dtype in _derivative_dtypes(row):
        case = row.case(i)
        inputs = draw(row, case, dtype)
        xs = inputs.differentiable(row)
        built = Built(row, inputs, fed=xs)
        ys = _differentiated(row, built)
        if not xs or not ys:
            continue
        rng = generator("directions", row.key(case, dtype))
        check_derivatives(built.graph, [built.outputs[k] for k in ys], [built.flat[x] for x in xs], built.feeds,
                          order, rng, row.fd_rtol, f"{dtype}, ")
        if row.dynamic:
            _check_dynamic(row, inputs, xs, ys)


def _check_dynamic(row: Row, inputs: Inputs, xs: list[int], ys: list[int]) -> None:
    """The gradient built while the sizes of all dimensions are unknown has the same value."""
    found = []
    for shapes in ({}, {x: (None,) * inputs.flat[x].ndim for x in xs}):
        built = Built(row, inputs, xs, shapes)
        outputs = [built.outputs[k] for k in ys]
        ones = [np.ones(v.shape, v.dtype) for v in evaluate(outputs, built.feeds)]
        with built.graph.as_default():
            grads = gradients(outputs, [built.flat[x] for x in xs], [constant(o) for o in ones])
            grads = [dense(g, built.graph) for g in grads if g is not None]
        found.append(evaluate(grads, built.feeds))
    for x, static, dynamic in zip(xs, *found, strict=False):
        assert static.shape == dynamic.shape
        what = f"gradient for {inputs.names[x]}: static against unknown shapes"
        np.testing.assert_allclose(static, dynamic, rtol=1e-6, atol=1e-9, err_msg=what)


_BAD = [pytest.param(row, j, id=f"{row.op_type}-bad-{j}") for row in ROWS for j in range(len(row.bad))]


@pytest.mark.parametrize("row, j", _BAD)
def test_bad_input(row: Row, j: int) -> None:
    """Bad input raises the right class; the text names op, operands and the user's line."""
    case, pattern, cls = (*row.bad[j], ValueError)[:3]
    inputs = draw(row, row.complete(case), row_dtypes(row)[0])
    with pytest.raises(cls) as caught:
        if issubclass(cls, OpError):
            with context.use(context.EAGER):
                tensors = [EagerTensor(a, t) for a, t in zip(inputs.flat, inputs.dtypes, strict=True)]
                row.opdef(*regrouped(inputs, tensors), **inputs.attrs)
        else:
            Built(row, inputs, fed=[k for k, n in enumerate(inputs.names) if _is_random(row, case, n)])
    text = str(caught.value)
    assert re.search(pattern, text), f"{pattern!r} is not found in:\n{text}"
    assert row.op_type in text, f"the op is not named in:\n{text}"
    assert "test_ops.py:" in text, f"the user's line is not named in:\n{text}"
    assert re.search(r"=(string|bool|resource|variant|[a-z]+\d+) [(<]|type", text), f"no operands in:\n{text}"
    assert "Fix:" in text, f"no remedy in:\n{text}"


def _is_random(row: Row, case: Any, name: str) -> bool:
    entries = (case if isinstance(case, Case) else Case(case)).entries
    entry = entries[[a.name for a in row.opdef.inputs].index(name)]
    return isinstance(entry, tuple)


def test_gradients_are_tested() -> None:
    """A row for an op that has a gradient checks it, or says why not."""
    checked = {r.op_type for r in ROWS if r.order > 0 or r.note}
    missing = {r.op_type for r in ROWS if r.opdef.gradient not in (None, NOT_DIFFERENTIABLE)} - checked
    assert not missing, f"rows with order=0 and no note, though the op has a gradient: {sorted(missing)}"
