"""Files from elsewhere that claim more than they hold: as much is read as is asked for, and what cannot be is said."""

from __future__ import annotations

import io
import pathlib
import struct
import zlib
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.ir.dtypes import as_dtype
from graphgrad.ir.files.crc32c import crc32c, masked
from graphgrad.ir.files.inflate import Inflated, inflated, read_up_to
from graphgrad.training.checkpoints import bundle_messages, bundle_writer, sstable
from graphgrad.training.checkpoints.object_graph import KEY, TrackableObjectGraph
from graphgrad.training.checkpoints.sstable import read_table, write_table


def test_inflating_on_demand() -> None:
    """Compressed data are read and decompressed no further than somebody asks."""
    engine, reads = zlib.compressobj(), []

    def source(size: int) -> bytes:
        reads.append(size)
        return engine.compress(bytes(1 << 22)) + engine.flush(zlib.Z_SYNC_FLUSH)

    file = Inflated(source, "ZLIB")
    assert file.read(12) == bytes(12) and file.read(0) == b"" and file.read(1 << 21) == bytes(1 << 21)
    assert len(reads) == 1


@pytest.mark.parametrize("sizes", [[1], [12, 300_000, 1], [-1], [1 << 62]])
def test_inflated(sizes: list[int]) -> None:
    """What is read in pieces is what was compressed; data that are cut off end early."""
    data = np.random.RandomState(0).bytes(400_000) + bytes(900_000)
    packed = zlib.compress(data)
    file, found = Inflated(io.BytesIO(packed).read, "ZLIB"), bytearray()
    while piece := file.read(sizes[len(found) % len(sizes)] if sizes != [1] else 7919):
        found += piece
    assert found == data and inflated(packed, "ZLIB") == data
    assert data.startswith(inflated(packed[:-9000] if len(packed) > 400_000 else packed, "ZLIB"))
    with pytest.raises(tf.errors.DataLossError, match="inflate.*Fix:"):
        inflated(b"noise", "GZIP")


def test_lengths_of_records(tmp_path: pathlib.Path) -> None:
    """A length that is whole and means nothing takes no memory."""
    assert read_up_to(io.BytesIO(b"abc"), 1 << 62) == b"abc"
    for size in (4, 1 << 40, 1 << 62, (1 << 64) - 1):
        head = struct.pack("<Q", size)
        (tmp_path / "r").write_bytes(head + struct.pack("<I", masked(crc32c(head))) + b"abc")
        with pytest.raises(tf.errors.DataLossError, match="(?s)truncated record at 0.*Fix:"):
            list(tf.python_io.tf_record_iterator(tmp_path / "r"))


def test_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys are in order, blocks do not overlap, and keys share no more than they do in tables that somebody wrote."""
    entries = [(b"k%04d" % i, b"v") for i in range(100)]
    assert list(read_table(write_table(entries), "t")) == entries
    monkeypatch.setattr(sstable, "_RESTART", 1000)
    shared = [(b"z" * 60_000 + b"%05d" % i, b"") for i in range(400)]
    for wrong, text in ((entries[::-1], "keys are not in order"), (entries + entries, "keys are not in order"),
                        (shared, "keys share too much")):
        with pytest.raises(tf.errors.DataLossError, match=f"(?s){text}.*Fix:"):
            list(read_table(write_table(wrong), "t"))


def changed(prefix: str, **fields: Any) -> None:
    """Gives the entry `v` of a checkpoint other fields."""
    path = pathlib.Path(bundle_messages.index_path(prefix))
    table = dict(read_table(path.read_bytes(), "t"))
    entry = bundle_messages.BundleEntry.FromString(table[b"v"])
    for name, value in fields.items():
        entry.ClearField(name)
        if isinstance(value, list):
            getattr(entry, name).extend(value)
        elif isinstance(value, tuple):
            entry.shape.CopyFrom(bundle_writer._shape(value))
        else:
            setattr(entry, name, value)
    path.write_bytes(write_table(sorted((table | {b"v": entry.SerializeToString()}).items())))


def whole_slice(*sizes: int) -> Any:
    """A slice that names these sizes, from the beginning."""
    return bundle_messages.TensorSliceMessage(extent=[bundle_messages.SliceExtent(start=0, length=n) for n in sizes])


@pytest.mark.parametrize("dtype", ["float32", "string"])
@pytest.mark.parametrize("fields", [
    {"shape": (1 << 40, 1 << 20)}, {"shape": (-3,)}, {"offset": -5}, {"size": -5}, {"size": 1 << 62},
    {"offset": 1 << 62}, {"dtype": 99}, {"shape": (3, 1 << 40), "slices": [whole_slice(3, 1 << 40)]},
    {"slices": [whole_slice(1)]}, {"slices": [whole_slice(1 << 62)]}, {"slices": [whole_slice(1, 1)]},
])
def test_entries(tmp_path: pathlib.Path, dtype: str, fields: Any) -> None:
    """What an entry of a checkpoint claims is compared with what there is, before anything is made of that size."""
    prefix = str(tmp_path / "model")
    value = np.array([b"a", b"bc", b""], object) if dtype == "string" else np.ones(3, np.float32)
    bundle_writer.write_bundle(prefix, [("v", as_dtype(dtype), value, None)])
    assert tf.train.load_checkpoint(prefix).get_tensor("v").tolist() == value.tolist()
    changed(prefix, **fields)
    with pytest.raises(tf.errors.DataLossError, match="Fix:"):
        tf.train.load_checkpoint(prefix).get_tensor("v")


@pytest.mark.parametrize("nodes", [0, 1, 2])
def test_object_graphs(tmp_path: pathlib.Path, nodes: int) -> None:
    """Objects that name others which are not there are no checkpoint."""
    made = TrackableObjectGraph()
    for _ in range(nodes):
        made.nodes.add().children.add(node_id=(3, -1)[nodes - 1], local_name="v")
    prefix = str(tmp_path / "objects")
    bundle_writer.write_bundle(prefix, [(KEY, as_dtype("string"), np.array(made.SerializeToString(), object), None)])
    with pytest.raises(tf.errors.DataLossError, match="(?s)objects?.*Fix:"):
        tf.train.Checkpoint(v=tf.Variable(1.0)).restore(prefix)


def test_models(tmp_path: pathlib.Path) -> None:
    """Files that hold no model are said to be none, with TensorFlow's class."""
    (tmp_path / "saved_model.pb").write_bytes(b"\x0a\x05ab")
    sess = tf.Session(graph=tf.Graph())
    with sess, pytest.raises(OSError, match="(?s)Cannot parse file.*saved_model.pb.*Fix:"):
        tf.saved_model.load(sess, ["serve"], str(tmp_path))
    with pytest.raises(OSError, match="(?s)Cannot parse file.*Fix:"):
        tf.train.import_meta_graph(tmp_path / "saved_model.pb")
