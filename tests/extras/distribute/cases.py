"""Programs with strategies, as `tests/record/distribute.py` runs them on TensorFlow and `test_recorded.py` here.

A case is a function of `tf`, in TensorFlow 2's style, and of a strategy of two replicas; it gives what JSON can hold.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any

import numpy as np

_rng = np.random.RandomState(0)
X = _rng.randn(8, 3).astype(np.float32)
Y = _rng.randn(8, 1).astype(np.float32)
W = _rng.randn(3, 1).astype(np.float32)

CASES: dict[str, Callable[[Any, Any], Any]] = {}


def case(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Adds a case to the table."""
    CASES[function.__name__] = function
    return function


def plain(value: Any) -> Any:
    """A value without tensors: numbers, lists, the parts of values of replicas."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if hasattr(value, "values") and hasattr(value, "indices"):
        return {"values": plain(value.values), "indices": plain(value.indices)}
    if hasattr(value, "values"):
        return {"replicas": [plain(v) for v in value.values]}
    if hasattr(value, "numpy"):
        return plain(value.numpy())
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def outcome(function: Callable[[], Any]) -> Any:
    """What a function returns, or the class of what it raises."""
    try:
        return json.loads(json.dumps(plain(function())))
    except Exception as e:
        return {"raises": type(e).__name__}


def number(tf: Any, dtype: Any = None) -> Any:
    """The replica's number plus one."""
    return tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, dtype or tf.float32) + 1


@case
def contexts(tf: Any, strategy: Any) -> Any:
    """Which context is current where."""
    found = [tf.distribute.in_cross_replica_context(), tf.distribute.has_strategy()]
    with strategy.scope():
        found += [tf.distribute.in_cross_replica_context(), tf.distribute.get_strategy() is strategy,
                  tf.distribute.get_replica_context() is None]

    def replica() -> Any:
        context = tf.distribute.get_replica_context()
        found.extend([tf.distribute.in_cross_replica_context(), context.strategy is strategy,
                      context.num_replicas_in_sync, int(context.replica_id_in_sync_group)])

    strategy.run(replica)
    return found


@case
def returned(tf: Any, strategy: Any) -> Any:
    """What `run` makes of results: what is the same is not repeated."""
    return strategy.run(lambda: {"a": number(tf), "b": (2, None), "c": [number(tf, tf.int32), "text"]})


@case
def reductions(tf: Any, strategy: Any) -> Any:
    """Sums and means, of whole numbers, over an axis of uneven parts, of rows, of what has no parts."""
    uneven = strategy.run(lambda: tf.range(number(tf) + 1))
    rows = strategy.run(lambda: tf.IndexedSlices(number(tf) * tf.ones([1, 2]), tf.constant([1]), tf.constant([3, 2])))
    one = strategy.run(lambda: number(tf))
    return [strategy.reduce("SUM", one, axis=None), strategy.reduce("mean", one, axis=None),
            strategy.reduce(tf.distribute.ReduceOp.MEAN, strategy.run(lambda: number(tf, tf.int32)), axis=None),
            strategy.reduce("SUM", uneven, axis=0), strategy.reduce("MEAN", uneven, axis=0),
            strategy.reduce("SUM", rows, axis=None), strategy.reduce("MEAN", rows, axis=None),
            strategy.reduce("MEAN", tf.constant(3.0), axis=None),
            strategy.reduce("SUM", {"x": one, "y": [one]}, axis=None),
            strategy.gather(uneven, axis=0), strategy.gather(tf.constant([1.0]), axis=0),
            outcome(lambda: strategy.reduce("SUM", tf.constant(3.0), axis=None)),
            outcome(lambda: strategy.reduce("SUM", 3.0, axis=None)),
            outcome(lambda: strategy.reduce("PRODUCT", one, axis=None))]


@case
def collectives(tf: Any, strategy: Any) -> Any:
    """All-reduce and all-gather in replicas."""
    def replica() -> Any:
        context, x = tf.distribute.get_replica_context(), number(tf)
        whole = tf.fill([number(tf, tf.int32), 2], x)
        return (context.all_reduce("SUM", x), context.all_reduce(tf.distribute.ReduceOp.MEAN, {"a": x, "b": [x * 2]}),
                context.all_gather(whole, axis=0), context.all_gather(tf.transpose(whole), axis=1))

    return strategy.run(replica), tf.function(lambda: strategy.run(replica))()


