import tensorflow as tf

# Style transfer by optimizing the input: the picture is the variable, and a random convolutional net tells content
# (features of one digit) and style (Gram matrices of another). (Gatys, Ecker and Bethge, 2015.)

import numpy as np
from sklearn.datasets import load_digits

pictures = np.kron(load_digits().images[[0, 7]] / 16.0, np.ones((3, 3)))[..., np.newaxis].astype(np.float32)
content, style = pictures[:1], pictures[1:]

rng = np.random.RandomState(0)
filters = [(rng.randn(3, 3, n, m) / np.sqrt(4.5 * n)).astype(np.float32) for n, m in ((1, 8), (8, 16), (16, 16))]


def features(image):
    """What each layer sees."""
    h, seen = image, []
    for f in filters:
        h = tf.nn.elu(tf.nn.conv2d(h, tf.constant(f), [1, 1, 1, 1], "SAME"))
        seen.append(h)
        h = tf.nn.avg_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    return seen


def gram(h):
    """How often features come together."""
    flat = tf.reshape(h, [-1, h.get_shape()[-1].value])
    return tf.matmul(flat, flat, transpose_a=True) / tf.to_float(tf.shape(flat)[0])


image = tf.Variable(0.5 + 0.1 * rng.randn(1, 24, 24, 1).astype(np.float32), name="image")
seen, wanted, styled = features(image), features(tf.constant(content)), features(tf.constant(style))
content_loss = tf.reduce_mean(tf.squared_difference(seen[1], wanted[1]))
style_loss = tf.add_n([tf.reduce_mean(tf.squared_difference(gram(a), gram(b))) for a, b in zip(seen, styled)])
smoothness = tf.reduce_mean(tf.abs(image[:, 1:] - image[:, :-1]))
loss = content_loss + style_loss + 0.01 * smoothness
step = tf.train.AdamOptimizer(0.02).minimize(loss, var_list=[image])
with tf.control_dependencies([step]):
    bounded = tf.assign(image, tf.clip_by_value(image, 0.0, 1.0))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(61):
        values = sess.run([loss, content_loss, style_loss, bounded])
        if i % 15 == 0:
            print("step %2d: loss %.4f, content %.4f, style %.4f" % (i, *values[:3]))
    print("brightness: %.3f" % sess.run(image).mean())
