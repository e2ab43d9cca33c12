import tensorflow as tf

# Model-agnostic meta-learning on sinusoids: the loss after an inner gradient step is differentiated with respect to the
# weights before it, so the outer gradient goes through `tf.gradients`. (Finn, Abbeel and Levine, 2017.)

import numpy as np

rng = np.random.RandomState(1)
TASKS, SHOTS, INNER_RATE = 4, 10, 0.05

xs_a, ys_a, xs_b, ys_b = [tf.placeholder(tf.float32, [TASKS, SHOTS, 1], name=n) for n in ("xa", "ya", "xb", "yb")]
sizes = [1, 40, 40, 1]
weights = {}
for i, (n, m) in enumerate(zip(sizes, sizes[1:])):
    weights["w%d" % i] = tf.Variable(rng.randn(n, m).astype(np.float32) * np.float32(1.0 / np.sqrt(n)), name="w%d" % i)
    weights["b%d" % i] = tf.Variable(tf.zeros([m]), name="b%d" % i)


def forward(x, w):
    """The regression."""
    h = tf.nn.tanh(tf.matmul(x, w["w0"]) + w["b0"])
    h = tf.nn.tanh(tf.matmul(h, w["w1"]) + w["b1"])
    return tf.matmul(h, w["w2"]) + w["b2"]


def error(x, y, w):
    """Mean square error."""
    return tf.reduce_mean(tf.square(forward(x, w) - y))


before, after = [], []
for task in range(TASKS):
    fast = dict(weights)
    for _ in range(2):
        loss = error(xs_a[task], ys_a[task], fast)
        gradients = dict(zip(fast, tf.gradients(loss, list(fast.values()))))
        fast = {k: fast[k] - INNER_RATE * gradients[k] for k in fast}
    before.append(error(xs_b[task], ys_b[task], weights))
    after.append(error(xs_b[task], ys_b[task], fast))
loss_before, loss_after = tf.add_n(before) / TASKS, tf.add_n(after) / TASKS
optimizer = tf.train.AdamOptimizer(0.005)
pairs = optimizer.compute_gradients(loss_after)
with tf.control_dependencies([loss_before, loss_after]):
    train = optimizer.apply_gradients([(tf.clip_by_value(g, -10.0, 10.0), v) for g, v in pairs])


def batch():
    """Two sets of points from each of some sinusoids."""
    amplitude, phase = rng.uniform(0.5, 3, (TASKS, 1, 1)), rng.uniform(0, np.pi, (TASKS, 1, 1))
    a, b = rng.uniform(-4, 4, (2, TASKS, SHOTS, 1))
    return {xs_a: a, ys_a: amplitude * np.sin(a + phase), xs_b: b, ys_b: amplitude * np.sin(b + phase)}


with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(51):
        one, two, _ = sess.run([loss_before, loss_after, train], batch())
        if step % 10 == 0:
            print("step %2d: loss %.3f, after two inner steps %.3f" % (step, one, two))
