"""Records what TensorFlow computes for the rows of the table, into `tests/recorded/`.

Run it with an interpreter that has TensorFlow 2.21 (`make record` makes one):

    python -m tests.record.ops.table [FAMILY ...] [--op TYPE ...] [--again]

Only cases that are new or whose inputs have changed are run, unless `--again` is given;
recordings that no row asks for any more are dropped.
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
from typing import Any

import numpy as np

from graphgrad.ir.dtypes import DType
from graphgrad.ir.opdef import registry
from tests.ops import rows
from tests.support.recordings import Recorded, shapes_to_text
from tests.support.table import Case, Inputs, Row, declarations, draw, generator, row_dtypes, sample


def _array(value: Any) -> np.ndarray:
    """An array; a string stays whole (NumPy's own type for strings drops zeros at their end)."""
    return np.asarray(value, object if isinstance(value, bytes) else None)


def run(tf: Any, row: Row, case: Case, dtype: str, inputs: Inputs) -> dict[str, Any]:
    """One case's outputs and gradients, as `Recorded` keeps them."""
    if "random" in row.opdef.flags:
        # A session's first run; in eager mode, the counters of equal ops are shared.
        with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
            values = sess.run(_call(tf, row, inputs, _tensors(tf, inputs)))
        return {"inputs": inputs.checksum(), "outputs": [_array(v) for v in values], "gradients": None}
    flat = _tensors(tf, inputs)
    xs = inputs.differentiable(row)
    with tf.GradientTape() as tape:
        for x in xs:
            tape.watch(flat[x])
        outputs = _call(tf, row, inputs, flat)
    ys = [k for k, t in enumerate(outputs)
          if (t.dtype.is_floating or t.dtype.is_complex) and (row.ys is None or k in row.ys)]
    return {
        "inputs": inputs.checksum(),
        "outputs": [_array(t.numpy()) for t in outputs],
        "gradients": _gradients(tf, tape, row, row.key(case, dtype), [outputs[k] for k in ys], [flat[x] for x in xs]),
    }


def _tensors(tf: Any, inputs: Inputs) -> list[Any]:
    return [tf.constant(a.tolist() if t.kind == "o" else a, _tf_type(tf, t), shape=a.shape)
            for a, t in zip(inputs.flat, inputs.dtypes, strict=True)]


def _call(tf: Any, row: Row, inputs: Inputs, flat: list[Any]) -> list[Any]:
    """The flat outputs of the op."""
    definition = tf.raw_ops.__dict__[row.op_type]
    op_def = _op_def(row.op_type)
    arguments, position = {}, 0
    for arg, value in zip(op_def.input_arg, inputs.args, strict=True):
        n = len(value) if isinstance(value, list) else 1
        arguments[arg.name] = flat[position : position + n] if isinstance(value, list) else flat[position]
        position += n
    arguments.update(_attributes(tf, row, op_def, inputs))
    renamed = _python_names(definition, op_def)
    arguments = {renamed.get(k, k): v for k, v in arguments.items()}
    return list(tf.nest.flatten(definition(**arguments)))


def infer(tf: Any, row: Row, inputs: Inputs) -> str:
    """The static shapes that TensorFlow infers, for each declaration of the inputs; "-" where it complains."""
    found = []
    with tf.Graph().as_default():
        constants = _tensors(tf, inputs)
        for fed, shapes in declarations(row, inputs):
            flat = list(constants)
            for i in fed:
                shape = shapes.get(i, inputs.flat[i].shape)
                flat[i] = tf.compat.v1.placeholder(_tf_type(tf, inputs.dtypes[i]), shape)
            try:
                outputs = _call(tf, row, inputs, flat)
            except (ValueError, TypeError):
                found.append("-")
                continue
            known = [None if t.shape.rank is None else t.shape.as_list() for t in outputs]
            found.append(shapes_to_text(known))
    return "|".join(found)


def _gradients(tf: Any, tape: Any, row: Row, key: str, ys: list[Any], xs: list[Any]) -> list[Any] | None:
    if not (row.tf_grad and ys and xs):
        return None
    from graphgrad.ir.dtypes import as_dtype

    cts = []
    for k, y in enumerate(ys):
        ct = sample(generator("cotangent", key, k), tuple(y.shape), as_dtype(y.dtype.name), (-2, 2))
        cts.append(tf.constant(ct, y.dtype))
    try:
        grads = tape.gradient(ys, xs, output_gradients=cts)
    except LookupError:
        return None
    except tf.errors.OpError as e:
        print(f"no gradient: {key[:80]}: {_first_line(e)}")
        return None
    return [None if g is None else tf.convert_to_tensor(g).numpy() for g in grads]


def _op_def(op_type: str) -> Any:
    from tensorflow.python.framework import op_def_registry

    return op_def_registry.get(op_type)


def _python_names(definition: Any, op_def: Any) -> dict[str, str]:
    """The arguments that are called otherwise in Python than in the op's definition, `axis` for `squeeze_dims`."""
    derived = {a for arg in op_def.input_arg for a in (arg.type_attr, arg.number_attr, arg.type_list_attr) if a}
    names = [a.name for a in op_def.input_arg] + [a.name for a in op_def.attr if a.name not in derived]
    parameters = [p for p in inspect.signature(definition).parameters if p != "name"]
    return dict(zip([n for n in names if n not in parameters], [p for p in parameters if p not in names], strict=True))


def _tf_type(tf: Any, value: Any) -> Any:
    if isinstance(value, DType):
        return tf.as_dtype(value.name)
    if isinstance(value, tuple) and value and isinstance(value[0], DType):
        return [_tf_type(tf, v) for v in value]
    return value


def _attributes(tf: Any, row: Row, op_def: Any, inputs: Inputs) -> dict[str, Any]:
    """The attributes that the inputs do not decide; those that TensorFlow requires get our defaults."""
    derived = {a for arg in op_def.input_arg for a in (arg.type_attr, arg.number_attr, arg.type_list_attr) if a}
    known = {a.name: a for a in op_def.attr if a.name not in derived}
    given = {k: v for k, v in inputs.attrs.items() if k not in derived}
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise TypeError(f"TensorFlow's {row.op_type} has no attributes {unknown}; it has {sorted(known)}")
    for name, attr in known.items():
        if name not in given and not attr.HasField("default_value") and name in row.opdef.attrs:
            given[name] = row.opdef.attrs[name]
    return {k: _tf_type(tf, v) for k, v in given.items()}


def _first_line(e: Exception) -> str:
    """An error's first line, without the places of this machine."""
    lines = str(e).splitlines() or [""]
    return re.sub(r"\{\{function_node [^}]*\}\} ", "", lines[0])[:200]


def main() -> int:
    """Records; the exit status tells whether everything could be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("families", nargs="*", help="files of tests/ops/rows; all by default")
    parser.add_argument("--op", action="append", default=[], help="only this op type, even if recorded already")
    parser.add_argument("--again", action="store_true", help="also what is recorded already")
    options = parser.parse_args()
    import tensorflow as tf

    failures = 0
    table = [r for r in rows.load() if r.op_type in registry]
    for family in sorted({r.family for r in table}):
        if options.families and family not in options.families:
            continue
        store = Recorded(family)
        before = dict(store.entries)
        wanted: dict[str, Any] = {}
        inferred: dict[str, str] = {}
        done = 0
        for row in table:
            if row.family != family or not row.tf:
                continue
            for i in range(len(row.cases)):
                for dtype in row_dtypes(row):
                    case = row.case(i)
                    key = row.key(case, dtype)
                    try:
                        inputs = draw(row, case, dtype)
                        entry = before.get(key)
                        again = options.again or row.op_type in options.op
                        if entry is None or entry["inputs"] != inputs.checksum() or again:
                            try:
                                entry = run(tf, row, case, dtype, inputs)
                            except tf.errors.OpError as e:
                                entry = {"inputs": inputs.checksum(), "refused": _first_line(e)}
                                print(f"{family}: refused: {row.op_type}-{i}-{dtype}: {entry['refused']}")
                            done += 1
                        wanted[key] = entry
                        if dtype == row.dtypes[0]:
                            known = None if again else store.inferred.get(key)
                            inferred[key] = infer(tf, row, inputs) if known is None else known
                    except Exception as e:
                        failures += 1
                        print(f"{family}: {row.op_type}-{i}-{dtype}: {type(e).__name__}: {_first_line(e)}")
        changed = done or set(wanted) != set(before) or inferred != store.inferred
        store.entries, store.inferred = wanted, inferred
        if changed:
            store.save()
        size = store.path.stat().st_size if store.path.exists() else 0
        print(f"{family}: {done} recorded, {len(wanted)} in all, {size // 1024} kB")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
