"""Fingerprints of saved models: hashes of what programs can tell two models apart by, in a file of their own.

Reference: TensorFlow 2.21 fingerprint.proto, `tf.saved_model.experimental`; FarmHash's `Fingerprint64`.
"""

from __future__ import annotations

import os
import re
import uuid
from typing import Any

from graphgrad.extras.strings.hashing import farmhash64
from graphgrad.ir.dtypes import string
from graphgrad.ir.files.atomic_files import write_whole
from graphgrad.ir.graph_messages import GraphDef
from graphgrad.ir.proto.messages import DecodeError
from graphgrad.training.checkpoints.bundle_messages import index_path
from graphgrad.training.checkpoints.saved_object_messages import FingerprintDef

FILE = "fingerprint.pb"
_VERSION = 4  # that TensorFlow 2.21 writes
_BITS, _FACTOR = (1 << 64) - 1, 0xC6A4A7935BD1E995
_NUMBERED = re.compile(r"(.*_)([0-9]+)", re.DOTALL)
_CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})


class Fingerprint:
    """The fingerprint of a saved model.

    Args:
      saved_model_checksum: the hash of the whole file; models that do the same may differ in it.
      graph_def_program_hash: that of the graph without its functions.
      signature_def_hash: that of the signatures.
      saved_object_graph_hash: that of the functions' signatures and of what they are bound to.
      checkpoint_hash: that of the index of the variables' values.
      version: the version of the format.
    Reference: TensorFlow 2.21 `tf.saved_model.experimental.Fingerprint`.

    >>> Fingerprint(1, 2, 3, 4, 5).singleprint()
    '2/3/4/5'
    """

    def __init__(self, saved_model_checksum: int | None = None, graph_def_program_hash: int | None = None,
                 signature_def_hash: int | None = None, saved_object_graph_hash: int | None = None,
                 checkpoint_hash: int | None = None, version: Any = None):
        self.saved_model_checksum, self.graph_def_program_hash = saved_model_checksum, graph_def_program_hash
        self.signature_def_hash, self.saved_object_graph_hash = signature_def_hash, saved_object_graph_hash
        self.checkpoint_hash, self.version = checkpoint_hash, version

    @classmethod
    def from_proto(cls, proto: Any) -> Fingerprint:
        """Makes it from a message, or from its bytes.

        Args:
          proto: a `FingerprintDef`, or bytes.
        Raises: ValueError for anything else.
        """
        try:
            proto = FingerprintDef.FromString(proto) if isinstance(proto, bytes) else proto
            return cls(proto.saved_model_checksum, proto.graph_def_program_hash, proto.signature_def_hash,
                       proto.saved_object_graph_hash, proto.checkpoint_hash, proto.version)
        except (AttributeError, DecodeError) as e:
            raise ValueError(f"Given proto could not be deserialized as fingerprint. {e}") from None

    def _hashes(self) -> list[Any]:
        return [self.saved_model_checksum, self.graph_def_program_hash, self.signature_def_hash,
                self.saved_object_graph_hash, self.checkpoint_hash]

    def singleprint(self) -> str:
        """Returns one name for models that do the same: all hashes but that of the file.

        Raises: ValueError if one is missing.
        """
        found = self._hashes()[1:]
        if not all(isinstance(n, int) for n in found):
            raise ValueError(f"Encountered invalid fingerprint values when constructing singleprint: {self!r}. "
                             "Fix: give all of them")
        return "/".join(map(str, found))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, FingerprintDef):
            other = Fingerprint.from_proto(other)
        return isinstance(other, Fingerprint) and self._hashes() == other._hashes()

    __hash__ = None  # type: ignore[assignment]  # it can change

    def __str__(self) -> str:
        names = ("saved_model_checksum", "graph_def_program_hash", "signature_def_hash", "saved_object_graph_hash",
                 "checkpoint_hash")
        return "\n".join(["SavedModel Fingerprint", *(f"  {name}: {getattr(self, name)}" for name in names)])

    def __repr__(self) -> str:
        return f"Fingerprint({', '.join(map(str, self._hashes()))})"


