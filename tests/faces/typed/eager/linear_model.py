"""A loop with a tape over two variables."""

import numpy as np

import graphgrad as tf

x = tf.constant(np.linspace(0, 1, 20), dtype=tf.float32)
y = 3.0 * x + 1.0
w, b = tf.Variable(0.0, name="w"), tf.Variable(0.0)
loss = tf.constant(0.0)
for epoch in range(60):
    with tf.GradientTape() as tape:
        predicted = w * x + b
        loss = tf.reduce_mean(tf.square(y - predicted))
    dw, db = tape.gradient(loss, [w, b])
    w.assign_sub(0.5 * dw)
    b.assign_sub(0.5 * db)
    if epoch % 30 == 0:
        print(f"Epoch {epoch}: loss {loss.numpy():.3f}", float(w), b.numpy())
assert abs(w.numpy() - 3.0) < 0.5 and loss < 0.1
