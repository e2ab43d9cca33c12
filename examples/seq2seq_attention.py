import tensorflow as tf

# Strings of digits, written backwards: an LSTM encoder, a decoder with attention that is trained with given inputs
# (TrainingHelper) and then writes by itself (GreedyEmbeddingHelper), as programs for TensorFlow 1.x do it.

import numpy as np

from tensorflow.contrib import seq2seq

DIGITS, START, END = 10, 10, 11
SYMBOLS, LONGEST, BATCH, UNITS, SIZE = 12, 6, 64, 48, 16
random = np.random.RandomState(0)


def batch(size):
    lengths = random.randint(2, LONGEST + 1, size=size)
    words = np.full([size, LONGEST], END)
    answers = np.full([size, LONGEST + 1], END)
    for row, n in enumerate(lengths):
        words[row, :n] = random.randint(DIGITS, size=n)
        answers[row, :n] = words[row, :n][::-1]
    return words, lengths, answers


tf.set_random_seed(0)
words = tf.placeholder(tf.int32, [None, LONGEST], name="words")
lengths = tf.placeholder(tf.int32, [None], name="lengths")
answers = tf.placeholder(tf.int32, [None, LONGEST + 1], name="answers")
count = tf.shape(words)[0]
init = tf.random_uniform_initializer(-0.3, 0.3, seed=1)

with tf.variable_scope("model", initializer=init):
    embedding = tf.get_variable("embedding", [SYMBOLS, SIZE])
    outputs, state = tf.nn.dynamic_rnn(
        tf.nn.rnn_cell.BasicLSTMCell(UNITS), tf.nn.embedding_lookup(embedding, words), lengths, dtype=tf.float32,
        scope="encoder")
    attention = seq2seq.LuongAttention(UNITS, outputs, lengths, scale=True)
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.BasicLSTMCell(UNITS), attention, attention_layer_size=UNITS)
    start = cell.zero_state(count, tf.float32).clone(cell_state=state)
    project = tf.layers.Dense(SYMBOLS, use_bias=False, name="project")

    begin = tf.fill([count, 1], START)
    given = tf.nn.embedding_lookup(embedding, tf.concat([begin, answers[:, :-1]], 1))
    helper = seq2seq.TrainingHelper(given, lengths + 1)
    decoded, _, _ = seq2seq.dynamic_decode(seq2seq.BasicDecoder(cell, helper, start, project))
    logits = decoded.rnn_output
    steps = tf.shape(logits)[1]
    weights = tf.sequence_mask(lengths + 1, steps, dtype=tf.float32)
    loss = seq2seq.sequence_loss(logits, answers[:, :steps], weights)

    greedy = seq2seq.GreedyEmbeddingHelper(embedding, tf.fill([count], START), END)
    written, _, _ = seq2seq.dynamic_decode(seq2seq.BasicDecoder(cell, greedy, start, project),
                                           maximum_iterations=LONGEST + 1)

variables = tf.trainable_variables()
clipped, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 1.0)
done = tf.train.create_global_step()
rate = tf.train.exponential_decay(0.01, done, 100, 0.5)  # else the loss jumps now and then
train = tf.train.AdamOptimizer(rate).apply_gradients(zip(clipped, variables), done)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(401):
        w, n, a = batch(BATCH)
        value, _ = sess.run([loss, train], {words: w, lengths: n, answers: a})
        if step % 200 == 0:
            print("step %3d: loss %.4f" % (step, value))
    w, n, a = batch(200)
    found = sess.run(written.sample_id, {words: w, lengths: n})
    right = [found[i, : n[i] + 1].tolist() == a[i, : n[i] + 1].tolist() for i in range(200)]
    print("written backwards without a mistake: %d of 200" % sum(right))
    for i in range(3):
        asked, got = w[i, : n[i]], found[i, : list(found[i]).index(END)]
        print("".join(map(str, asked)), "->", "".join(map(str, got)))
