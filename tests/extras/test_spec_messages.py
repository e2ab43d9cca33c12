"""Specs as messages and by name: the bytes that TensorFlow 2.21 writes, read back; extension types with a name."""

from __future__ import annotations

import json
from typing import Any

import pytest

import graphgrad as tf
from graphgrad.compat.internal.framework import type_spec_registry
from graphgrad.compat.internal.saved_model.structure_coder import NotEncodableError, decode_proto, encode_structure
from graphgrad.extras.data.dataset_specs import IteratorSpec
from graphgrad.extras.ragged.row_partition_value import RowPartitionSpec
from graphgrad.ir import context


class Measured(tf.experimental.ExtensionType):  # type: ignore[misc]  # the base has no type
    """A type with a name in files."""

    __name__ = "project.M"
    values: tf.Tensor
    n: int


class Nameless(tf.experimental.ExtensionType):  # type: ignore[misc]  # the base is untyped
    """A type without one."""

    values: tf.Tensor


_SCALAR = tf.TensorSpec([])
_RAGGED = ("92023f08031227a203240a14fa011112020802120b08ffffffffffffffffff010a038002030a0260020a038002091a105261676765"
           "6454656e736f72537065632002")
_BYTES = [
    (tf.TensorSpec([1], tf.int32, "x"), "8a020b0a01781204120208011803"),
    (tf.RaggedTensorSpec([2, None], tf.int32), _RAGGED),
    (tf.SparseTensorSpec([2], tf.int32),
     "92022908011211a2030e0a07fa0104120208020a038002031a1053706172736554656e736f72537065632003"),
    (tf.OptionalSpec(_SCALAR), "9202200807120ca203090a078a0204120018011a0c4f7074696f6e616c537065632001"),
    (tf.OptionalSpec((_SCALAR, tf.RaggedTensorSpec([2, None], tf.int32))),
     f"92026908071255a203520a50a2034d0a078a0204120018010a42{_RAGGED}1a0c4f7074696f6e616c537065632001"),
    (tf.data.DatasetSpec(_SCALAR),
     "92022408051211a2030e0a078a0204120018010a03fa01001a0b44617461736574537065632001"),
    (tf.IndexedSlicesSpec([2]), "9202450802122ca203290a07fa0104120208020a038002010a038002090a020a000a10fa010d120b08fff"
                                "fffffffffffffff011a11496e6465786564536c69636573537065632002"),
    (tf.TensorArraySpec([2]),
     "92023008041219a203160a07fa0104120208020a038002010a0270000a0270011a0f54656e736f724172726179537065632001"),
    (Measured.Spec(_SCALAR, 3), "92023f080d1229a203260a16a203130a086a0676616c7565730a078a0204120018010a0ca203090a036a01"
                                "6e0a0260061a0e70726f6a6563742e4d2e537065632001"),
    (RowPartitionSpec(3, 5), "920244080a122ca203290a07fa0104120208030a07fa0104120208050a10fa010d120b08fffffffffffffffff"
                             "f010a038002091a10526f77506172746974696f6e537065632001"),
    (IteratorSpec(_SCALAR), "9202200806120ca203090a078a0204120018011a0c4974657261746f72537065632001"),
]


@pytest.mark.parametrize(("spec", "written"), _BYTES, ids=[type(s).__name__ for s, _ in _BYTES])
def test_bytes(spec: Any, written: str) -> None:
    """A spec is written as TensorFlow writes it, and read back."""
    message = encode_structure(spec)
    assert message.SerializeToString().hex() == written
    assert decode_proto(message) == spec and type(spec)._deserialize(spec._serialize()) == spec


def test_names_of_extension_types() -> None:
    """The attribute `__name__` registers the spec; through JSON, it is made again from its name and fields."""
    with context.use(context.EAGER):
        spec = Measured([1.0, 2.0], 3)._type_spec
        name = type_spec_registry.get_name(type(spec))
        assert (name, Measured.__name__, type(spec).__name__) == ("project.M.Spec", "Measured", "Measured.Spec")
        assert spec._serialize() == (("values", tf.TensorSpec([2], tf.float32)), ("n", 3))
        (_, tensor), (_, number) = spec._serialize()
        shape, dtype, _ = tensor._serialize()
        text = json.dumps([name, shape.as_list(), dtype.name, number])
        name, shape, dtype, number = json.loads(text)
        again = type_spec_registry.lookup(name)._deserialize(
            (("values", tf.TensorSpec(shape, dtype)), ("n", number)))
        assert again == spec
        values = tf.nest.pack_sequence_as(again, [tf.constant([3.0, 4.0])], expand_composites=True)
        assert isinstance(values, Measured) and values.values.numpy().tolist() == [3.0, 4.0] and values.n == 3


def test_what_cannot_be_named() -> None:
    """A type without a name, one whose name is taken, and a name that is none."""
    with pytest.raises(ValueError, match="has not been registered"):
        type_spec_registry.get_name(Nameless.Spec)
    with pytest.raises(NotEncodableError, match="(?s)No encoder for object.*has not been registered.*Fix: for an ext"):
        encode_structure(Nameless.Spec(_SCALAR))
    for name, text in [("project.M", "has already been registered"), ("no name", "must have the form")]:
        with pytest.raises(ValueError, match=text):
            type("Other", (tf.experimental.ExtensionType,), {"__name__": name, "__annotations__": {"n": int}})


def test_saved_functions_of_extension_types(tmp_path: Any) -> None:
    """A function of such a type is saved with its signature, and called after loading."""
    with context.use(context.EAGER):
        module = tf.Module()
        module.double = tf.function(lambda m: Measured(m.values * float(m.n), m.n),
                                    input_signature=[Measured.Spec(tf.TensorSpec([None]), 3)])
        tf.saved_model.save(module, str(tmp_path))
        found = tf.saved_model.load(str(tmp_path)).double(Measured([1.0, 2.0], 3))
        assert isinstance(found, Measured) and found.values.numpy().tolist() == [3.0, 6.0]
