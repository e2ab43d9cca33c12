"""A convolutional classifier, with summaries and accuracy."""

import numpy as np

import graphgrad.compat.v1 as tf


def conv_layer(inputs: tf.Tensor, filters: int, name: str, training: bool = True) -> tf.Tensor:
    with tf.variable_scope(name):
        channels = inputs.shape[-1].value
        kernel = tf.get_variable("kernel", [3, 3, channels, filters], initializer=tf.glorot_uniform_initializer())
        bias = tf.get_variable("bias", [filters], initializer=tf.constant_initializer(0.1))
        net = tf.nn.conv2d(inputs, kernel, strides=[1, 1, 1, 1], padding="SAME")
        net = tf.nn.bias_add(net, bias)
        net = tf.nn.relu(net)
        if training:
            net = tf.nn.dropout(net, keep_prob=0.9)
        return tf.nn.max_pool(net, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")


images = tf.placeholder(tf.float32, [None, 8, 8, 1])
labels = tf.placeholder(tf.int64, [None])
net = conv_layer(images, 4, "one")
net = conv_layer(net, 8, "two")
_, height, width, channels = net.get_shape().as_list()
flat = tf.reshape(net, [-1, height * width * channels])
logits = tf.layers.dense(flat, 3, kernel_regularizer=tf.nn.l2_loss)
losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
loss = tf.reduce_mean(losses) + 1e-4 * tf.add_n(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))
predictions = tf.argmax(tf.nn.softmax(logits), axis=1)
accuracy = tf.reduce_mean(tf.cast(tf.equal(predictions, labels), tf.float32))
tf.summary.scalar("loss", loss)
merged = tf.summary.merge_all()
optimizer = tf.train.AdamOptimizer(learning_rate=1e-3, beta1=0.9)
grads_and_vars = optimizer.compute_gradients(loss, var_list=tf.trainable_variables())
capped = [(tf.clip_by_value(grad, -1.0, 1.0), var) for grad, var in grads_and_vars if grad is not None]
train_op = optimizer.apply_gradients(capped)

rng = np.random.RandomState(0)
batch = {images: rng.rand(5, 8, 8, 1), labels: rng.randint(0, 3, size=5)}
with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
    tf.global_variables_initializer().run()
    summary, acc, _ = sess.run([merged, accuracy, train_op], batch)
    print(len(summary), acc.dtype, accuracy.eval(batch), tf.trainable_variables()[0].name.split("/")[0])
