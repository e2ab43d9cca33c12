"""Rows for `ops/random/random.py`, `stateless.py`, `gamma.py`: a session's first run, in TensorFlow's own numbers."""

import numpy as np

from graphgrad.errors import InvalidArgumentError
from tests.support.table import Case, R, Row, V

SEED = {"seed": 123, "seed2": 7}
FLOATS = ["float16", "bfloat16", "float32", "float64"]
INDEX = ["int32", "int64"]
SHAPES = ([3, 7], [], [0, 2], [9])
BAD = [(Case([V([-1])], dtype="float32", **SEED), "must be >= 0"), (Case([V(3)], dtype="float32", **SEED), "vector")]
LOGITS = V(np.array([[0.1, 0.5, -1, 2], [1, -np.inf, 1, 1], [0, 0, 0, 0]], np.float32))
KEY = V(np.array([2800122550430926713], np.uint64), "uint64")
COUNTER = V(np.array([0, 5184537326013592899], np.uint64), "uint64")
ALG = V(1, "int32")
PAIR = V([3, -8])


def _drawn(op_type, rtol=None):
    cases = [Case([V(s)], dtype=t, **SEED) for t in FLOATS for s in SHAPES if t == "float32" or s == SHAPES[0]]
    cases.append(Case([V([9], "int64")], dtype="float64", **SEED))
    return Row(op_type, cases, dtypes=["int32"], order=0, bad=BAD, rtol=rtol)


def _seeded(op_type, dtypes, rtol=None):
    cases = [Case([V(s), PAIR], dtype=t) for t in dtypes for s in SHAPES if t == dtypes[-1] or s == SHAPES[0]]
    bad = [(Case([V([3]), V([1, 2, 3])], dtype=dtypes[0]), "seed must have shape"),
           (Case([V([-1]), PAIR], dtype=dtypes[0]), "must be >= 0")]
    return Row(op_type, cases, dtypes=["int32"], order=0, bad=bad, rtol=rtol)


def _keyed(op_type, dtypes, rtol=None):
    cases = [Case([V([9]), KEY, COUNTER, ALG], dtype=t) for t in dtypes[-2:]]
    return Row(op_type, cases, dtypes=["int32"], order=0, rtol=rtol)


WIDE = ["int32", "int64", "uint32", "uint64"]

ROWS = [
    _drawn("RandomUniform"),
    _drawn("RandomStandardNormal", 2e-6),
    _drawn("TruncatedNormal", 2e-6),
    Row("RandomUniformInt",
        [Case([V(s), V(lo, t), V(hi, t)], **SEED) for t in INDEX for s, lo, hi in
         (([3, 7], -5, 1000003), ([], 0, 2), ([9], 0, 2**31 - 1))],
        dtypes=["int32"], order=0,
        bad=[(Case([V([3]), V(2, "int32"), V(2, "int32")], **SEED), "minval < maxval", InvalidArgumentError),
             (Case([V([3]), V([2], "int32"), V(3, "int32")], **SEED), "minval must have rank 0")]),
    Row("RandomShuffle", [Case([s], **SEED) for s in ((13,), (5, 2), (), (1, 3), (0, 2))],
        dtypes=["float32", "int64"], order=0),
    Row("Multinomial", [Case([LOGITS, V(n)], output_dtype=t, **SEED) for n in (0, 1, 3, 70) for t in INDEX],
        order=0,
        bad=[(Case([(3,), V(2)], **SEED), "rank 2"), (Case([(3, 2), V(-1)], **SEED), "non-negative"),
             (Case([(3, 2), V([1])], **SEED), "scalar")]),
    Row("RandomGamma", [Case([V([6, 4]), V([[0.2, 1, 3], [0.9, 10, 1.5]], t)], **SEED)
                        for t in ("float16", "float32", "float64")],
        order=0, rtol=1e-6, tf_grad=False, note="the gradient holds the quantile fixed: see RandomGammaGrad"),
    Row("RandomGammaGrad", [[V([0.2, 1, 3, 30], "float64"), V([0.1, 2, 2.5, 33], "float64")],
                            [V([[0.5], [2.0]], "float32"), V([0.3, 1.0, 4.0], "float32")]],
        order=0, rtol=1e-5, tf_grad=False, note="the row below differentiates it; TensorFlow cannot"),
    Row("RandomGammaGrad", [[(4,), (4,)], [(2, 1), (3,)]], dtypes=["float64"], domain=(0.4, 5.0), tf=False,
        note="TensorFlow has no gradient for it"),
    Row("RandomPoissonV2", [Case([V([6, 4]), V([[0.2, 1, 3], [15, 10, 200]], t)], dtype=d, **SEED)
                            for t, d in (("float32", "int64"), ("float64", "float32"))],
        order=0, note="no gradient, as in TensorFlow"),
    Row("StatelessRandomGetKeyCounter", [[PAIR], [V([0, 0])]], dtypes=INDEX, order=0,
        bad=[([V([1])], "seed must have shape")]),
    _seeded("StatelessRandomUniform", FLOATS[:1] + FLOATS[2:]),
    _seeded("StatelessRandomNormal", FLOATS[:1] + FLOATS[2:], 2e-6),
    _seeded("StatelessTruncatedNormal", FLOATS[:1] + FLOATS[2:], 2e-6),
    _seeded("StatelessRandomUniformFullInt", WIDE),
    Row("StatelessRandomUniformInt", [Case([V([3, 7]), PAIR, V(-3, t), V(77, t)]) for t in INDEX], dtypes=["int32"],
        order=0, bad=[(Case([V([3]), PAIR, V(2, "int32"), V(2, "int32")]), "minval < maxval", InvalidArgumentError)]),
    _keyed("StatelessRandomUniformV2", FLOATS),
    _keyed("StatelessRandomNormalV2", FLOATS, 2e-6),
    _keyed("StatelessTruncatedNormalV2", FLOATS, 2e-6),
    _keyed("StatelessRandomUniformFullIntV2", WIDE),
    Row("StatelessRandomUniformIntV2", [Case([V([3, 7]), KEY, COUNTER, ALG, V(-3, t), V(77, t)]) for t in INDEX],
        dtypes=["int32"], order=0),
    Row("StatelessMultinomial", [Case([LOGITS, V(n), PAIR], output_dtype=t) for n in (1, 5) for t in INDEX], order=0,
        bad=[([(3,), V(2), PAIR], "rank 2")]),
    Row("StatelessRandomGammaV2", [[V([6, 2]), PAIR, V([0.5, 2.0], t)] for t in ("float32", "float64")],
        order=0, rtol=1e-6, tf_grad=False, note="the gradient holds the quantile fixed: see RandomGammaGrad"),
    Row("StatelessRandomPoisson", [Case([V([6, 2]), PAIR, V([0.5, 20.0], "float32")], dtype="int32")], order=0),
]