def read_fingerprint(export_dir: Any) -> Fingerprint:
    """Reads the fingerprint of a saved model.

    Args:
      export_dir: the folder.
    Raises: FileNotFoundError if it has none; RuntimeError for a damaged one.
    Reference: TensorFlow 2.21 `tf.saved_model.experimental.read_fingerprint`.
    """
    path = os.path.join(os.fsdecode(export_dir), FILE)
    try:
        with open(path, "rb") as file:
            return Fingerprint.from_proto(FingerprintDef.FromString(file.read()))
    except FileNotFoundError:
        raise FileNotFoundError("SavedModel Fingerprint Error: Could not find fingerprint in directory: "
                                f"{os.fsdecode(export_dir)}. Fix: models of TensorFlow 1 have none") from None
    except DecodeError as e:
        raise RuntimeError("SavedModel Fingerprint Error: Could not read fingerprint from fingerprint.pb file in "
                           f"directory: {os.fsdecode(export_dir)}: {e}. Fix: use another copy of the file") from None


def write_fingerprint(folder: str, model: Any, content: bytes) -> None:
    """Writes the fingerprint of a model whose other files are there.

    Args:
      folder: its folder.
      model: the `SavedModel`.
      content: the message as bytes.
    """
    made = fingerprint_of(model.meta_graphs[0], content, index_path(os.path.join(folder, "variables", "variables")))
    write_whole(os.path.join(folder, FILE), made.SerializeToString())


def fingerprint_of(graph: Any, content: bytes, index: str) -> Any:
    """Makes the fingerprint of a model.

    Args:
      graph: its `MetaGraphDef`.
      content: the content of its file.
      index: the path of the index of the values.
    """
    made = FingerprintDef(saved_model_checksum=farmhash64(content), uuid=str(uuid.uuid4().int))
    made.graph_def_program_hash = farmhash64(_program(graph.graph_def))
    made.signature_def_hash = _hash_of([(name, graph.signature_def[name]) for name in sorted(graph.signature_def)])
    functions = graph.object_graph_def.concrete_functions
    in_order = sorted(functions, key=_number_of)
    made.saved_object_graph_hash = _hash_of([(_unnumbered(name), functions[name]) for name in in_order])
    if os.path.exists(index):
        with open(index, "rb") as file:
            made.checkpoint_hash = farmhash64(file.read())
    made.version.producer = _VERSION
    return made


def _hash_of(entries: list[tuple[str, Any]]) -> int:
    """Hashes names with their messages, in an order."""
    found = 0
    for name, message in entries:
        found = _joined(found, farmhash64(name.encode()))
        found = _joined(found, farmhash64(message.SerializeToString()))
    return found


def _number_of(name: str) -> tuple[int, str]:
    found = _NUMBERED.fullmatch(name)
    return int(found[2]) if found else -1, name


def _unnumbered(name: str) -> str:
    found = _NUMBERED.fullmatch(name)
    return found[1] if found else name


def _program(graph_def: Any) -> bytes:
    """Returns the bytes of a graph without functions, numbers of functions, strings and versions."""
    made = GraphDef.FromString(GraphDef(node=graph_def.node).SerializeToString())
    for node in made.node:
        if node.op in _CALLS:
            node.attr["f"].func.name = _unnumbered(node.attr["f"].func.name)
            if "config_proto" in node.attr:
                node.attr["config_proto"].s = b""
        elif node.op == "Const" and node.attr["dtype"].type == string.enum:
            node.attr["value"].ClearField("tensor")
    made.library.SetInParent()
    made.versions.SetInParent()
    return bytes(made.SerializeToString())


def _joined(first: int, second: int) -> int:
    """Joins two hashes, as FarmHash's users in TensorFlow do."""
    made = (first ^ _FACTOR ^ _mixed(second * _FACTOR & _BITS) * _FACTOR) & _BITS
    made = _mixed(made * _FACTOR & _BITS) * _FACTOR & _BITS
    return _mixed(made)


def _mixed(value: int) -> int:
    return value ^ value >> 47
