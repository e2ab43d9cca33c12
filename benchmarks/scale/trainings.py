"""The benchmarks' models, trained in one process or in several, on one device or on several."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

import graphgrad.horovod as hvd
import graphgrad.v1 as tf
from benchmarks.models import MODELS, Model
from graphgrad.executor.backend import process_group

# What each kind computes with: devices of one process, or processes.
KINDS = {"whole": "the whole batch in one process", "mesh": "a mesh along the batch",
         "replicas": "MirroredStrategy", "horovod": "Horovod's names", "workers": "MultiWorkerMirroredStrategy"}
SUMS = {"smallest graph"}  # models whose loss is a sum over the batch; that of others is a mean
# For tests: few examples, short chains, small tables.
SMALL: dict[str, dict[str, Any]] = {
    "MLP": {"n": 8}, "CNN (LeNet size)": {"n": 4}, "ResNet-20": {"n": 4}, "LSTM, 50 steps": {"n": 4},
    "transformer, 4 blocks": {"n": 4, "length": 16, "width": 32, "blocks": 2}, "physics-informed net": {"n": 60},
    "skip-gram": {"n": 32, "words": 1000}, "chain of 5,000 tanh": {"length": 200}, "fan-in of 100": {"branches": 10}}


def make(name: str, small: bool = False) -> Model:
    """Makes a model.

    Args:
      name: its name among the benchmarks'.
      small: whether it is one for tests.
    """
    kind = MODELS[name]
    return (type(kind.__name__, (kind,), SMALL.get(name, {})) if small else kind)()


def axis_of(model: Model, array: Any) -> int:
    """Returns the axis of the batch."""
    return int(array.shape.index(model.n))


def part(model: Model, count: int, number: int) -> Model:
    """Returns a model of one of equal parts of the batch.

    Args:
      model: that of the whole batch.
      count: how many parts there are.
      number: which one.
    """
    found = copy.copy(model)
    if model.data:
        found.n = model.n // count
        found.data = [np.ascontiguousarray(np.split(a, count, axis_of(model, a))[number]) for a in model.data]
        if hasattr(found, "labels"):
            found.labels = found.labels[: found.n]
    return found


class Training:
    """A training of a model.

    Args:
      name: the model's name.
      model: the model, with the whole batch.
      kind: one of `KINDS`.
      count: how many parts the batch has.
      reduced: whether the loss is that of the whole batch, also where that takes another exchange.

    Attributes:
      exchanged: the bytes that the processes exchange in a step for the gradients.
    """

    def __init__(self, name: str, model: Model, kind: str, count: int, reduced: bool = True):
        self.name, self.model, self.kind, self.count, self._reduced = name, model, kind, count, reduced
        self.exchanged = 0
        self.initial: dict[Any, Any] = {}
        devices = count if kind in ("mesh", "replicas") else 1
        with tf.Graph().as_default():
            getattr(self, f"_{kind}")()
            if kind == "mesh" and hvd.is_initialized():
                devices //= hvd.size()
            self.session = tf.Session(config=tf.ConfigProto(device_count={"CPU": devices}))
            self.session.run(tf.global_variables_initializer(), self.initial)

    def step(self) -> float:
        """Makes a step; returns the loss before it."""
        return float(self.session.run(self.fetches, self.feeds)[0])

    # -- what all kinds do -------------------------------------------------------------

    def _variables(self) -> list[Any]:
        found = []
        for i, value in enumerate(self.model.weights):
            if value.size > 1 << 20:  # too large for a constant
                placeholder = tf.placeholder(value.dtype, value.shape)
                self.initial[placeholder] = value
                found.append(tf.get_variable(f"w{i}", initializer=placeholder))
            else:
                found.append(tf.get_variable(f"w{i}", initializer=value))
        return found

    def _optimizer(self) -> Any:
        kind = tf.train.AdamOptimizer if self.model.optimizer == "adam" else tf.train.GradientDescentOptimizer
        return kind(self.model.rate)

    def _loss(self, model: Model, variables: list[Any], feeds: list[Any]) -> Any:
        return model.objective(tf, model.forward(tf, variables, *feeds), *feeds)

    def _feed(self, model: Model) -> list[Any]:
        feeds = [tf.placeholder(a.dtype, a.shape) for a in model.data]
        self.feeds = dict(zip(feeds, model.data, strict=True))
        return feeds

    # -- the kinds ---------------------------------------------------------------------

    def _whole(self) -> None:
        feeds, variables = self._feed(self.model), self._variables()
        loss = self._loss(self.model, variables, feeds)
        self.fetches = [loss, self._optimizer().minimize(loss)] if variables else [loss]

    def _mesh(self) -> None:
        feeds = self._feed(self.model)
        with tf.mesh(data=self.count):
            variables = [tf.shard(v, []) for v in self._variables()]
            given = [tf.shard(t, [None] * axis_of(self.model, a) + ["data"]) for t, a in self.feeds.items()]
            if not feeds and not variables:
                raise ValueError("nothing lies on the mesh")
        loss = self._loss(self.model, variables, given)
        self.fetches = [loss, self._optimizer().minimize(loss)] if variables else [loss]

    def _horovod(self) -> None:
        hvd.init()
        mine = part(self.model, hvd.size(), hvd.rank())
        feeds, variables = self._feed(mine), self._variables()
        loss = self._loss(mine, variables, feeds)
        how = hvd.Sum if self.name in SUMS else hvd.Average
        self.fetches = [hvd.allreduce(loss, op=how) if self._reduced or not variables else loss]
        if not variables:
            return
        optimizer = hvd.DistributedOptimizer(self._optimizer())
        pairs = optimizer.compute_gradients(loss, variables)
        for g, v in pairs:
            if isinstance(g, tf.IndexedSlices):  # those of all processes, and their numbers
                self.exchanged += hvd.size() * sum(4 * a.size for a in mine.data if a.dtype == np.int32) // len(pairs)
                row = 4 * v.shape.as_list()[1]
                self.exchanged += hvd.size() * row * sum(a.size for a in mine.data) // len(pairs)
            else:
                self.exchanged += 4 * v.shape.num_elements()
        self.fetches.append(optimizer.apply_gradients(pairs))

    def _replicas(self) -> None:
        strategy = tf.distribute.MirroredStrategy([f"/cpu:{i}" for i in range(self.count)])
        whole = self._feed(self.model)
        parts = [tf.split(t, self.count, axis_of(self.model, a)) for t, a in zip(whole, self.model.data, strict=True)]
        feeds = [strategy.experimental_distribute_values_from_function(
            lambda context, p=p: p[context.replica_id_in_sync_group]) for p in parts]
        self._strategy(strategy, part(self.model, self.count, 0), feeds)

    def _workers(self) -> None:
        strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
        rank = process_group.group().who.rank
        mine = part(self.model, self.count, rank)
        self._strategy(strategy, mine, self._feed(mine))

    def _strategy(self, strategy: Any, mine: Model, feeds: list[Any]) -> None:
        with strategy.scope():
            variables, optimizer = self._variables(), self._optimizer()

        def replica(*given: Any) -> Any:
            loss = self._loss(mine, variables, list(given))
            if not variables:
                return loss, tf.no_op()
            scale = 1.0 if self.name in SUMS else 1.0 / self.count  # TensorFlow's optimizers add gradients up
            gradients = tf.gradients(loss * scale, variables)
            return loss, optimizer.apply_gradients(zip(gradients, variables, strict=True))

        loss, step = strategy.run(replica, args=tuple(feeds))
        how = tf.distribute.ReduceOp.SUM if self.name in SUMS else tf.distribute.ReduceOp.MEAN
        self.fetches = [strategy.reduce(how, loss, axis=None), *strategy.experimental_local_results(step)]
