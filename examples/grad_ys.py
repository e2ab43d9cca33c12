import tensorflow as tf

# `grad_ys`: what the derivative of each y is multiplied by.
#
# 1. as a weight for each y; 2. to put an approximation in the place of a derivative that does
# not exist; 3. to differentiate a graph with a huge fan-in piece by piece.
#
# Run it with: graphgrad run examples/grad_ys.py

import numpy as np

sess = tf.Session()

# 1. A weight for each y: the gradient of 1 y1 + 10 y2.
x = tf.constant([1.0, 2.0, 3.0])
y1, y2 = x * x, 4.0 * x
(weighted,) = tf.gradients([y1, y2], [x], grad_ys=[tf.ones([3]), tf.fill([3], 10.0)])
(plain,) = tf.gradients([y1, y2], [x])
print("1. y1 = x^2, y2 = 4 x, x = [1, 2, 3]")
print("   gradient of y1 + y2:   ", sess.run(plain).tolist())
print("   gradient of y1 + 10 y2:", sess.run(weighted).tolist())

# 2. A neuron that says -1 or 1. Its derivative is zero wherever it exists, so nothing is
# learned from it. With that of tanh in its place, the chain rule goes on from z to y.
samples = np.random.RandomState(0).uniform(-1.0, 1.0, [64, 2]).astype(np.float32)
targets = np.sign(samples[:, :1] - 2.0 * samples[:, 1:] + 0.3)

points = tf.placeholder(tf.float32, [None, 2])
wanted = tf.placeholder(tf.float32, [None, 1])
weights = tf.Variable([[0.5], [0.5]])
bias = tf.Variable([0.0])
y = tf.matmul(points, weights) + bias
z = tf.sign(y)
loss = tf.reduce_mean(tf.square(z - wanted))

true_gradients = tf.gradients(loss, [weights, bias])
(dloss_dz,) = tf.gradients(loss, z)
dz_dy = 1.0 - tf.square(tf.tanh(y))
approximate = tf.gradients(y, [weights, bias], grad_ys=dloss_dz * dz_dy)
train = [v.assign_sub(0.5 * g) for v, g in zip([weights, bias], approximate)]

sess.run(tf.global_variables_initializer())
feed = {points: samples, wanted: targets}
print("2. sign(x W + b), learned with the derivative of tanh")
print("   true gradient of the weights:", sess.run(true_gradients, feed)[0].ravel().tolist())
print("   wrong before: %d of 64" % (sess.run(loss, feed) * 64 / 4))
for _ in range(100):
    sess.run(train, feed)
print("   wrong after:  %d of 64" % (sess.run(loss, feed) * 64 / 4))

# 3. A hundred branches flow into y, ten layers lead from y to the loss. First d loss / d y,
# once; then each branch for itself. The sum over all ways is the same as in one call.
generator = np.random.RandomState(1)
branch_variables = []
branches = []
for _ in range(100):
    v = tf.Variable(generator.normal(size=[4]).astype(np.float32))
    m = tf.constant(generator.normal(size=[4]).astype(np.float32))
    branch_variables.append(v)
    branches.append(tf.tanh(v * m))
fan_in = tf.add_n(branches)
layer = fan_in[tf.newaxis, :] / 10.0
for _ in range(10):
    matrix = tf.constant(generator.normal(size=[4, 4]).astype(np.float32) / 2.0)
    layer = tf.tanh(tf.matmul(layer, matrix))
loss = tf.reduce_sum(layer)

at_once = tf.gradients(loss, branch_variables)
(dloss_dy,) = tf.gradients(loss, fan_in)
by_branch = [tf.gradients(fan_in, v, grad_ys=dloss_dy)[0] for v in branch_variables]

sess.run(tf.global_variables_initializer())
one, many = sess.run([at_once, by_branch])
print("3. 100 branches, 10 layers")
print("   first branch: ", np.array2string(many[0], precision=4, suppress_small=True))
print("   one call and one for each branch agree:", bool(np.allclose(one, many, rtol=1e-5, atol=1e-8)))
sess.close()