@case
def gradients_of_collectives(tf: Any, strategy: Any) -> Any:
    """The gradient of an all-reduce is the all-reduce of gradients, and can be differentiated."""
    def replica(kind: str) -> Any:
        context, x = tf.distribute.get_replica_context(), 2.0 * number(tf)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = context.all_reduce(kind, x * x * x)
            first = tape.gradient(y, x)
        second = outer.gradient(first, x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            whole = context.all_gather(tf.stack([x, x * x]), axis=0)
            gathered = tf.reduce_sum(whole * tf.constant([1.0, 2.0, 3.0, 4.0]))
        return y, first, second, tape.gradient(gathered, x)

    return [strategy.run(replica, args=(kind,)) for kind in ("SUM", "MEAN")]


@case
def merge_calls(tf: Any, strategy: Any) -> Any:
    """A merge call gets values of replicas, and each gets its part of the result."""
    seen: list[Any] = []

    def merged(there: Any, x: Any, same: int, k: int = 0) -> Any:
        seen.extend([there is strategy, tf.distribute.in_cross_replica_context(), plain(x), same, k])
        return x, 7

    def replica() -> Any:
        return tf.distribute.get_replica_context().merge_call(merged, args=(number(tf), 3), kwargs={"k": 5})

    return strategy.run(replica), seen


def _variable(tf: Any, strategy: Any, aggregation: str, on_read: bool = False, value: Any = 0.0) -> Any:
    kind = tf.VariableSynchronization.ON_READ if on_read else tf.VariableSynchronization.AUTO
    with strategy.scope():
        return tf.Variable(value, name="v", synchronization=kind,
                           aggregation=getattr(tf.VariableAggregation, aggregation))


@case
def mirrored_variables(tf: Any, strategy: Any) -> Any:
    """What replicas assign to mirrored variables, by aggregation."""
    found = []
    for kind in ("NONE", "SUM", "MEAN", "ONLY_FIRST_REPLICA"):
        v = _variable(tf, strategy, kind)
        strategy.run(lambda v=v: v.assign_add(number(tf)))
        found.append(plain([v.numpy(), *v.values]))
        strategy.run(lambda v=v: v.assign(3 * number(tf)))
        found.append(plain([v.numpy(), *v.values]))
        v.assign_sub(1.0)
        with strategy.scope():
            v.assign_add(5.0)
        found.append(plain([v.numpy(), *v.values, v.name, *[c.name for c in v.values], v.trainable]))
    return found


@case
def variables_synchronized_on_read(tf: Any, strategy: Any) -> Any:
    """Copies that differ until somebody else reads them."""
    found: list[Any] = []
    for kind in ("SUM", "MEAN", "ONLY_FIRST_REPLICA"):
        v = _variable(tf, strategy, kind, on_read=True)
        inside = strategy.run(lambda v=v: [v.assign_add(number(tf)), v.read_value() + 0.0][1])
        found.append(plain([inside, v.numpy(), v.read_value(), v + 1.0, *v.values, v.trainable]))
        v.assign(10.0)
        found.append(plain([v.numpy(), *v.values, outcome(lambda v=v: v.assign_add(1.0) and None), *v.values]))
    return found


@case
def rows_of_variables(tf: Any, strategy: Any) -> Any:
    """Rows that replicas change, by aggregation."""
    found = []
    for kind in ("NONE", "SUM", "MEAN", "ONLY_FIRST_REPLICA"):
        v = _variable(tf, strategy, kind, value=np.arange(6, dtype=np.float32).reshape(3, 2))
        for method in ("scatter_add", "scatter_sub", "scatter_update"):
            def replica(v: Any = v, method: str = method) -> None:
                getattr(v, method)(tf.IndexedSlices(number(tf) * tf.ones([1, 2]), tf.constant([1])))

            found.append(plain([outcome(functools.partial(strategy.run, replica)), *v.values]))
    return found


@case
def settings_of_variables(tf: Any, strategy: Any) -> Any:
    """Settings that there are not."""
    with strategy.scope():
        return [outcome(lambda: tf.Variable(1.0, synchronization=tf.VariableSynchronization.NONE)),
                outcome(lambda: tf.Variable(1.0, aggregation=5)), outcome(lambda: tf.Variable(1.0, synchronization=5))]


@case
def variables_made_in_replicas(tf: Any, strategy: Any) -> Any:
    """A variable that every replica makes is one variable; random ones are equal everywhere."""
    def replica() -> Any:
        return tf.Variable(number(tf), name="inside")

    v = strategy.run(replica)
    with strategy.scope():
        random = tf.Variable(tf.random.normal([3]))
    return [v.name, plain(v.values), bool(np.all(random.values[0].numpy() == random.values[1].numpy()))]


@case
def misuse(tf: Any, strategy: Any) -> Any:
    """What must not be called where."""
    other = tf.distribute.MirroredStrategy(["/cpu:0"])
    context = tf.distribute.get_replica_context
    v1 = tf.compat.v1.train
    plain_variable = tf.Variable(W)
    with strategy.scope():
        v = tf.Variable(W)

    def nested() -> Any:
        return tf.cond(number(tf) > 0.0, lambda: context().all_reduce("SUM", number(tf)), lambda: 0.0)

    def in_scope(call: Callable[[], Any]) -> Any:
        with strategy.scope():
            return outcome(call)

    def apply(variable: Any) -> Any:
        return v1.GradientDescentOptimizer(0.1).apply_gradients([(tf.ones([3, 1]), variable)])

    return [outcome(lambda: strategy.run(lambda: strategy.run(lambda: 1.0))),
            outcome(lambda: strategy.run(lambda: strategy.scope().__enter__())),
            in_scope(lambda: other.scope().__enter__()), outcome(lambda: strategy.run(lambda: 1 // 0)),
            outcome(lambda: strategy.run(3)), outcome(lambda: strategy.run(lambda: 1, args=3)),
            outcome(lambda: tf.function(lambda: strategy.run(nested))()),
            in_scope(lambda: apply(v)), outcome(lambda: strategy.run(lambda: apply(plain_variable))),
            outcome(lambda: tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:0"]))]


def losses(tf: Any, strategy: Any, optimizer: Callable[[], Any], in_function: bool, steps: int = 4) -> Any:
    """Trains a linear model on one batch; returns the losses, and the variables at the end."""
    with strategy.scope():
        w, b, made = tf.Variable(W, name="w"), tf.Variable(0.0, name="b"), optimizer()
    data = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices((X, Y)).batch(8).repeat(steps))

    def step(batch: Any) -> Any:
        x, y = batch
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(tf.matmul(x, w) + b - y)) / 8.0
        made.apply_gradients(zip(tape.gradient(loss, [w, b]), [w, b], strict=True))
        return loss

    def together(batch: Any) -> Any:
        return strategy.reduce("SUM", strategy.run(step, args=(batch,)), axis=None)

    call = tf.function(together) if in_function else together
    return [[call(batch) for batch in data], w.numpy(), b.numpy(), [getattr(v, "values", ()) for v in (w, b)]]


OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "GradientDescent": lambda v1: v1.GradientDescentOptimizer(0.1),
    "Momentum": lambda v1: v1.MomentumOptimizer(0.1, 0.9), "Adam": lambda v1: v1.AdamOptimizer(0.1),
    "Adagrad": lambda v1: v1.AdagradOptimizer(0.1), "Adadelta": lambda v1: v1.AdadeltaOptimizer(0.5),
    "RMSProp": lambda v1: v1.RMSPropOptimizer(0.1, centered=True), "Ftrl": lambda v1: v1.FtrlOptimizer(0.1)}


def train(tf: Any, strategy: Any, name: str) -> Any:
    """Trains with an optimizer, in a function and eagerly."""
    make = OPTIMIZERS[name]
    return [losses(tf, strategy, lambda: make(tf.compat.v1.train), in_function) for in_function in (True, False)]


CASES.update((name, functools.partial(train, name=name)) for name in OPTIMIZERS)


@case
def embedding(tf: Any, strategy: Any) -> Any:
    """Gradients that are rows are put behind each other; slots have copies."""
    with strategy.scope():
        table = tf.Variable(np.arange(12, dtype=np.float32).reshape(6, 2), name="table")
        optimizer = tf.compat.v1.train.AdagradOptimizer(0.5)

    @tf.function
    def train(rows: Any) -> Any:
        def step(mine: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.gather(table, mine) ** 2)
            optimizer.apply_gradients([(tape.gradient(loss, table), table)])
            return loss

        return strategy.reduce("SUM", strategy.run(step, args=(rows,)), axis=None)

    data = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices([0, 1, 1, 2]).batch(4))
    slot = optimizer.get_slot(table, "accumulator")
    return [[train(rows) for rows in data], *table.values,
            slot is None and [c.numpy() for c in optimizer.get_slot(table, "accumulator").values]]


@case
def by_hand(tf: Any, strategy: Any) -> Any:
    """A step written by hand: all-reduce of gradients, assignment in replicas."""
    with strategy.scope():
        w = tf.Variable(W, name="w")

    @tf.function
    def train(x: Any, y: Any) -> Any:
        def step(x: Any, y: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.square(tf.matmul(x, w) - y)) / 8.0
            gradient = tf.distribute.get_replica_context().all_reduce("SUM", tape.gradient(loss, w))
            w.assign_sub(0.1 * gradient)
            return loss

        return strategy.reduce("SUM", strategy.run(step, args=(x, y)), axis=None)

    data = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices((X, Y)).batch(8).repeat(3))
    return [[train(*batch) for batch in data], *w.values]


