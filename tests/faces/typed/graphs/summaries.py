"""Event files, images as summaries, strings, print operations."""

import tempfile

import graphgrad.compat.v1 as tf

x = tf.random_uniform([1, 4, 4, 3], seed=3)
w = tf.Variable(tf.ones([3]))
with tf.name_scope("summaries"):
    mean = tf.reduce_mean(w)
    tf.summary.scalar("mean", mean)
    tf.summary.histogram("w", w)
    tf.summary.image("x", x, max_outputs=1)
merged = tf.summary.merge_all()
some = tf.summary.merge([tf.summary.scalar("twice", mean * 2)])
printed = tf.Print(mean, [mean], message="mean: ")
text = tf.string_join(["a", tf.as_string(tf.cast(mean, tf.int32))], separator="-")
parts = tf.string_split(["a b c"]).values
writer = tf.summary.FileWriter(tempfile.mkdtemp(), tf.get_default_graph())
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(2):
        summary, _ = sess.run([merged, some])
        writer.add_summary(summary, step)
    writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="own", simple_value=1.0)]), 2)
    print(sess.run(text).decode(), sess.run(parts).tolist(), sess.run(printed))
writer.close()
