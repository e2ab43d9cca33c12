"""The training runs that are recorded from TensorFlow and repeated here: one table for both.

Each case is trained on the same small loss: a dense part for `w`, and a gathered part for the
rows of `table`, with rows that repeat within a step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

STEPS = 50
W = np.array([[1.0, -2.0, 0.5], [3.0, 0.25, -1.0]], np.float32)
TABLE = np.linspace(-1, 1, 12, dtype=np.float32).reshape(6, 2)
ROWS = [np.array(r, np.int32) for r in ([0, 2, 2], [5, 5, 5], [1, 0, 4])]
TARGET = np.array([[0.5, 0.5], [-1.0, 2.0], [0.0, 1.5]], np.float32)

# name -> (class, arguments)
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "sgd": ("GradientDescentOptimizer", {"learning_rate": 0.1}),
    "momentum": ("MomentumOptimizer", {"learning_rate": 0.05, "momentum": 0.9}),
    "nesterov": ("MomentumOptimizer", {"learning_rate": 0.05, "momentum": 0.9, "use_nesterov": True}),
    "adam": ("AdamOptimizer", {"learning_rate": 0.1}),
    "adam_betas": ("AdamOptimizer", {"learning_rate": 0.01, "beta1": 0.5, "beta2": 0.9, "epsilon": 1e-4}),
    "adagrad": ("AdagradOptimizer", {"learning_rate": 0.3}),
    "adagrad_da": ("AdagradDAOptimizer", {"learning_rate": 0.3, "l1_regularization_strength": 0.02,
                                          "l2_regularization_strength": 0.01}),
    "proximal_sgd": ("ProximalGradientDescentOptimizer", {"learning_rate": 0.1, "l1_regularization_strength": 0.3,
                                                          "l2_regularization_strength": 0.05}),
    "proximal_sgd_plain": ("ProximalGradientDescentOptimizer", {"learning_rate": 0.1}),
    "proximal_adagrad": ("ProximalAdagradOptimizer", {"learning_rate": 0.3, "l1_regularization_strength": 0.2,
                                                      "l2_regularization_strength": 0.05}),
    "rmsprop": ("RMSPropOptimizer", {"learning_rate": 0.05, "momentum": 0.5}),
    "rmsprop_centered": ("RMSPropOptimizer", {"learning_rate": 0.05, "centered": True}),
    "adadelta": ("AdadeltaOptimizer", {"learning_rate": 1.0}),
    "ftrl": ("FtrlOptimizer", {"learning_rate": 0.5, "l1_regularization_strength": 0.01,
                               "l2_regularization_strength": 0.1}),
    "ftrl_shrinkage": ("FtrlOptimizer", {"learning_rate": 0.5, "learning_rate_power": -0.6, "beta": 0.2,
                                         "l2_shrinkage_regularization_strength": 0.05}),
}

def _adamax(s: dict[str, Any], g: Any, t: int) -> None:
    s["m"] = 0.8 * s.get("m", 0.0) + 0.2 * g
    s["v"] = np.maximum(0.9 * s.get("v", 0.0), abs(g))
    s["w"] = s["w"] - 0.1 / (1 - 0.8**t) * s["m"] / (s["v"] + 1e-6)


# Those that TensorFlow 2.21 lacks: name -> (class, arguments, one step by its formula on a dictionary of values).
FORMULAS: dict[str, tuple[str, dict[str, Any], Any]] = {
    "adamax": ("AdaMaxOptimizer", {"learning_rate": 0.1, "beta1": 0.8, "beta2": 0.9, "epsilon": 1e-6}, _adamax),
}

# name -> (function of tf.train, its arguments after the step)
SCHEDULES: dict[str, tuple[str, dict[str, Any]]] = {
    "exponential": ("exponential_decay", {"decay_steps": 7, "decay_rate": 0.8}),
    "exponential_stairs": ("exponential_decay", {"decay_steps": 7, "decay_rate": 0.8, "staircase": True}),
    "natural_exp": ("natural_exp_decay", {"decay_steps": 7, "decay_rate": 0.8}),
    "inverse_time": ("inverse_time_decay", {"decay_steps": 7, "decay_rate": 0.8, "staircase": True}),
    "polynomial": ("polynomial_decay", {"decay_steps": 12, "power": 2.0}),
    "polynomial_cycle": ("polynomial_decay", {"decay_steps": 12, "cycle": True}),
    "cosine": ("cosine_decay", {"decay_steps": 15, "alpha": 0.1}),
    "cosine_restarts": ("cosine_decay_restarts", {"first_decay_steps": 5, "m_mul": 0.9}),
    "cosine_restarts_even": ("cosine_decay_restarts", {"first_decay_steps": 5, "t_mul": 1.0}),
    "linear_cosine": ("linear_cosine_decay", {"decay_steps": 15}),
}


def train(tf: Any, name: str, dtype: str = "float32") -> dict[str, np.ndarray]:
    """The values of both variables after each step of a case, under the library `tf`.

    Returns: {"w": (STEPS, *W.shape), "table": (STEPS, *TABLE.shape)}.
    """
    cls, arguments = CASES[name]
    with tf.Graph().as_default(), tf.Session() as sess:
        w = tf.Variable(W.astype(dtype), name="w")
        table = tf.Variable(TABLE.astype(dtype), name="table")
        rows = tf.placeholder(tf.int32, [3])
        picked = tf.gather(table, rows)
        loss = tf.reduce_sum(w * w * w * w) * 0.05 + tf.reduce_sum(w * w)
        loss += tf.reduce_sum((picked - TARGET.astype(dtype)) ** 2)
        counted = tf.train.get_or_create_global_step()
        if cls == "AdagradDAOptimizer":
            arguments = {**arguments, "global_step": counted}
        step = getattr(tf.train, cls)(**arguments).minimize(loss, counted)
        sess.run(tf.global_variables_initializer())
        values: dict[str, list[np.ndarray]] = {"w": [], "table": []}
        for i in range(STEPS):
            sess.run(step, {rows: ROWS[i % len(ROWS)]})
            for key, value in zip(values, sess.run([w, table]), strict=True):
                values[key].append(value)
    return {key: np.stack(v) for key, v in values.items()}


def schedule(tf: Any, name: str) -> np.ndarray:
    """The rates of a schedule at the steps 0, 1, ... STEPS - 1, under the library `tf`."""
    function, arguments = SCHEDULES[name]
    with tf.Graph().as_default(), tf.Session() as sess:
        step = tf.placeholder(tf.int64, [])
        rate = getattr(tf.train, function)(0.5, step, **arguments)
        return np.array([sess.run(rate, {step: i}) for i in range(STEPS)], np.float32)


def average(tf: Any) -> dict[str, np.ndarray]:
    """Moving averages of a variable and a tensor after each step, under the library `tf`."""
    with tf.Graph().as_default(), tf.Session() as sess:
        w = tf.Variable([1.0, 2.0], name="w")
        count = tf.Variable(0, trainable=False, name="count")
        ema = tf.train.ExponentialMovingAverage(0.9, num_updates=count, zero_debias=True)
        square = w * w
        update = ema.apply([w, square])
        change = [w.assign_add([0.5, -1.0]).op, count.assign_add(1).op]
        sess.run(tf.global_variables_initializer())
        values: list[Any] = []
        for _ in range(STEPS):
            sess.run(update)
            values.append(sess.run([ema.average(w), ema.average(square)]))
            sess.run(change)
    return {"w": np.stack([a for a, _ in values]), "square": np.stack([b for _, b in values])}