@case
def data_sets(tf: Any, strategy: Any) -> Any:
    """How batches of all sizes are divided, and how a function's elements are handed out."""
    def parts(data: Any) -> Any:
        return [[part.numpy() for part in strategy.experimental_local_results(element)] for element in data]

    def distributed(n: int, batch: int, drop: bool = False) -> Any:
        data = strategy.experimental_distribute_dataset(tf.data.Dataset.range(n).batch(batch, drop_remainder=drop))
        return parts(data), str(data.element_spec)

    def made(context: Any) -> Any:
        return tf.data.Dataset.range(5 + context.input_pipeline_id).batch(context.get_per_replica_batch_size(4))

    named = tf.data.Dataset.from_tensor_slices({"a": np.arange(6.0), "b": np.arange(12).reshape(6, 2)}).batch(4)
    return [distributed(10, 4), distributed(7, 3), distributed(5, 5), distributed(1, 4), distributed(3, 2),
            distributed(10, 4, True), parts(strategy.distribute_datasets_from_function(made)),
            list(strategy.experimental_distribute_dataset(named)),
            outcome(lambda: parts(strategy.experimental_distribute_dataset(tf.data.Dataset.range(4)))),
            outcome(lambda: tf.distribute.InputContext(1, 0, 2).get_per_replica_batch_size(7))]


