"""Rows for activations, softmax, losses, normalization and lookups."""

import numpy as np

from graphgrad.errors import InvalidArgumentError
from tests.support.table import Case, R, Row, V

_SHAPES = [[(3,)], [(2, 3)], [()], [(0, 3)]]
_PAIRS = [[(3,), (3,)], [(2, 3), (2, 3)], [(), ()]]
_HALVES = ["float32", "float64", "float16", "bfloat16"]


def away_from_zero(rng, shape, dtype):
    """Values that a small step does not carry across 0."""
    x = rng.uniform(0.2, 3.0, shape) * rng.choice([-1.0, 1.0], shape)
    return x.astype(dtype.np_dtype)


def between_kinks(rng, shape, dtype):
    """Values in all three pieces of relu6, not near its kinks."""
    x = rng.choice([-2.0, 2.0, 4.0, 8.0], shape) + rng.uniform(-0.5, 0.5, shape)
    return x.astype(dtype.np_dtype)


def distributions(rng, shape, dtype):
    """Positive rows that sum to 1."""
    x = rng.uniform(0.1, 1.0, shape)
    return (x / x.sum(-1, keepdims=True)).astype(dtype.np_dtype)


def distinct(rng, shape, dtype):
    """Values in random order, at least 1 apart."""
    return rng.permutation(int(np.prod(shape))).reshape(shape).astype(dtype.np_dtype)


def _activation(name, domain=away_from_zero, dtypes=_HALVES, **attrs):
    return Row(name, _SHAPES, dtypes=dtypes, domain=domain, attrs=attrs)


def _activation_grad(name, domain=away_from_zero, dtypes=("float32", "float64"), **attrs):
    return Row(name, _PAIRS, dtypes=dtypes, domain=domain, attrs=attrs,
               bad=[([(2, 3), (3,)], "(?s)shapes .2, 3. and .3,. must be equal")])


_FREQUENT = {"num_true": 2, "num_sampled": 3, "seed": 3, "seed2": 5, "unigrams": (3.0, 1.0, 0.5, 2.0, 4.0)}
_SAMPLE = {"num_sampled": 8, "range_max": 12, "seed": 87654321, "seed2": 5}
_FEW = Case([V([[1]])], unique=True, num_true=1, range_max=3)

