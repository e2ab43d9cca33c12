"""Graphs, sessions, devices, names, fetches by name, interactive use."""

import graphgrad.compat.v1 as tf

graph = tf.Graph()
with graph.as_default(), tf.name_scope("part") as scope:
    with tf.device("/cpu:0"):
        a = tf.placeholder_with_default(2.0, shape=[], name="a")
        b = tf.identity(a * a, name="b")
    with tf.variable_scope("weights", initializer=tf.constant_initializer(3.0)) as vs:
        w = tf.get_variable("w", shape=[])
    update = tf.assign_add(w, 1.0)
    initializer = tf.variables_initializer([w])
with tf.Session(graph=graph) as sess:
    sess.run(initializer)
    print(sess.run("part/b:0", feed_dict={"part/a:0": 4.0}), sess.run(update) + 1.0)
    again = sess.make_callable(b, feed_list=[a])
    value: float = again(3.0)
    assert value == 9.0 and tf.get_default_session().run(w) == 4.0
    for op in graph.get_operations():
        assert op.name and op.type and len(op.outputs) >= 0 and len(op.inputs) >= 0
    print(scope, vs.name, b.op.node_def.name, b.device, b.consumers(), graph.as_graph_def().node[0].name)
    print(graph.get_operation_by_name("part/b").outputs[0] is b, tf.trainable_variables(), w.initializer, w.op.type)
with graph.as_default():
    interactive = tf.InteractiveSession()
    tf.global_variables_initializer().run()
    print(b.eval(), w.eval(), update.eval(), (b + w).eval(feed_dict={a: 1.0}))
    interactive.close()
