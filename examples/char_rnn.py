import tensorflow as tf

# A character model of "The Zen of Python" (the module `this`): dynamic_rnn over two LSTM layers, truncated
# backpropagation with a state that is fed back, clipping, a Saver, and greedy sampling from the restored model.

import codecs
import contextlib
import io
import os
import tempfile

import numpy as np

with contextlib.redirect_stdout(io.StringIO()):
    import this

text = codecs.decode(this.s, "rot13")
letters = sorted(set(text))
number = {c: i for i, c in enumerate(letters)}
codes = np.array([number[c] for c in text], np.int32)
BATCH, STEPS, UNITS = 8, 20, 48

tf.set_random_seed(0)
inputs = tf.placeholder(tf.int32, [None, None])
targets = tf.placeholder(tf.int32, [None, None])
init = tf.random_uniform_initializer(-0.25, 0.25, seed=1)
with tf.variable_scope("model", initializer=init):
    embedding = tf.get_variable("embedding", [len(letters), 24])
    cells = [tf.nn.rnn_cell.BasicLSTMCell(UNITS) for _ in range(2)]
    cell = tf.nn.rnn_cell.MultiRNNCell(cells)
    start = cell.zero_state(tf.shape(inputs)[0], tf.float32)
    outputs, final = tf.nn.dynamic_rnn(cell, tf.nn.embedding_lookup(embedding, inputs), initial_state=start)
    W = tf.get_variable("W", [UNITS, len(letters)])
    b = tf.get_variable("b", [len(letters)], initializer=tf.zeros_initializer())
logits = tf.tensordot(outputs, W, 1) + b
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=targets, logits=logits))

variables = tf.trainable_variables()
clipped, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 5.0)
train = tf.train.AdamOptimizer(0.01).apply_gradients(zip(clipped, variables))
saver = tf.train.Saver()

length = (len(codes) - 1) // BATCH
x = codes[: BATCH * length].reshape(BATCH, length)
y = codes[1 : BATCH * length + 1].reshape(BATCH, length)
folder = tempfile.mkdtemp()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(12):
        losses, state = [], None
        for i in range(0, length - STEPS, STEPS):
            feed = {inputs: x[:, i : i + STEPS], targets: y[:, i : i + STEPS]}
            if state is not None:
                feed[start] = state
            value, state, _ = sess.run([loss, final, train], feed)
            losses.append(value)
        if epoch % 2 == 1:
            print("epoch %2d: loss %.3f" % (epoch + 1, np.mean(losses)))
    path = saver.save(sess, os.path.join(folder, "model"), global_step=12)
print("saved:", os.path.basename(path))

with tf.Session() as sess:
    saver.restore(sess, tf.train.latest_checkpoint(folder))
    feed = {inputs: x[:, :STEPS], targets: y[:, :STEPS]}
    print("loss of the restored model: %.3f" % sess.run(loss, feed))
    state, code, sampled = None, number["T"], "T"
    for _ in range(30):
        feed = {inputs: [[code]]}
        if state is not None:
            feed[start] = state
        scores, state = sess.run([logits, final], feed)
        code = int(scores[0, 0].argmax())
        sampled += letters[code]
    print("it writes:", repr(sampled))
