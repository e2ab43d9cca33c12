import tensorflow as tf

# A physics-informed net for Burgers' equation, u_t + u u_x = (0.01 / pi) u_xx on [-1, 1] x [0, 1]
# with u(x, 0) = -sin(pi x) and u = 0 at the borders: second derivatives by tf.gradients, first Adam, then SciPy's
# L-BFGS-B on the flat parameters. (Raissi, Perdikaris and Karniadakis, 2019.)

import numpy as np
import scipy.optimize

rng = np.random.RandomState(0)
sizes = [2, 20, 20, 20, 1]
layers = []
for n, m in zip(sizes, sizes[1:]):
    layers.append((tf.Variable(rng.randn(n, m) * np.sqrt(2 / (n + m)), dtype=tf.float64),
                   tf.Variable(np.zeros((1, m)), dtype=tf.float64)))
variables = [v for layer in layers for v in layer]


def net(x, t):
    """The solution, a network of position and time."""
    h = tf.concat([x, 2 * t - 1], 1)
    for W, b in layers[:-1]:
        h = tf.tanh(tf.matmul(h, W) + b)
    W, b = layers[-1]
    return tf.matmul(h, W) + b


x, t = tf.placeholder(tf.float64, [None, 1]), tf.placeholder(tf.float64, [None, 1])
x0, t0, u0 = [tf.placeholder(tf.float64, [None, 1]) for _ in range(3)]
u = net(x, t)
u_t, u_x = tf.gradients(u, [t, x])
u_xx = tf.gradients(u_x, x)[0]
residual = u_t + u * u_x - (0.01 / np.pi) * u_xx
loss = tf.reduce_mean(tf.square(net(x0, t0) - u0)) + tf.reduce_mean(tf.square(residual))
adam = tf.train.AdamOptimizer(0.005).minimize(loss, var_list=variables)

flat_gradient = tf.concat([tf.reshape(g, [-1]) for g in tf.gradients(loss, variables)], 0)
flat_value = tf.concat([tf.reshape(v, [-1]) for v in variables], 0)
flat_input = tf.placeholder(tf.float64, [None])
counts = [int(np.prod(v.get_shape().as_list())) for v in variables]
parts = tf.split(flat_input, counts)
assign = tf.group(*[v.assign(tf.reshape(p, v.get_shape())) for v, p in zip(variables, parts)])

inside = rng.rand(500, 2) * [2, 1] - [1, 0]
border = np.concatenate([np.stack([rng.rand(60) * 2 - 1, np.zeros(60)], 1),
                         np.stack([np.repeat([-1.0, 1.0], 20), rng.rand(40)], 1)])
wanted = np.where(border[:, 1:] == 0, -np.sin(np.pi * border[:, :1]), 0.0)
feed = {x: inside[:, :1], t: inside[:, 1:], x0: border[:, :1], t0: border[:, 1:], u0: wanted}

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(101):
        value, _ = sess.run([loss, adam], feed)
        if step % 25 == 0:
            print("Adam %3d: loss %.5f" % (step, value))

    def evaluate(parameters):
        """Loss and gradient, for SciPy."""
        sess.run(assign, {flat_input: parameters})
        return sess.run([loss, flat_gradient], feed)

    found = scipy.optimize.minimize(evaluate, sess.run(flat_value), jac=True, method="L-BFGS-B",
                                    options={"maxiter": 25})
    print("L-BFGS: loss %.4f" % found.fun)
