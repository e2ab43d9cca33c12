import tensorflow as tf

# Guided backpropagation: under gradient_override_map, relu's gradient lets pass only what is positive on both ways.
# (Springenberg et al., 2014.)

import numpy as np
from sklearn.datasets import load_digits


@tf.RegisterGradient("GuidedRelu")
def guided_relu(op, gradient):
    """Relu's gradient, without what is negative itself."""
    return tf.where(gradient > 0, gradient, tf.zeros_like(gradient)) * tf.cast(op.outputs[0] > 0, tf.float32)


digits = load_digits()
rng = np.random.RandomState(0)
weights = [rng.randn(*s).astype(np.float32) * 0.3 for s in ((3, 3, 1, 8), (3, 3, 8, 8), (32, 10))]


def network(images):
    """Two convolutions and a layer."""
    h = tf.nn.relu(tf.nn.conv2d(images, variables[0], [1, 1, 1, 1], "SAME"))
    h = tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    h = tf.nn.relu(tf.nn.conv2d(h, variables[1], [1, 2, 2, 1], "SAME"))
    return tf.matmul(tf.reshape(h, [-1, 32]), variables[2])


graph = tf.Graph()
with graph.as_default():
    variables = [tf.Variable(w) for w in weights]
    images = tf.placeholder(tf.float32, [None, 8, 8, 1])
    labels = tf.placeholder(tf.int32, [None])
    logits = network(images)
    with graph.gradient_override_map({"Relu": "GuidedRelu"}):
        guided_logits = network(images)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    train = tf.train.GradientDescentOptimizer(0.05).minimize(loss)
    plain = tf.gradients(tf.reduce_max(logits, 1), images)[0]
    guided = tf.gradients(tf.reduce_max(guided_logits, 1), images)[0]

pictures = (digits.images[..., np.newaxis] / 16.0).astype(np.float32)
with tf.Session(graph=graph) as sess:
    sess.run(tf.variables_initializer(graph.get_collection("variables")))
    for step in range(61):
        rows = rng.choice(1500, 64)
        value, _ = sess.run([loss, train], {images: pictures[rows], labels: digits.target[rows]})
        if step % 20 == 0:
            print("step %2d: loss %.4f" % (step, value))
    one, other, a, b = sess.run([logits, guided_logits, plain, guided], {images: pictures[1600:1610]})
    print("the forward pass is the same:", bool(np.allclose(one, other)))
    print("negative parts: gradient %.3f, guided %.3f" % (-a[a < 0].sum(), -b[b < 0].sum()))
    print("by picture: " + " ".join("%.3f" % v for v in b.sum((1, 2, 3))))