ROWS = [
    _activation("Relu", dtypes=[*_HALVES, "int32"]),
    _activation_grad("ReluGrad"),
    _activation("Relu6", between_kinks),
    _activation_grad("Relu6Grad", between_kinks),
    _activation("LeakyRelu", alpha=0.25),
    Row("LeakyRelu", [[(3,)]], domain=away_from_zero),
    _activation_grad("LeakyReluGrad", alpha=0.25),
    _activation("Elu"),
    _activation_grad("EluGrad"),
    _activation("Selu"),
    _activation_grad("SeluGrad"),
    _activation("Softplus", (-20.0, 20.0)),
    Row("Softplus", [[V([-1000.0, -1.0, 0.0, 1.0, 1000.0])]], order=0, note="extreme values"),
    _activation_grad("SoftplusGrad", (-5.0, 5.0)),
    _activation("Softsign"),
    _activation_grad("SoftsignGrad"),
    # -- bias
    Row("BiasAdd", [[(2, 3), (3,)], [(2, 4, 5, 3), (3,)], [(0, 3), (3,)],
                    Case([(2, 3, 4, 5), (3,)], data_format="NCHW"), Case([(2, 3, 4), (3,)], data_format="NCHW")],
        dtypes=["float32", "float64", "float16", "int32", "complex64"],
        bad=[([(2, 4), (3,)], "bias has 3 elements but value has 4 channels"),
             ([(2, 4), (1, 4)], "bias must have rank 1")]),
    Row("BiasAddGrad", [[(2, 3)], [(2, 4, 5, 3)], Case([(2, 3, 4, 5)], data_format="NCHW"),
                        Case([(2, 3, 4)], data_format="NCHW")],
        dtypes=["float32", "float64"], bad=[([(3,)], "out_backprop must have rank at least 2")]),
    Row("L2Loss", [[(3,)], [(2, 3)], [()], [(0,)]], dtypes=_HALVES),
    # -- softmax
    Row("Softmax", [[(3,)], [(2, 3)], [(2, 3, 4)], [(0, 3)]], dtypes=_HALVES,
        bad=[([()], "logits must have rank at least 1")]),
    Row("Softmax", [[V([[1000.0, 0.0], [-1000.0, 0.0]])]], order=0, note="extreme values"),
    Row("LogSoftmax", [[(3,)], [(2, 3)], [(2, 3, 4)], [(0, 3)]], dtypes=_HALVES),
    Row("LogSoftmax", [[V([[1000.0, 0.0], [-1000.0, 0.0]])]], order=0, note="extreme values"),
    Row("SoftmaxCrossEntropyWithLogits", [[(1, 1), (1, 1)]], dtypes=_HALVES, wrt=["features"], inference=False,
        domain={"features": (-2.0, 2.0), "labels": distributions},
        note="TensorFlow takes an unknown size for that of the other operand, which may be a 1 to broadcast"),
    Row("SoftmaxCrossEntropyWithLogits", [[(4, 3), (4, 3)]],
        dtypes=_HALVES, domain={"features": (-2.0, 2.0), "labels": distributions}, wrt=["features"],
        bad=[([(4, 3), (4, 2)], "dimension -1 differs"), ([(3,), (3,)], "features must have rank 2")]),
    Row("SoftmaxCrossEntropyWithLogits", [[(1, 3), (4, 3)], [(4, 3), (1, 3)]],
        domain={"features": (-2.0, 2.0), "labels": distributions}, wrt=["features"], tf_grad=False,
        note="TensorFlow's gradient keeps the broadcast shape"),
    Row("SoftmaxCrossEntropyWithLogits", [[(3, 4), (3, 4)]], dtypes=["float64"],
        domain={"features": (-2.0, 2.0), "labels": distributions}, ys=[0], order=1, wrt=["labels"],
        note="the gradient for the logits supposes that labels sum to 1, and so has another derivative for labels"),
    Row("SparseSoftmaxCrossEntropyWithLogits",
        [[(4, 3), V([0, 2, 1, 2], "int32")], [(4, 3), V([0, 2, 1, 2], "int64")], [(1, 1), V([0], "int64")]],
        dtypes=_HALVES, bad=[([(4, 3), V([0, 1, 2], "int32")], "4 rows of features but 3 labels")]),
    # -- normalization
    Row("LRN", [[(1, 2, 2, 8)], Case([(2, 1, 3, 4)], depth_radius=1, bias=2.0, alpha=0.5, beta=0.75)],
        dtypes=["float32"], bad=[([(3, 3)], "input must have rank 4")]),
    Row("LRNGrad", [Case([(1, 2, 2, 8)] * 3, depth_radius=2),
                    Case([(2, 1, 3, 4)] * 3, depth_radius=1, bias=2.0, beta=0.75)],
        dtypes=["float32"], tf=False, note="TensorFlow uses the output image, which must belong to the input"),
    Row("FusedBatchNormV3", [[(2, 3, 4, 5), R((5,), domain=(0.5, 2.0)), (5,), V(np.zeros(0)), V(np.zeros(0))],
                             Case([(2, 5, 3, 4), R((5,), domain=(0.5, 2.0)), (5,), V(np.zeros(0)), V(np.zeros(0))],
                                  data_format="NCHW"),
                             Case([(2, 3, 2, 4, 2), (2,), (2,), V(np.zeros(0)), V(np.zeros(0))], data_format="NDHWC"),
                             Case([(2, 3, 4, 5), (5,), (5,), (5,), R((5,), domain=(0.5, 2.0))], is_training=False)],
        attrs={"epsilon": 0.01}, ys=[0], wrt=["x", "scale", "offset"]),
    Row("FusedBatchNormGradV3",
        [Case([(2, 3, 4, 5), (2, 3, 4, 5), (5,), (5,), R((5,), domain=(0.5, 2.0)), V(np.zeros(0))], is_training=False)],
        attrs={"epsilon": 0.01}, ys=[0, 1, 2], wrt=["y_backprop", "x", "scale"]),
    Row("FusedBatchNormGradV3",
        [Case([(2, 3, 4, 5), (2, 3, 4, 5), (5,), (5,), R((5,), domain=(0.5, 2.0)), V(np.zeros(0))])],
        attrs={"epsilon": 0.01}, ys=[0, 1, 2], wrt=["y_backprop", "x", "scale"], order=0,
        tf_grad=False, note="mean and variance are those of x; FusedBatchNormV3's row differentiates this gradient"),
    # -- the largest elements
    Row("TopKV2", [[(5,), V(2, "int32")], [(2, 5), V(3, "int32")], [(2, 3, 4), V(4, "int32")], [(3,), V(0, "int32")]],
        dtypes=["float32", "float64", "float16", "int32"], domain=distinct,
        bad=[([(2, 3), V(4, "int32")], "last dimension >= k = 4 but is 3"), ([(), V(0, "int32")], "rank at least 1")]),
    Row("TopKV2", [Case([(2, 5), V(3, "int32")], sorted=False)], domain=distinct, tf=False,
        note="TensorFlow gives them in any order"),
    Row("TopKV2", [[V([[1.0, 3.0, 3.0, 2.0, 3.0]]), V(4, "int32")]], order=0, note="of equal elements the first"),
    Row("InTopKV2", [[R((4, 3), "float32"), V([0, 2, 1, 2]), V(1)], [R((4, 3), "float32"), V([0, 2, 7, -1]), V(2)],
                     [V([[1.0, 1.0, 0.0], [np.nan, 0.0, 1.0], [np.inf, 1.0, 2.0]], "float32"), V([1, 2, 0]), V(1)]],
        dtypes=["int32", "int64"], bad=[([R((4, 3), "float32"), V([0, 2, 1]), V(1)], "4 rows of predictions but 3 t")]),
    # -- samples of classes
    Row("LogUniformCandidateSampler",
        [Case([V([[1], [2], [5]])], unique=True, num_true=1), Case([V([[1], [2], [5]])], unique=False, num_true=1),
         Case([V([[1, 0], [2, 99]])], unique=True, num_true=2, range_max=100, seed2=7)], attrs=_SAMPLE, rtol=1e-5,
        bad=[(_FEW, "8 distinct classes out of 3", InvalidArgumentError),
             (Case([V([[1]])], unique=True, num_true=2), "must have 2 columns but has 1")]),
    Row("UniformCandidateSampler",
        [Case([V([[1], [2], [5]])], unique=True, num_true=1), Case([V([[1], [2], [5]])], unique=False, num_true=1),
         Case([V([[1, 0], [2, 15]])], unique=True, num_true=2, range_max=16, seed2=7)], attrs=_SAMPLE, rtol=1e-5,
        bad=[(_FEW, "8 distinct classes out of 3", InvalidArgumentError)]),
    Row("AllCandidateSampler", [Case([V([[1, 0], [2, 4]])], num_true=2, num_sampled=5, unique=True)]),
    Row("FixedUnigramCandidateSampler",
        [Case([V([[1, 0], [2, 3]])], **_FREQUENT, unique=False, range_max=5),
         Case([V([[1, 0], [2, 3]])], **_FREQUENT, unique=True, range_max=5, distortion=0.5),
         Case([V([[1, 0], [2, 6]])], **_FREQUENT, unique=False, range_max=7, num_reserved_ids=2),
         Case([V([[1, 0], [0, 1]])], **_FREQUENT, unique=False, range_max=2, num_shards=2, shard=1)], rtol=1e-5,
        bad=[(Case([V([[1, 0]])], **_FREQUENT, unique=False, range_max=4), "range_max=5", InvalidArgumentError),
             (Case([V([[1, 9]])], **_FREQUENT, unique=False, range_max=5), "out of range", InvalidArgumentError),
             (Case([V([[1, 0]])], **{**_FREQUENT, "unigrams": ()}, unique=False, range_max=5), "either vocab_file",
              InvalidArgumentError)]),
    Row("LearnedUnigramCandidateSampler", [Case([V([[1], [2], [4]])], unique=u, num_true=1) for u in (True, False)],
        attrs=_SAMPLE, rtol=1e-5, bad=[(_FEW, "8 distinct classes out of 3", InvalidArgumentError)]),
    Row("ComputeAccidentalHits",
        [Case([V([[1, 2], [5, 7]]), V([7, 0, 1])], num_true=2), Case([V([[1]]), V([0])], num_true=1)],
        shapes="rank", note="how many there are depends on the values",
        bad=[(Case([V([1, 2]), V([7])], num_true=2), "true_classes must have rank 2")]),
]
