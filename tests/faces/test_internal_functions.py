"""Functions of TensorFlow's inside that libraries call: they compute what TensorFlow's do."""

from __future__ import annotations

import numpy as np
import pytest

import graphgrad as tf
from graphgrad.compat import importing
from graphgrad.compat.internal.framework import ops, tensors
from graphgrad.compat.internal.framework.pywrap_tensorflow import TF_TryEvaluateConstant_wrapper
from graphgrad.compat.internal.layers import utils
from graphgrad.compat.internal.ops.convolution import PreparedConvolution
from graphgrad.compat.internal.ops.linear_operators import add_operators, matrix_triangular_solve_with_broadcast
from graphgrad.compat.internal.pyct import Base
from graphgrad.compat.internal.util import tf_inspect
from graphgrad.compat.internal.util.lazy_loader import LazyLoader


def test_sums_of_operators() -> None:
    diag, tril = tf.linalg.LinearOperatorDiag([1.0, 2.0]), tf.linalg.LinearOperatorLowerTriangular([[1.0, 0], [2, 3]])
    full = tf.linalg.LinearOperatorFullMatrix([[0.0, 1.0], [1.0, 0.0]])
    (found,) = add_operators([diag, diag])
    assert isinstance(found, tf.linalg.LinearOperatorDiag)
    np.testing.assert_array_equal(found.to_dense(), [[2, 0], [0, 4]])
    (found,) = add_operators([diag, tril])
    assert isinstance(found, tf.linalg.LinearOperatorLowerTriangular)
    np.testing.assert_array_equal(found.to_dense(), [[2, 0], [2, 5]])
    np.testing.assert_array_equal(add_operators([diag, full])[0].to_dense(), [[1, 1], [1, 2]])


def test_triangular_systems_broadcast() -> None:
    x = matrix_triangular_solve_with_broadcast([[2.0, 0.0], [0.0, 4.0]], tf.ones([3, 2, 1]))
    np.testing.assert_array_equal(x[1, :, 0], [0.5, 0.25])


def test_arguments_of_convolutions() -> None:
    assert utils.normalize_tuple(2, 3, "strides") == (2, 2, 2)
    with pytest.raises(ValueError, match="tuple of 2 integers"):
        utils.normalize_tuple((1, 2, 3), 2, "strides")
    assert utils.convert_data_format("channels_first", 4) == "NCHW"
    assert utils.normalize_padding("SAME") == "same"
    assert [utils.conv_output_length(10, 3, p, 2, 2) for p in ("valid", "same", "full")] == [3, 5, 7]
    assert utils.conv_output_length(None, 3, "same", 1) is None
    made = PreparedConvolution(tf.TensorShape([1, 4, 1]), tf.TensorShape([2, 1, 1]), "VALID", (1,), (2,),
                               data_format="NWC")
    assert made(tf.ones([1, 4, 1]), tf.ones([2, 1, 1])).shape == (1, 2, 1)


def test_shapes_and_constants() -> None:
    assert tensors.constant_value_as_shape(tf.constant([2, -1])).as_list() == [2, None]
    assert tensors.constant_value_as_shape([3]).as_list() == [3]
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float32, [None, 3])
        assert tensors.constant_value_as_shape(tf.shape(x)).as_list() == [None, 3]
        assert tensors.constant_value_as_shape(tf.compat.v1.placeholder(tf.int32, [2])).as_list() == [None, None]
        assert tensors.try_evaluate_constant(tf.shape(x)) is None
        y = tf.constant(3)
        assert TF_TryEvaluateConstant_wrapper(y.graph._c_graph, y._as_tf_output()) == 3
    assert tensors.as_shape([1, None]).rank == 2


def test_many_iterations_at_once() -> None:
    np.testing.assert_array_equal(tensors.pfor(lambda i: i * i, 4), [0, 1, 4, 9])


def test_cases_of_a_library() -> None:
    chosen = tensors._case_helper(tf.cond, [(tf.constant(False), lambda: 1), (tf.constant(True), lambda: 2)],
                                  lambda: 3, False, "case")
    assert int(chosen) == 2

    def known(pred: bool, then: object, otherwise: object, name: str) -> object:
        return (then if pred else otherwise)()  # type: ignore[operator]  # functions

    assert tensors._case_helper(known, [(False, lambda: 1), (False, lambda: 2)], lambda: 3, False, "case", True) == 3


def test_signatures_of_tensorflow_1() -> None:
    assert tf_inspect.getfullargspec(tf.ones).args == ["shape", "dtype", "name", "layout"]
    assert tf_inspect.getfullargspec(tf.size).defaults == (None, None)
    importing.install(1)
    try:
        assert importing.face() == 1
        assert tf_inspect.getfullargspec(tf.ones).args == ["shape", "dtype", "name"]
        assert tf_inspect.getfullargspec(tf.size).defaults == (tf.int32, None)
        assert tf_inspect.getfullargspec(lambda shape, layout=None: shape).args == ["shape", "layout"]
    finally:
        importing.uninstall()
    assert importing.face() is None


def test_modules_are_loaded_when_they_are_used() -> None:
    names: dict[str, object] = {}
    names["brackets"] = LazyLoader("brackets", names, "json.decoder")
    assert names["brackets"].JSONDecodeError.__name__ == "JSONDecodeError"  # type: ignore[attr-defined]  # as it says
    assert type(names["brackets"]) is not LazyLoader


def test_what_is_not_here_says_so() -> None:
    class Derived(Base):
        pass

    with pytest.raises(NotImplementedError, match="Derived.*syntax trees"):
        Derived()


def test_methods_of_tensors_for_other_classes() -> None:
    class Stand:
        __bool__ = tf.Tensor.__bool__

    with pytest.raises(TypeError, match="Stand"):
        bool(Stand())
    assert list(tf.Tensor.__iter__(tf.constant([1, 2]))) == [1, 2]
    assert tf.Tensor.__bool__(tf.constant(True))
    assert "__add__" in tf.Tensor.OVERLOADABLE_OPERATORS


def test_kinds_of_tensors() -> None:
    slices = tf.IndexedSlices(tf.ones([1, 2]), tf.constant([0]))
    like = [tf.ones([2]), tf.sparse.from_dense([1.0, 0.0]), slices]
    assert all(isinstance(v, ops._TensorLike) for v in like)
    assert not isinstance(np.ones(2), ops._TensorLike)


def test_the_device_of_operations_to_come() -> None:
    asked: list[str] = []

    class Asking:
        _set_device_from_string = staticmethod(asked.append)

    graph = tf.Graph()
    graph._apply_device_functions(Asking())
    with graph.device("/cpu:0"), graph.device(lambda op: "/job:worker"):
        graph._apply_device_functions(Asking())
    assert asked == ["/job:worker/device:CPU:0"]
