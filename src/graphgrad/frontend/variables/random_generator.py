"""`tf.random.Generator`: random numbers whose state is a variable."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from graphgrad.frontend.graph.init_scope import init_scope
from graphgrad.frontend.tracking.trackable import AutoTrackable
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import DType, as_dtype, float32, int32, int64, uint64
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import Tensor
from graphgrad.ops.random.random import scaled, shape_tensor
from graphgrad.ops.random.stateless import algorithm

from .variable import Variable

_THREEFRY = 2


class Algorithm(enum.Enum):
    """Algorithms that generate random bits.

    PHILOX: Philox4x32-10. THREEFRY: ThreeFry2x32-20. AUTO_SELECT: Philox.
    """

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


def _state_size(alg: int) -> int:
    return 2 if alg == _THREEFRY else 3


def _signed(n: Any) -> Any:
    """Converts integers of 64 bits, also in nested lists, to int64."""
    if isinstance(n, (list, tuple)):
        return [_signed(m) for m in n]
    return n - 2**64 if isinstance(n, int) and n >= 2**63 else n


def _words(value: Any) -> Any:
    value = convert_to_tensor(np.asarray(_signed(value), np.int64) if isinstance(value, (int, list, tuple)) else value)
    return value if value.dtype is int64 else raw.Cast(value, DstT=int64)


def create_rng_state(seed: Any, alg: Any) -> Tensor:
    """Makes the state of a generator from a seed.

    Args:
      seed: an integer of any size, or a vector of integers.
      alg: "philox", "threefry", "auto_select", a `tf.random.Algorithm` or its number.
    Returns: int64, (3,) or, for ThreeFry, (2,): the counter and the key. A shorter vector is filled up in front.
    Raises: ValueError for another algorithm.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.random.create_rng_state`.

    >>> sess.run(tf.random.create_rng_state(1234, "philox"))
    array([1234,    0,    0])
    """
    size = _state_size(algorithm(alg))
    if isinstance(seed, int):
        return convert_to_tensor(np.asarray([_signed(seed >> 64 * i & (2**64 - 1)) for i in range(size)], np.int64))
    words = raw.Reshape(_words(seed), [-1])[:size]
    have = words.shape[0]
    if have is None:
        lacking = raw.Maximum(raw.Sub(size, raw.Size(words)), 0)
        words = raw.ConcatV2([raw.Fill(raw.Reshape(lacking, [1]), np.int64(0)), words], 0)
        words.set_shape([size])
        return words
    return raw.ConcatV2([np.zeros(size - int(have), np.int64), words], 0) if have < size else words


class Generator(AutoTrackable):
    """A source of random numbers, which depend only on its state, a variable.

    With the same state it gives TensorFlow's numbers; with ThreeFry those that TensorFlow has on XLA.

    Args:
      copy_from: a generator to begin like.
      state: the state to begin with, int64, (3,) or, for ThreeFry, (2,); or a variable of it, which is then used.
      alg: "philox", "threefry", "auto_select" (Philox), a `tf.random.Algorithm` or its number.
    Raises: ValueError for another algorithm, or a state of another size.
    Reference: TensorFlow 2.21 `tf.random.Generator`.

    >>> g = tf.random.Generator.from_seed(1)
    >>> sess.run(g.state.initializer)
    >>> print(sess.run(g.normal([2])).round(4))
    [ 0.4384 -0.5344]
    """

    def __init__(self, copy_from: Any = None, state: Any = None, alg: Any = None):
        if copy_from is not None:
            if alg is not None or state is not None:
                raise AssertionError("A copy has the state and the algorithm of the generator that it is made of. "
                                     "Fix: give copy_from alone, or state and alg")
            state = raw.Identity(copy_from.state) if not isinstance(copy_from.state, Variable) else \
                copy_from.state.read_value()
            alg = copy_from.algorithm
        if alg is None or state is None:
            raise AssertionError("A generator needs a state and an algorithm. "
                                 "Fix: give both, or copy_from; or use tf.random.Generator.from_seed(seed)")
        self._alg = algorithm(alg)
        if isinstance(state, Variable):
            self._check(state.shape)
            self._state_var = state
            return
        state = _words(state)
        self._check(state.shape)
        with name_scope("random_generator"):
            self._state_var = Variable(state, dtype=int64, trainable=False, name="StateVar")

    def _check(self, shape: Any, less: int = 0) -> None:
        size = _state_size(self._alg) - less
        if not shape.is_compatible_with([size]):
            raise ValueError(f"Shapes {shape} and [{size}] are incompatible.\n"
                             "  Fix: make the state with tf.random.create_rng_state")

    @classmethod
    def from_state(cls, state: Any, alg: Any) -> Generator:
        """Makes a generator with this state, (3,) or, for ThreeFry, (2,) integers."""
        return cls(alg=alg, state=state)

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> Generator:
        """Makes a generator from a seed, an integer or a vector of them; Philox by default."""
        alg = algorithm(Algorithm.PHILOX if alg is None else alg)
        return cls(state=create_rng_state(seed, alg), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """Makes a generator with a random state; Philox by default."""
        alg = algorithm(Algorithm.PHILOX if alg is None else alg)
        return cls(state=raw.NonDeterministicInts(np.asarray([_state_size(alg)], np.int32), dtype=int64), alg=alg)

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: Any) -> Generator:
        """Makes a generator with this key, a scalar, and counter, (2,) or, for ThreeFry, (1,)."""
        made = cls.__new__(cls)
        made._alg = algorithm(alg)
        Generator.__init__(made, state=made._joined(key, counter), alg=alg)
        return made

    def _joined(self, key: Any, counter: Any) -> Any:
        key, counter = _words(key), _words(counter)
        self._check(counter.shape, less=1)
        return raw.ConcatV2([counter, raw.Reshape(key, [1])], 0)

    def reset(self, state: Any) -> None:
        """Sets the state."""
        state = _words(state)
        self._check(state.shape)
        self._state_var.assign(state)

    def reset_from_seed(self, seed: Any) -> None:
        """Sets the state from a seed."""
        self._state_var.assign(create_rng_state(seed, self._alg))

    def reset_from_key_counter(self, key: Any, counter: Any) -> None:
        """Sets key and counter."""
        self._state_var.assign(self._joined(key, counter))

    @property
    def state(self) -> Any:
        """The variable that holds the state."""
        return self._state_var

    @property
    def algorithm(self) -> Any:
        """The number of the algorithm."""
        return self._alg

    @property
    def key(self) -> Any:
        """The key, a scalar int64."""
        return self._state_var[-1]

    def skip(self, delta: Any) -> Any:
        """Advances the state, as for `delta` numbers; returns the state before, padded to 3 integers."""
        delta = convert_to_tensor(delta, name="delta")
        return raw.RngReadAndSkip(self._state_var.handle, np.int32(self._alg), raw.Cast(delta, DstT=uint64))

    def _draw(self, op_type: str, shape: Any, *rest: Any, **attrs: Any) -> Any:
        before = raw.Bitcast(self.skip(raw.Prod(shape, [0])), type=uint64)
        at = _state_size(self._alg) - 1
        counter, key = before[:at], before[at : at + 1]
        return getattr(raw, f"{op_type}V2")(shape, key, counter, np.int32(self._alg), *rest, **attrs)

    def _scaled(self, op_type: str, default: str, shape: Any, mean: Any, stddev: Any, dtype: Any, name: Any) -> Any:
        def draw(shape: Any, dtype: DType) -> Any:
            return self._draw(op_type, shape, dtype=dtype)

        return scaled(name, default, shape, mean, stddev, dtype, draw)

    def normal(self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32, name: Any = None) -> Any:
        """Draws from a normal distribution; with gradients for mean and stddev."""
        return self._scaled("StatelessRandomNormal", "stateful_normal", shape, mean, stddev, dtype, name)

    def truncated_normal(self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32,
                         name: Any = None) -> Any:
        """Draws from a normal distribution, values beyond two standard deviations again."""
        return self._scaled("StatelessTruncatedNormal", "truncated_normal", shape, mean, stddev, dtype, name)

    def uniform(self, shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = float32, name: Any = None) -> Any:
        """Draws from a uniform distribution over [minval, maxval).

        Args:
          shape: the shape of the result.
          minval, maxval: the ends of the range; None for both draws from all integers of the type.
          dtype: a floating type, int32 or int64; without a range also uint32 and uint64.
          name: a name for the operation.
        Raises: ValueError for an integer type with one end.
        """
        dtype = as_dtype(dtype)
        if dtype.is_integer and (minval is None) != (maxval is None):
            raise ValueError(f"For integer dtype {dtype!r}, minval and maxval must be both `None` or both "
                             f"non-`None`; got minval={minval} and maxval={maxval}.\n"
                             "  Fix: give maxval, which has no default for integers")
        with name_scope(name, "stateful_uniform") as scope:
            shape = shape_tensor(shape)
            if dtype.is_integer and minval is None:
                return self._draw("StatelessRandomUniformFullInt", shape, dtype=dtype, name=scope)
            low = convert_to_tensor(minval, dtype, name="min")
            high = convert_to_tensor(1 if maxval is None else maxval, dtype, name="max")
            if dtype.is_integer:
                return self._draw("StatelessRandomUniformInt", shape, low, high, name=scope)
            drawn = self._draw("StatelessRandomUniform", shape, dtype=dtype)
            return raw.AddV2(raw.Mul(drawn, raw.Sub(high, low)), low, name=scope)

    def uniform_full_int(self, shape: Any, dtype: Any = uint64, name: Any = None) -> Any:
        """Draws integers from the full range of the type: int32, int64, uint32 or uint64."""
        with name_scope(name, "stateful_uniform_full_int") as scope:
            return self._draw("StatelessRandomUniformFullInt", shape_tensor(shape), dtype=as_dtype(dtype), name=scope)

    def binomial(self, shape: Any, counts: Any, probs: Any, dtype: Any = int32, name: Any = None) -> Any:
        """Draws numbers of successes in `counts` trials of probability `probs`; `shape` is that of the whole result."""
        with name_scope(name, "binomial") as scope:
            counts, probs = convert_to_tensor(counts, name="counts"), convert_to_tensor(probs, name="probs")
            return raw.StatefulRandomBinomial(self._state_var.handle, np.int64(self._alg), shape_tensor(shape), counts,
                                              probs, dtype=as_dtype(dtype), name=scope)

    def make_seeds(self, count: Any = 1) -> Any:
        """Draws seeds for stateless operations, the columns of an int64 (2, count)."""
        keys = self.uniform_full_int([count], int64)
        return raw.Pack([keys, raw.ZerosLike(keys)])

    def split(self, count: int = 1) -> list[Any]:
        """Returns a list of `count` generators, whose states this one draws."""
        keys = raw.Unpack(self.uniform_full_int([count], int64), num=count)
        zeros = np.zeros(_state_size(self._alg) - 1, np.int64)
        return [Generator(state=raw.ConcatV2([zeros, raw.Reshape(k, [1])], 0), alg=self._alg) for k in keys]


_global: list[Any] = []


def get_global_generator() -> Generator:
    """Returns the program's global generator, created on first use with a random state.

    Returns: a `Generator`.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.random.get_global_generator`.

    >>> tf.random.get_global_generator().algorithm
    1
    """
    if not _global:
        with init_scope():
            _global.append(Generator.from_non_deterministic_state())
    return _global[0]


def set_global_generator(generator: Any) -> None:
    """Replaces the program's global generator.

    Args:
      generator: a `Generator`.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.random.set_global_generator`.

    >>> tf.random.set_global_generator(tf.random.Generator.from_seed(1))
    """
    _global[:] = [generator]
