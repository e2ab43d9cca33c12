"""The annotation that says how a tensor lies on a mesh of devices: TensorFlow's `XlaSharding`, an identity.

`sharding` is XLA's message, as in TensorFlow. It knows devices by number; `_mesh` and `_spec` say the same with names
(`ir.values.mesh_layout`), and these count here.
"""

from __future__ import annotations

from graphgrad.errors import Complaint
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.values.indexed_slices import IndexedSlices
from graphgrad.ir.values.mesh_layout import MESH, SPEC, layout_of
from graphgrad.op_traits import Linear


@op("XlaSharding", "input: T -> output: T", flags=("sized",), data_movement=True, zero_preserving=True,
    linear=Linear.JOINTLY)
def sharding_op(xp, x, *, sharding="", unspecified_dims=(), _mesh="", _spec=""):
    """Returns the input, and says how it is to be split over the devices of a mesh."""
    return x


@sharding_op.on_device
def _sharding_device(xp, x, *, sharding="", unspecified_dims=(), _mesh="", _spec=""):
    if not _mesh:  # in a graph of TensorFlow's, for devices that are not here
        return x
    from jax.lax import with_sharding_constraint
    from jax.sharding import PartitionSpec

    layout = layout_of(_mesh, _spec)
    _check(layout, x.shape)
    return with_sharding_constraint(x, PartitionSpec(*layout.spec))


@sharding_op.shape
def _sharding_shape(x, _mesh, _spec):
    if _mesh:
        try:
            layout = layout_of(_mesh, _spec)
        except ValueError as e:
            raise Complaint(f"the layout cannot be read: {e}", "use tf.shard") from None
        _check(layout, x)
    return x


def _check(layout, shape):
    problem = layout.complaint(shape)
    if problem is not None:
        raise Complaint(*problem)


@sharding_op.grad
def _sharding_grad(op, dy):
    if isinstance(dy, IndexedSlices):  # rows of it: the whole of them has no layout
        return dy
    return raw.XlaSharding(dy, **{k: op.attrs[k] for k in ("sharding", "unspecified_dims", MESH, SPEC)
                                  if k in op.attrs})
