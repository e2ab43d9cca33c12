"""tf.contrib: slim layers within an argument scope."""

import graphgrad.compat.v1 as tf

slim = tf.contrib.slim


def network(images: tf.Tensor, classes: int) -> tf.Tensor:
    with slim.arg_scope([slim.conv2d], kernel_size=[3, 3], activation_fn=tf.nn.relu,
                        weights_regularizer=slim.l2_regularizer(1e-4)):
        net = slim.conv2d(images, 4, scope="conv1")
        net = slim.repeat(net, 2, slim.conv2d, 4, scope="more")
        net = slim.max_pool2d(net, [2, 2], scope="pool")
        net = slim.flatten(net)
        net = slim.dropout(net, 0.5, is_training=True)
        return slim.fully_connected(net, classes, activation_fn=None)


logits = network(tf.zeros([2, 8, 8, 3]), 5)
tf.losses.softmax_cross_entropy(tf.one_hot([0, 1], 5), logits)
total = tf.losses.get_total_loss()
train = tf.train.GradientDescentOptimizer(0.1).minimize(total)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(train), logits.shape[1].value, [v.op.name for v in slim.get_model_variables()])