_MEANS, _SPREADS = R((2,), "float64"), R((), "float64", (0.5, 2.0))
_OUTER = [V([4]), PAIR, R((4,), "float64", (-1.0, 1.0)), R((4,), "float64", (0.5, 1.0)),
          R((), "float64", (3.0, 3.5)), R((), "float64", (5.0, 6.0))]

ROWS += [
    Row("StatelessRandomGammaV3", [[V([6, 2]), KEY, COUNTER, ALG, V([0.5, 2.0], t)] for t in ("float32", "float64")],
        order=0, rtol=1e-6, tf_grad=False, note="the gradient holds the quantile fixed: see RandomGammaGrad"),
    Row("StatelessParameterizedTruncatedNormal",
        [[V([3, 2]), PAIR, _MEANS, _SPREADS, R((2,), "float64", (-3.0, -2.0)), R((1,), "float64", (2.5, 4.0))], _OUTER],
        dtypes=["float64"], tf=False,
        note="TensorFlow's numbers are others; its gradients for means and stddevs take the bounds along",
        bad=[([V([3]), PAIR, R((2, 3), "float64"), V(1.0, "float64"), V(-1.0, "float64"), V(1.0, "float64")],
              "more dimensions than shape")]),
    Row("ParameterizedTruncatedNormal",
        [Case([V([3, 2]), R((3,), "float64"), R((1,), "float64", (0.5, 2.0)), R((), "float64", (-3.0, -2.0)),
               R((3,), "float64", (2.5, 4.0))], **SEED)], dtypes=["float64"], order=0, tf=False,
        note="TensorFlow's numbers are others",
        bad=[(Case([V([3, 2]), R((2,), "float64"), V(1.0), V(0.0), V(1.0)], **SEED), "means must be a scalar")]),
    Row("RandomPoisson", [Case([V([6, 4]), V([[0.2, 1, 3], [15, 10, 200]], t)], **SEED)
                          for t in ("float32", "float64")],
        order=0, tf=False, note="TensorFlow makes RandomPoissonV2 instead"),
    Row("StatelessRandomGetAlg", [[]], order=0),
    Row("StatelessRandomGetKeyCounterAlg", [[PAIR]], dtypes=INDEX, order=0,
        bad=[([V([1])], "seed must have shape")]),
    Row("StatelessRandomBinomial",
        [*[Case([V([50, 3]), PAIR, V([100.0, 40.0, 1000.0], t), V([0.5, 0.3, 0.9], t)], dtype="int32")
           for t in ("float32", "float64")],
         Case([V([3, 4]), PAIR, V([[40.0], [100.0], [50.0]], "float64"), V([0.5, 0.4, 0.6, 0.3], "float64")],
              dtype="float64"),
         Case([V([4]), PAIR, V([0.0, 3.0, 50.0, 60.0], "float32"), V([0.5, 0.0, 1.0, 0.5], "float32")],
              dtype="float32")],
        order=0),
    Row("StatelessRandomBinomial", [Case([V([4]), PAIR, V(3.0, "float32"), V(0.5, "float32")], dtype="int32"),
                                    Case([V([40]), PAIR, V(20.0, "float64"), V(0.7, "float64")], dtype="int64")],
        order=0),
    Row("SobolSample", [Case([V(5), V(6), V(0)], dtype="float32"), Case([V(40), V(20), V(3)], dtype="float64")],
        order=0, bad=[(Case([V(0), V(1), V(0)], dtype="float32"), "dim must be at least", InvalidArgumentError)]),
    Row("StatelessShuffle", [[V(np.arange(11)), KEY, COUNTER, ALG], [V(np.ones((1, 3))), KEY, COUNTER, ALG]], order=0),
    Row("RandomIndexShuffle",
        [[V([0, 1, 2, 3, 4], "int32"), V([1, 2, 3], "int32"), V(4, "int32")], [V(7), V([1, 2, -3]), V(1000)],
         Case([V([0, 1, 70000]), V([[1, 2, 3], [4, 5, 6], [7, 8, 9]]), V(100000)], rounds=6)], order=0,
        bad=[([V([5]), V([1, 2, 3]), V(4)], "must be in", InvalidArgumentError), ([V(1), V([1]), V(4)], "end in"),
             ([V([5, 1]), V([1, 2, 3]), V([9, 9, 9])], "different numbers of indices")]),
]
