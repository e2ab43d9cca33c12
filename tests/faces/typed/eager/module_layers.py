"""Layers as modules, trained without Keras."""

from itertools import pairwise

import numpy as np

import graphgrad as tf


class Dense(tf.Module):
    def __init__(self, inputs: int, outputs: int, activation=tf.identity, name: str | None = None) -> None:
        super().__init__(name=name)
        self.w = tf.Variable(tf.random.normal([inputs, outputs], stddev=0.5, seed=1), name="w")
        self.b = tf.Variable(tf.zeros([outputs]), name="b")
        self.activation = activation

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        return self.activation(x @ self.w + self.b)


class Mlp(tf.Module):
    def __init__(self, sizes: list[int]) -> None:
        super().__init__()
        self.layers = [Dense(n, m, tf.nn.tanh) for n, m in pairwise(sizes)]

    @tf.function
    def __call__(self, x: tf.Tensor, training: bool = False) -> tf.Tensor:
        for layer in self.layers:
            x = layer(x)
            if training:
                x = tf.nn.dropout(x, rate=0.1)
        return x


class Trainer:
    def __init__(self, model: Mlp, rate: float) -> None:
        self.model = model
        self.rate = rate

    @tf.function
    def step(self, x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self.model(x, training=True) - y) ** 2)
        variables = self.model.trainable_variables
        for v, g in zip(variables, tape.gradient(loss, variables)):
            v.assign_sub(self.rate * g)
        return loss


model = Mlp([2, 4, 1])
trainer = Trainer(model, 0.1)
data = tf.constant(np.random.RandomState(0).rand(8, 2), tf.float32)
target = tf.reduce_sum(data, axis=1, keepdims=True)
losses = [trainer.step(data, target).numpy() for _ in range(3)]
assert len(model.trainable_variables) == 4 and np.isfinite(losses).all()
print(model(data)[0], [v.name for v in model.variables], model.name, len(model.submodules))
