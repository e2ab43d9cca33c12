"""An optimizer of one's own, and those of 1.x in eager mode."""

import graphgrad as tf


class Adam:
    def __init__(self, learning_rate: float = 0.1, beta_1: float = 0.9, beta_2: float = 0.999) -> None:
        self.rate, self.beta_1, self.beta_2 = learning_rate, beta_1, beta_2
        self.t = 0
        self.m: dict[int, tf.Variable] = {}
        self.v: dict[int, tf.Variable] = {}

    def apply_gradients(self, pairs: list[tuple[tf.Tensor, tf.Variable]]) -> None:
        self.t += 1
        for i, (grad, var) in enumerate(pairs):
            m = self.m.setdefault(i, tf.Variable(tf.zeros_like(var)))
            v = self.v.setdefault(i, tf.Variable(tf.zeros_like(var)))
            m.assign(self.beta_1 * m + (1 - self.beta_1) * grad)
            v.assign(self.beta_2 * v + (1 - self.beta_2) * grad**2)
            m_hat = m / (1 - self.beta_1**self.t)
            v_hat = v / (1 - self.beta_2**self.t)
            var.assign_sub(self.rate * m_hat / (tf.sqrt(v_hat) + 1e-7))


w = tf.Variable([2.0, -1.0])
optimizer = Adam()
loss = tf.constant(0.0)
for _ in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * w)
    gradients = tape.gradient(loss, [w])
    optimizer.apply_gradients(list(zip(gradients, [w])))
old = tf.compat.v1.train.GradientDescentOptimizer(0.1)
old.minimize(lambda: tf.reduce_sum(w * w), var_list=[w])
clipped, norm = tf.clip_by_global_norm([w * 1.0, tf.constant([3.0])], 1.0)
assert loss.numpy() < 5.0 and norm.numpy() > 1.0
print(w[0] + w[1], clipped[0] * 2.0, w.shape, w.trainable, w.read_value(), len(optimizer.m))
