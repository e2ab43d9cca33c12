"""What `tf.raw_ops` has: each op type as a function of keyword arguments, with TensorFlow's names and defaults.

An op's record has nearly all that this takes. The tables here hold where the two differ: inputs whose names
TensorFlow changes for Python, attributes of the record that TensorFlow's op does not have, and the reverse.
"""

from __future__ import annotations

import collections
import difflib
import functools
import inspect
from typing import Any

import numpy as np

import graphgrad.gradients  # noqa: F401  # the records of branches and loops have their gradients from there
from graphgrad.errors import InvalidArgumentError, UnimplementedError, describe
from graphgrad.ir.context import current_graph
from graphgrad.ir.dtypes import DType, as_dtype, float32, resource, uint64
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, OpDef, registry
from graphgrad.ir.shape import as_shape
from graphgrad.ir.source import user_source

_REQUIRED = inspect.Parameter.empty
_AXIS = {"reduction_indices": "axis"}

# Op type -> the name in its record: TensorFlow's name.
_RENAMED: dict[str, dict[str, str]] = {
    **dict.fromkeys(("All", "Any", "EuclideanNorm", "Max", "Mean", "Min", "Prod", "Sum"), _AXIS),
    "DeepCopy": {"input": "x"},
    "ExpandDims": {"dim": "axis"},
    "ResourceSparseApplyAdagradDA": {
        "grad_accum": "gradient_accumulator", "grad_squared_accum": "gradient_squared_accumulator"},
    "Select": {"t": "x", "e": "y"},
    "Split": {"split_dim": "axis"},
    "SplitV": {"split_dim": "axis"},
    "Squeeze": {"squeeze_dims": "axis"},
    "Where": {"input": "condition"},
}

# Op type -> attributes of the record that are this package's own.
_OWN: dict[str, tuple[str, ...]] = {
    "BlockLSTMGrad": ("forget_bias", "cell_clip"),
    "BlockLSTMGradV2": ("forget_bias", "cell_clip"),
    "ExtractGlimpse": ("seed", "seed2"),
    "ExtractGlimpseV2": ("seed", "seed2"),
    "InitializeTableFromTextFileV2": ("key_dtype", "value_dtype"),
    "IteratorGetNext": ("one_shot",),
    "IteratorGetNextAsOptional": ("one_shot",),
    "IteratorToStringHandle": ("one_shot",),
    "LookupTableExportV2": ("value_shape", "dense"),
    "LookupTableFindV2": ("mutable", "key_rank"),
    "LookupTableSizeV2": ("mutable",),
    "MaxPoolGradGrad": ("explicit_paddings",),
    "ParseSingleExample": ("has_default",),
    "Print": ("count",),
    "ReadVariableOp": ("shape",),
    "ResourceGather": ("shape",),
    "ResourceGatherNd": ("shape",),
    **{f"ResourceSparseApply{rule}": ("sum_duplicates",) for rule in
       ("Adadelta", "Adagrad", "CenteredRMSProp", "Ftrl", "FtrlV2", "Momentum", "RMSProp")},
    "VariableShape": ("shape",),
    "While": ("Tout", "maximum_iterations", "counter", "bounded_by", "memory"),
}

# Op type -> attributes that TensorFlow has besides: those that change no result here may be anything, ...
_WITHOUT_EFFECT: dict[str, dict[str, Any]] = {
    "AssignVariableOp": {"validate_shape": False},
    "EagerPyFunc": {"is_async": False},
    "If": {"output_shapes": ()},
    "IteratorGetNextAsOptional": {"output_types": _REQUIRED, "output_shapes": _REQUIRED},
    "ResourceGather": {"validate_indices": True},
    "VarHandleOp": {"debug_name": "", "allowed_devices": ()},
    "While": {"parallel_iterations": 10},
}
# ... the others only have their default.
_DEFAULT_ONLY: dict[str, dict[str, Any]] = {
    "DecodeImage": {"dtype": as_dtype("uint8")},
    **{f"ResourceScatterNd{kind}": {"bad_indices_policy": ""} for kind in ("Add", "Max", "Min", "Sub", "Update")},
    "SerializeManySparse": {"out_type": as_dtype("string")},
    "SerializeSparse": {"out_type": as_dtype("string")},
    "VariableShape": {"out_type": as_dtype("int32")},
}

