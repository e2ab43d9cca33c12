"""Ops that put elements elsewhere: transpose, reverse, roll."""

from __future__ import annotations

import numpy as np

from ..errors import Complaint
from ..ir.dtypes import INDEX
from ..ir.opdef import NOT_DIFFERENTIABLE, op, raw
from ..ir.shape import with_rank
from .known import host_array


@op("Transpose", "x: T, perm: Tperm -> y: T", Tperm=INDEX, host=("perm",))
def transpose_op(xp, x, perm):
    """The input with its axes in another order."""
    return xp.transpose(x, _axes(tuple(perm.tolist()), len(x.shape)))


def _axes(perm, rank):
    """The permutation with its axes counted from the front; a Complaint if it is none."""
    if len(perm) != rank:
        raise Complaint(f"perm has {len(perm)} elements for a tensor of rank {rank}", "name every axis once")
    axes = tuple([p + rank if p < 0 else p for p in perm])
    if sorted(axes) != list(range(rank)):
        raise Complaint(f"perm {list(perm)} is not a permutation of the {rank} axes", "name every axis once")
    return axes


@transpose_op.shape
def _transpose_shape(x, perm):
    if perm is None:
        return None if x is None else (None,) * len(x)
    shape = with_rank(x, len(perm), "x")
    if None in perm:
        return (None,) * len(perm)
    return tuple([shape[p] for p in _axes(perm, len(perm))])


def _inverse(perm):
    known = host_array(perm)
    if known is None:
        return raw.InvertPermutation(raw.FloorMod(perm, raw.Size(perm, out_type=perm.dtype)))
    return np.argsort(known % max(len(known), 1)).astype(known.dtype)


@transpose_op.grad
def _transpose_grad(op, dy):
    return raw.Transpose(dy, _inverse(op.inputs[1])), None


@op("ConjugateTranspose", "x: T, perm: Tperm -> y: T", Tperm=INDEX, host=("perm",), shape=_transpose_shape)
def conjugate_transpose_op(xp, x, perm):
    """The complex conjugate with its axes in another order."""
    return xp.transpose(xp.conj(x), _axes(tuple(perm.tolist()), len(x.shape)))


@conjugate_transpose_op.grad
def _conjugate_transpose_grad(op, dy):
    return raw.ConjugateTranspose(dy, _inverse(op.inputs[1])), None


@op("InvertPermutation", "x: T -> y: T", T=INDEX)
def invert_permutation_op(xp, x):
    """The permutation that undoes `x`: y[x[i]] = i."""
    return xp.argsort(x).astype(x.dtype)


@invert_permutation_op.on_host
def _invert_permutation_host(xp, x):
    if sorted(x.tolist()) != list(range(len(x))):
        raise Complaint(f"{x.tolist()} is not a permutation of 0 .. {len(x) - 1}", "name every index once")
    return np.argsort(x).astype(x.dtype)


@invert_permutation_op.shape
def _invert_permutation_shape(x):
    return with_rank(x, 1, "x")


invert_permutation_op.grad(NOT_DIFFERENTIABLE)
