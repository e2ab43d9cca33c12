"""Names of the operations that lists of tensors and numbers become; values of TensorFlow 2.21."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf


def _number() -> Any:
    return tf.placeholder(tf.int32, [], name="p")


def _real() -> Any:
    return tf.placeholder(tf.float32, [], name="y")


def _vector() -> Any:
    return tf.placeholder(tf.float32, [None], name="x")


PROGRAMS: list[tuple[Callable[[], Any], str]] = [
    (lambda: tf.reshape(_vector(), [_number(), 2]), "x p Reshape/shape/1 Reshape/shape Reshape"),
    (lambda: tf.reshape(_vector(), [2, _number(), np.int32(3)]),
     "x p Reshape/shape/0 Reshape/shape/2 Reshape/shape Reshape"),
    (lambda: tf.convert_to_tensor([_number(), _number()]), "p p_1 packed"),
    (lambda: tf.convert_to_tensor([_number(), 5], name="hello"), "p hello/1 hello"),
    (lambda: tf.convert_to_tensor([[_number(), 1], [2, 3]]), "p packed/0/1 packed/0 packed/1_1 packed"),
    (lambda: tf.convert_to_tensor([[_number(), 1], [2, _number()]], name="n"), "p p_1 n/0/1 n/0 n/1/0 n/1 n"),
    (lambda: tf.fill([_number(), 2], 1.0), "p Fill/dims/1 Fill/dims Fill/value Fill"),
    (lambda: tf.tile(tf.placeholder(tf.float32, [None, 3], name="x"), [_number(), 2]),
     "x p Tile/multiples/1 Tile/multiples Tile"),
    (lambda: tf.slice(tf.placeholder(tf.float32, [None, 3], name="x"), [_number(), 0], [1, 2]),
     "x p Slice/begin/1 Slice/begin Slice/size Slice"),
    (lambda: tf.add(tf.placeholder(tf.int32, [2], name="x"), [_number(), 2]), "x p Add/y/1 Add/y Add"),
    (lambda: tf.placeholder(tf.int32, [2], name="x") + [_number(), 2], "x p add/y/1 add/y add"),
    (lambda: tf.zeros([_number(), 2]), "p zeros/packed/1 zeros/packed zeros/Const zeros"),
    (lambda: tf.ones([_number(), 2]), "p ones/packed/1 ones/packed ones/Const ones"),
    (lambda: tf.random_normal([_number(), 2], seed=1),
     "p random_normal/shape/1 random_normal/shape random_normal/mean random_normal/stddev "
     "random_normal/RandomStandardNormal random_normal/mul random_normal"),
    (lambda: tf.transpose(tf.placeholder(tf.float32, [2, 3], name="x"), [_number(), _number()]),
     "x p p_1 transpose/perm transpose"),
    (lambda: tf.concat([tf.placeholder(tf.float32, [2], name="x"), [_real(), 1.0]], 0),
     "x y concat/values_1/1 concat/values_1 concat/axis concat"),
    (lambda: tf.stack([_number(), 2]), "p stack/1 stack"),
    (lambda: tf.stack([[_number(), 2], [3, 4]]), "p stack/0/1 stack/0 stack/1_1 stack"),
    (lambda: tf.pad(tf.placeholder(tf.float32, [2, 3], name="x"), [[_number(), 1], [0, 0]]),
     "x p Pad/paddings/0/1 Pad/paddings/0 Pad/paddings/1_1 Pad/paddings Pad"),
    (lambda: tf.convert_to_tensor([tf.constant(1), tf.constant(2)]), "Const Const_1 packed"),
    (lambda: tf.where([tf.placeholder(tf.bool, [], name="b"), True], [1.0, 2.0], [3.0, 4.0]),
     "b Select/condition/1 Select/condition Select/t Select/e Select"),
    (lambda: tf.broadcast_to(tf.placeholder(tf.float32, [3], name="x"), [_number(), 3]),
     "x p BroadcastTo/shape/1 BroadcastTo/shape BroadcastTo"),
    (lambda: tf.gather(tf.placeholder(tf.float32, [4, 3], name="x"), [_number(), 1]),
     "x p GatherV2/indices/1 GatherV2/indices GatherV2/axis GatherV2"),
    (lambda: tf.matmul([[_real()]], [[2.0]]), "y MatMul/a/0 MatMul/a MatMul/b MatMul"),
    (lambda: tf.convert_to_tensor([tf.placeholder(tf.float32, [2], name="y"), [1.0, 2.0]]), "y packed/1_1 packed"),
    (lambda: tf.convert_to_tensor([tf.placeholder(tf.float32, [2], name="y"), np.ones(2, np.float32)]),
     "y packed/1 packed"),
    (lambda: tf.convert_to_tensor([tf.placeholder(tf.float64, [], name="y"), 1], dtype=tf.float64),
     "y packed/1 packed"),
    (lambda: tf.convert_to_tensor([_real(), np.float64(1)]), "y packed/1 packed"),
    (lambda: tf.identity([_number(), 3], name="i"), "p i/input/1 i/input i"),
    (lambda: tf.split(tf.placeholder(tf.float32, [4], name="x"), [_number(), 2]),
     "x p packed/1 packed split/split_dim split"),
    (lambda: tf.random_uniform([_number()], seed=1), "p random_uniform/shape random_uniform/RandomUniform"),
    (lambda: tf.image.resize_bilinear(tf.placeholder(tf.float32, [1, 4, 4, 1], name="x"), [_number(), 2]),
     "x p ResizeBilinear/size/1 ResizeBilinear/size ResizeBilinear"),
    (lambda: tf.zeros_like(_vector()), "x zeros_like"),
    (lambda: tf.ones_like(_vector()), "x ones_like/Shape ones_like/Const ones_like"),
    (lambda: tf.zeros_like(_vector(), name="hi"), "x hi"),
    (lambda: tf.zeros(tf.shape(_vector())), "x Shape zeros/Const zeros"),
    (lambda: tf.zeros(tf.shape(_vector())[0]),
     "x Shape strided_slice/stack strided_slice/stack_1 strided_slice/stack_2 strided_slice "
     "zeros/Reshape/shape zeros/Reshape zeros/Const zeros"),
    (lambda: tf.zeros([2000]), "zeros/shape_as_tensor zeros/Const zeros"),
    (lambda: tf.ones([2000], name="o"), "o/shape_as_tensor o/Const o"),
    (lambda: tf.zeros_like(_vector(), dtype=tf.int32), "x zeros_like/Shape zeros_like/Const zeros_like"),
    (lambda: (tf.zeros(tf.shape(_vector())), tf.zeros(tf.shape(_vector()))),
     "x Shape zeros/Const zeros x_1 Shape_1 zeros_1/Const zeros_1"),
    (lambda: tf.stack([_vector(), _vector()]), "x x_1 stack"),
    (lambda: tf.stack([_number(), 2], axis=0, name="q"), "p q/1 q"),
    (lambda: tf.stack([_number(), 2], axis=-1), "p stack/values_1 stack"),
    (lambda: tf.stack([_vector(), [1.0, 2.0]]), "x stack/1_1 stack"),
    (lambda: tf.matmul(tf.placeholder(tf.float32, [2, 2], name="x"), np.ones((2, 2), np.float32)),
     "x MatMul/b MatMul"),
    (lambda: tf.matmul(np.ones((2, 2), np.float32), tf.placeholder(tf.float32, [2, 2], name="x"), name="m"),
     "x m/a m"),
    (lambda: tf.matmul(np.ones((2, 2), np.float32), np.ones((2, 2), np.float32)), "MatMul/a MatMul/b MatMul"),
    (lambda: tf.matmul(tf.placeholder(tf.float32, [2, 2, 2], name="x"), np.ones((2, 2), np.float32)),
     "x MatMul/b MatMul"),
    (lambda: tf.fill(tf.shape(_vector()), 2.0), "x Shape Fill/value Fill"),
]


@pytest.mark.parametrize(("program", "names"), PROGRAMS)
def test_names(program: Callable[[], Any], names: str) -> None:
    with tf.Graph().as_default() as graph:
        program()
    assert [op.name for op in graph.get_operations()] == names.split()


def test_within_scopes() -> None:
    with tf.Graph().as_default() as graph:
        with tf.name_scope("s"):
            for _ in range(2):
                tf.reshape(_vector(), [_number(), 2])
        tf.placeholder(tf.float32, name="shape")
    assert [op.name for op in graph.get_operations()] == [
        "s/x", "s/p", "s/Reshape/shape/1", "s/Reshape/shape", "s/Reshape", "s/x_1", "s/p_1", "s/Reshape_1/shape/1",
        "s/Reshape_1/shape", "s/Reshape_1", "shape"]


def test_what_does_not_fit_says_so() -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match="(?i)shape"):
        tf.stack([_number(), [1, 2]])