# Op type -> attributes whose default is another in TensorFlow.
_DEFAULTS: dict[str, dict[str, Any]] = {
    "AccumulateNV2": {"shape": _REQUIRED},
    "CheckNumerics": {"message": _REQUIRED},
    "CheckNumericsV2": {"message": _REQUIRED},
    "DenseCountSparseOutput": {"binary_output": _REQUIRED},
    "LookupTableExportV2": {"Tkeys": _REQUIRED, "Tvalues": _REQUIRED},
    "ParseSequenceExampleV2": {
        **dict.fromkeys(("Ncontext_sparse", "Nfeature_list_sparse", "Nfeature_list_dense"), 0),
        **dict.fromkeys(("context_sparse_types", "context_ragged_value_types", "context_ragged_split_types",
                         "context_dense_shapes", "feature_list_sparse_types", "feature_list_ragged_value_types",
                         "feature_list_ragged_split_types", "feature_list_dense_types",
                         "feature_list_dense_shapes"), ())},
    "PlaceholderWithDefault": {"shape": _REQUIRED},
    "SparseCountSparseOutput": {"binary_output": _REQUIRED},
    **{f"Stateless{kind}": {"dtype": float32} for kind in
       ("RandomNormal", "RandomNormalV2", "RandomUniform", "RandomUniformV2", "TruncatedNormal", "TruncatedNormalV2")},
    "StatelessRandomUniformFullInt": {"dtype": uint64},
    "StatelessRandomUniformFullIntV2": {"dtype": uint64},
    "VarHandleOp": {"shape": _REQUIRED},
    "While": {"output_shapes": ()},
}

# Those of TensorFlow's that work on what has no tensor here (functions known by a token, datasets): what to use, and
# their inputs and attributes.
_UNCALLABLE: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    **dict.fromkeys(("EagerPyFunc", "PyFunc", "PyFuncStateless"),
                    ("tf.py_func or tf.numpy_function", ("input",), ("token", "Tout"))),
    "MakeIterator": ("iterator.make_initializer", ("dataset", "iterator"), ()),
    "WriteSummary": ("tf.summary.write", ("writer", "step", "tensor", "tag", "summary_metadata"), ()),
}

# The kinds of attributes whose default does not tell it.
_INTEGERS = frozenset({"hash_key", "input_ragged_rank", "output_ragged_rank", "pad_width",
    "OUTPUT_RAGGED_RANK", "beam_width", "block_size", "concat_dim", "k", "key_index", "limit", "num", "num_buckets",
    "num_partitions", "num_sampled", "num_sparse", "num_split", "num_true", "range_max", "record_bytes", "seq_dim",
    "top_paths", "value_index"})
_FLOATS = frozenset({"acceptable_fraction", "sample_rate", "variance_epsilon"})
_BOOLEANS = frozenset(
    {
        "batched_input",
        "hashed_output",
        "preserve_short_sequences",
        "binary_output",
        "scale_after_normalization",
        "unique",
        "use_peephole",
    }
)
_LISTS = frozenset(
    {
        "ngram_widths",
        "dense_keys",
        "key",
        "ksize",
        "ksizes",
        "pooling_ratio",
        "rates",
        "row_partition_types",
        "sparse_keys",
        "strides",
    }
)
_STRINGS = frozenset({"input_encoding", "input_order", "left_pad", "output_encoding", "right_pad", "separator",
    "equation", "interpolation", "message", "mode", "padding", "pattern", "rewrite", "set_operation",
    "token"})
_KINDS: dict[Any, frozenset[str]] = {int: _INTEGERS, float: _FLOATS, bool: _BOOLEANS, tuple: _LISTS, str: _STRINGS}

# Kind of attribute -> the classes of its values, those excluded, and TensorFlow's word for them.
_VALUES: dict[Any, tuple[tuple[type, ...], tuple[type, ...], str]] = {
    bool: ((bool, np.bool_), (), "bool"),
    int: ((int, np.integer), (bool,), "int"),
    float: ((int, float, np.number), (bool,), "float"),
    str: ((str, bytes), (), "string"),
    tuple: ((list, tuple), (), "list"),
}