@case
def loops_over_data(tf: Any, strategy: Any) -> Any:
    """Loops in functions over data sets of replicas, and iterators as arguments."""
    data = strategy.experimental_distribute_dataset(tf.data.Dataset.range(10).batch(4))
    by_function = strategy.distribute_datasets_from_function(lambda context: tf.data.Dataset.range(5).batch(2))

    @tf.function
    def total(source: Any) -> Any:
        result, count = tf.constant(0, tf.int64), 0
        for element in source:
            result += strategy.reduce("SUM", strategy.run(tf.reduce_sum, args=(element,)), axis=None)
            count += 1
        return result, count

    @tf.function
    def two(iterator: Any) -> Any:
        result = tf.constant(0, tf.int64)
        for _ in range(2):
            result += strategy.reduce("SUM", strategy.run(tf.reduce_sum, args=(next(iterator),)), axis=None)
        return result

    iterator = iter(data)
    rest = iter(data)
    first = [two(iterator), outcome(lambda: two(iterator)), next(rest), rest.get_next(),
             rest.get_next_as_optional().has_value(), rest.get_next_as_optional().has_value(),
             outcome(rest.get_next)]
    return [*total(data), *total(by_function), *first]


@case
def one_device(tf: Any, strategy: Any) -> Any:
    """A strategy of one device gives plain values."""
    one = tf.distribute.OneDeviceStrategy("/cpu:1")
    with one.scope():
        v = tf.Variable(1.0)
    step = tf.function(lambda x: one.run(lambda x: v.assign_add(x), args=(x,)))
    step(2.0)
    data = one.experimental_distribute_dataset(tf.data.Dataset.range(4).batch(2))
    return [one.run(lambda: number(tf)), v.numpy(), v.device, one.num_replicas_in_sync, list(data),
            one.reduce("SUM", one.run(lambda: tf.ones([3])), axis=0),
            one.reduce("MEAN", one.run(lambda: tf.ones([3])), axis=None), one.experimental_local_results(5)]


@case
def values_from_functions(tf: Any, strategy: Any) -> Any:
    """Values with a part for each replica, given to replicas, and local results."""
    value = strategy.experimental_distribute_values_from_function(
        lambda context: tf.constant(10.0 * context.replica_id_in_sync_group))
    return [value, strategy.run(lambda x, y: x + y, args=(value,), kwargs={"y": 1.0}),
            strategy.experimental_local_results(value), strategy.experimental_local_results(3),
            strategy.extended.reduce_to("SUM", value, destinations="/cpu:1")]
