"""Tapes: persistent, nested, Jacobians, unconnected, accumulators."""

import graphgrad as tf

x = tf.Variable([1.0, 2.0])
z = tf.constant(3.0)
with tf.GradientTape(persistent=True) as tape:
    tape.watch(z)
    y = tf.reduce_sum(x**2) * z
    v = x * z
both = tape.gradient(y, {"x": x, "z": z})
jacobian = tape.jacobian(v, x)
dz = tape.gradient(y, z, output_gradients=2.0)
nothing = tape.gradient(y, tf.Variable(1.0))
zero = tape.gradient(y, tf.Variable(1.0), unconnected_gradients=tf.UnconnectedGradients.ZERO)
del tape
with tf.GradientTape() as outer:
    outer.watch(z)
    with tf.GradientTape() as inner:
        inner.watch(z)
        cube = z * z * z
    first = inner.gradient(cube, z)
second = outer.gradient(first, z)
with tf.autodiff.ForwardAccumulator(z, tf.constant(1.0)) as accumulator:
    squared = z * z
forward = accumulator.jvp(squared)
gradients = [g for g in (dz, nothing, zero) if g is not None]
assert nothing is None and second.numpy() == 18.0 and forward.numpy() == 6.0
print(both["x"].numpy() + 1.0, jacobian.shape, len(gradients), dz + 1.0, -second)
print(tf.hessian(lambda t: tf.reduce_sum(t**3))(tf.constant([1.0, 2.0])), tf.jacobian(lambda t: t * t)(z))