class RawOp:
    """One op type as a function of keyword arguments.

    Args:
      opdef: its record.
    """

    def __init__(self, opdef: OpDef):
        self._opdef = opdef
        self.__name__ = self.__qualname__ = opdef.name
        self.__doc__ = _documentation(opdef)
        theirs = _RENAMED.get(opdef.name, {})
        own = _OWN.get(opdef.name, ())
        self._inputs = {theirs.get(a.name, a.name): a.name for a in opdef.inputs}
        self._attrs: dict[str, tuple[str, Any]] = {}
        for name, default in {**opdef.attrs, **_DEFAULTS.get(opdef.name, {})}.items():
            if name not in opdef._derived and name not in own:
                self._attrs[theirs.get(name, name)] = (name, default)
        self._unused = {**_WITHOUT_EFFECT.get(opdef.name, {}), **_DEFAULT_ONLY.get(opdef.name, {})}
        if opdef.name in _UNCALLABLE:
            _, inputs, attrs = _UNCALLABLE[opdef.name]
            self._inputs = {k: k for k in inputs}
            self._attrs = {k: (k, _REQUIRED) for k in attrs}

    @functools.cached_property
    def __signature__(self) -> inspect.Signature:
        attrs = {**{k: d for k, (_, d) in self._attrs.items()}, **self._unused}
        needed = [k for k, d in attrs.items() if d is _REQUIRED]
        names: dict[str, Any] = dict.fromkeys([*self._inputs, *needed], _REQUIRED)
        names.update({k: list(d) if isinstance(d, tuple) else d for k, d in attrs.items() if k not in needed})
        parameters = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=d) for n, d in names.items()]
        return inspect.Signature([*parameters, inspect.Parameter("name", inspect.Parameter.KEYWORD_ONLY, default=None)])

    def __call__(self, *args: Any, name: str | None = None, **kwargs: Any) -> Any:
        opdef = self._opdef
        if args:
            raise TypeError(self._worded(
                f"{opdef.name} only takes keyword args (possible keys: {[*self.__signature__.parameters]})",
                "name the arguments"))
        given: dict[str, Any] = {}
        for key, value in kwargs.items():
            if key in self._inputs:
                given[self._inputs[key]] = value
            elif key in self._attrs:
                own, default = self._attrs[key]
                given[own] = self._attribute(key, own, default, value)
            elif key in self._unused:
                self._check_unused(key, value)
            else:
                raise TypeError(self._worded(f"{opdef.name} got an unexpected keyword argument '{key}'",
                                             _nearest(key, self.__signature__.parameters)))
        needed = [k for k in self._inputs if k not in kwargs]
        needed += [k for k, (_, default) in self._attrs.items() if default is _REQUIRED and k not in kwargs]
        needed += [k for k, default in self._unused.items() if default is _REQUIRED and k not in kwargs]
        if needed:
            raise TypeError(self._worded(f"{opdef.name} is missing {len(needed)} required argument(s): "
                                         + ", ".join(map(repr, needed)), "give them by name"))
        if opdef.name in _UNCALLABLE:
            raise UnimplementedError(None, None, self._worded(
                f"{opdef.name} works on what has no tensor here", _UNCALLABLE[opdef.name][0]))
        for key, own in self._inputs.items():
            if given[own] is None:
                raise ValueError(self._worded(f"Tried to convert '{key}' to a tensor and failed. Error: None values "
                                              "not supported.", f"give a tensor for '{key}'"))
        for own, default in _DEFAULTS.get(opdef.name, {}).items():
            given.setdefault(own, default)
        if "shape" in _OWN.get(opdef.name, ()):
            handle = given[opdef.inputs[0].name]
            given["shape"] = getattr(handle.op, "attrs", {}).get("shape") if hasattr(handle, "graph") else getattr(
                getattr(handle, "_value", None), "shape", None)
        self._check_handle(given)
        result = opdef(name=name, **given)
        if isinstance(result, tuple) and len(opdef.outputs) > 1:
            return _result_type(opdef)(*result)
        return result

    def _attribute(self, key: str, own: str, default: Any, value: Any) -> Any:
        """Returns an attribute's value as the record takes it; raises TypeError if it is of another kind."""
        kind = next((k for k, names in _KINDS.items() if own in names), None)
        if kind is None and default is not _REQUIRED:
            kind = type(default)
        if own in self._opdef.allowed or kind is DType:
            if isinstance(value, (list, tuple)):
                return tuple([as_dtype(v) for v in value])
            return as_dtype(value)
        allowed, excluded, expected = _VALUES.get(kind, ((object,), (), ""))
        if not isinstance(value, allowed) or isinstance(value, excluded):
            raise TypeError(self._worded(f"Expected {expected} for argument '{key}' not {value!r}",
                                         f"give {key}=<{expected}>"))
        try:
            if kind is str and isinstance(value, bytes):
                return value.decode()
            if own == "shape" and value is not None:
                return as_shape(value)
        except (TypeError, ValueError) as e:
            raise (TypeError if isinstance(e, TypeError) else ValueError)(
                self._worded(f"argument '{key}' cannot be {value!r}: {e}", f"give another {key}")) from e
        return tuple(value) if isinstance(value, list) else value

    def _check_handle(self, given: dict[str, Any]) -> None:
        """Raises if the op takes the value of a variable for one of another dtype."""
        first = next(iter(self._opdef.inputs), None)
        if first is None or first.dtype is not resource or "dtype" not in self._opdef.attrs:
            return
        handle = given[first.name]
        variable = getattr(handle, "_variable", None)
        maker: Any = getattr(handle, "op", None) if hasattr(handle, "graph") else None
        kept = variable.dtype if variable is not None else None if maker is None else maker.attrs.get("dtype")
        value = next((given[a.name] for a in self._opdef.inputs if a.type_attr == "dtype"), None)
        wanted = given.get("dtype") or getattr(value, "dtype", None)
        if kept is None or wanted is None or as_dtype(wanted) is kept:
            return
        what = "read" if value is None else "assign to"
        text = self._worded(f"Trying to {what} variable with wrong dtype. Expected {kept.name} got "
                            f"{as_dtype(wanted).name}", f"tf.cast to tf.{kept.name}")
        raise InvalidArgumentError(None, None, text) if current_graph() is None else ValueError(text)

    def _check_unused(self, key: str, value: Any) -> None:
        only = _DEFAULT_ONLY.get(self._opdef.name, {})
        if key in only and value != only[key]:
            raise UnimplementedError(None, None, self._worded(
                f"{self._opdef.name} with {key}={value!r} is not here", f"leave {key} at {only[key]!r}"))

    def _worded(self, problem: str, fix: str) -> str:
        return describe(self._opdef.name, "", problem, "", str(user_source(2) or ""), fix)

    def __repr__(self) -> str:
        return f"<raw op {self.__name__}{self.__signature__}>"


