"""A recurrent network with gradient clipping."""

import numpy as np

import graphgrad.compat.v1 as tf

batch_size, length, size = 2, 5, 3
inputs = tf.placeholder(tf.float32, [batch_size, length, size])
lengths = tf.placeholder(tf.int32, [batch_size])
cells = [tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.LSTMCell(4), output_keep_prob=0.9) for _ in range(2)]
cell = tf.nn.rnn_cell.MultiRNNCell(cells)
outputs, state = tf.nn.dynamic_rnn(cell, inputs, sequence_length=lengths, dtype=tf.float32)
last = outputs[:, -1, :]
loss = tf.reduce_sum(tf.square(last)) + tf.reduce_mean(state[-1].h)
variables = tf.trainable_variables()
gradients, norm = tf.clip_by_global_norm(tf.gradients(loss, variables), 1.0)
step = tf.Variable(0, trainable=False, name="step")
train = tf.train.RMSPropOptimizer(0.01).apply_gradients(zip(gradients, variables), global_step=step)
(fw, bw), (state_fw, _) = tf.nn.bidirectional_dynamic_rnn(
    tf.nn.rnn_cell.GRUCell(2), tf.nn.rnn_cell.GRUCell(2), inputs, dtype=tf.float32, scope="both")
both = tf.concat([fw, bw], axis=2)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    feed = {inputs: np.ones((batch_size, length, size)), lengths: [5, 3]}
    _, size_of_gradient = sess.run([train, norm], feed)
    assert size_of_gradient > 0 and sess.run(step) == 1
    assert sess.run(both, feed).shape == (2, 5, 4) and sess.run(state_fw, feed).shape == (2, 2)