@functools.cache
def _result_type(opdef: OpDef) -> Any:
    return collections.namedtuple(opdef.name, [a.name for a in opdef.outputs])


def _documentation(opdef: OpDef) -> str:
    gradient = "none was declared" if opdef.gradient is None else (
        "none" if opdef.gradient is NOT_DIFFERENTIABLE else "yes")
    return f"{opdef.__doc__ or opdef.name}\n\nSignature: {opdef.signature}\nGradient: {gradient}."


def _nearest(name: str, known: Any) -> str:
    """Returns what to write instead of an unknown name."""
    known = list(known)
    same = [k for k in known if k.lower() == name.lower().replace("_", "")]
    near = same or difflib.get_close_matches(name, known, 1, 0.4)
    return f"did you mean {near[0]!r}?" if near else f"there are {known}"


_made: dict[str, RawOp] = {}


def raw_op(name: str) -> RawOp:
    """Makes the function of an op type.

    Raises: AttributeError naming the nearest one, if there is none.
    """
    opdef = registry.get(name)
    if opdef is None:
        if name.startswith("__"):
            raise AttributeError(f"module 'raw_ops' has no attribute {name!r}")
        raise AttributeError(f"module 'raw_ops' has no attribute {name!r}: no op type of that name is registered. "
                             f"Fix: {_nearest(name, registry)}")
    found = _made.get(name)
    if found is None or found._opdef is not opdef:  # a program may define its own op anew
        found = _made[name] = RawOp(opdef)
    return found
