"""What TensorFlow takes, and what it refuses: arguments, indices, conditions, signatures, messages."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ..harness import case, raised

_numbers = itertools.count()


def _thrice(tf: Any, fetches: Any, feeds: Any = None) -> Any:
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run(fetches, feeds) for _ in range(3)]


def _squared(tf: Any, y: Any, x: Any) -> list[Any]:
    """y, and the gradient of its square."""
    return [y, tf.convert_to_tensor(tf.gradients(y * y, x)[0])]


# -- pooling ---------------------------------------------------------------------------------


@case("graph")
def pools_over_channels(tf: Any) -> Any:
    x = tf.constant(np.arange(32.0, dtype=np.float32).reshape(2, 2, 2, 4) % 7)
    hidden = tf.placeholder_with_default(x, [None] * 4)
    two, all_of_them = [1, 1, 1, 2], [1, 1, 1, 4]
    fetches = [tf.nn.max_pool(x, two, two, "SAME"), tf.nn.max_pool(x, all_of_them, all_of_them, "VALID"),
               tf.nn.max_pool(hidden, two, two, "SAME")]
    return _thrice(tf, fetches), tf.nn.max_pool(hidden, two, two, "SAME").shape.as_list()


@case("eager")
def pools_over_channels_that_do_not_fit(tf: Any) -> Any:
    x = tf.ones([2, 2, 2, 4])
    sizes = [([1, 1, 1, 3], [1, 1, 1, 3]), ([1, 1, 1, 2], [1, 1, 1, 1]), ([1, 2, 1, 2], [1, 2, 1, 2])]
    found = [raised(lambda s=s: tf.compat.v1.nn.max_pool(x, s[0], s[1], "SAME")) != "nothing" for s in sizes]
    padding = [[0, 0], [2, 0], [1, 0], [0, 0]], [[1, 0], [1, 0], [1, 1], [0, 0]]
    return found, [raised(lambda p=p: tf.nn.max_pool2d(x, 2, 2, p)) for p in padding]


@case("eager")
def pools_with_explicit_padding(tf: Any) -> Any:
    x = tf.constant(np.arange(18.0, dtype=np.float32).reshape(2, 3, 3, 1) % 5 - 3)
    found = []
    for size, step in ((2, 2), (2, 1), (3, 2)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.max_pool2d(x, size, step, [[0, 0], [1, 0], [1, 1], [0, 0]])
            total = tf.reduce_sum(y * y)
        found.append([y, tape.gradient(total, x)])
    return found


@case("eager")
def pools_and_filters_of_empty_batches(tf: Any) -> Any:
    x = tf.zeros([0, 4, 4, 3])
    layers = [lambda x: tf.nn.max_pool2d(x, 2, 2, "SAME"), lambda x: tf.nn.avg_pool2d(x, 2, 2, "SAME"),
              lambda x: tf.nn.max_pool3d(x[..., None], 2, 2, "SAME"),
              lambda x: tf.nn.max_pool2d(x, 2, 2, [[0, 0], [1, 0], [1, 1], [0, 0]]),
              lambda x: tf.nn.conv2d(x, tf.ones([2, 2, 3, 5]), 1, "SAME"),
              lambda x: tf.nn.depthwise_conv2d(x, tf.ones([2, 2, 3, 5]), [1, 1, 1, 1], "SAME")]
    found = []
    for layer in layers:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = layer(x)
        found.append([y.shape.as_list(), tape.gradient(y, x).shape.as_list()])
    return found, raised(lambda: tf.nn.max_pool_with_argmax(x, 2, 2, "SAME"))


# -- indices ---------------------------------------------------------------------------------


@case("graph")
def gathers_from_a_variable_in_batches(tf: Any) -> Any:
    v = tf.get_variable("v", initializer=np.arange(12.0, dtype=np.float32).reshape(2, 3, 2), use_resource=True)
    raw = tf.raw_ops.ResourceGather(resource=v.handle, indices=[[0, 2], [1, 1]], dtype=tf.float32, batch_dims=1)
    return _thrice(tf, [raw, *_squared(tf, tf.gather(v, [[0, 2], [1, 1]], batch_dims=1), v)]), raw.shape.as_list()


@case("graph")
def indices_of_16_bits(tf: Any) -> Any:
    x, i = tf.constant([0.0, 1.0, 2.0, 3.0]), tf.constant([3, 1], tf.int16)
    rows = tf.reshape(x, [1, 4])
    found = [tf.gather(x, i), tf.gather(rows, i, axis=1), tf.gather_nd(x, i[:, None])]
    fetches = []
    for y in found:
        g = tf.gradients(y * y, x)[0]
        fetches += [y, g] if isinstance(g, tf.Tensor) else [y, g.values, g.indices]
    cubes = tf.hessians(tf.reduce_sum(tf.gather(x, i) ** 3), x)
    plain = tf.raw_ops.StridedSlice(input=x, begin=i[1:], end=i[:1], strides=tf.constant([1], tf.int16))
    return _thrice(tf, [fetches, cubes, plain]), raised(lambda: tf.gather(x, tf.constant([1], tf.int8)))


@case("graph")
def indices_out_of_range_are_ignored(tf: Any) -> Any:
    x, i = tf.constant([1.0, 2.0, 3.0]), tf.placeholder(tf.int32, [None, 1])
    pairs = tf.constant([[0, 1], [0, 9], [1, -1]])
    wide = tf.gather_nd(tf.stack([x, x]), pairs, bad_indices_policy="IGNORE")
    fetches = [tf.gather_nd(x, i, bad_indices_policy="IGNORE"), *_squared(tf, wide, x),
               tf.scatter_nd(i, x, [3], bad_indices_policy="IGNORE")]
    for name in ("Add", "Sub", "Max", "Min"):
        f = getattr(tf.raw_ops, f"TensorScatter{name}")
        fetches.append(f(tensor=x, indices=i, updates=[10.0, 20.0, 30.0], bad_indices_policy="IGNORE"))
    refused = tf.gather_nd(x, i, bad_indices_policy="ERROR")
    feeds = {i: [[0], [7], [-1]]}
    return _thrice(tf, fetches, feeds), raised(lambda: _thrice(tf, refused, feeds))


@case("graph")
def subscripts_that_take_all(tf: Any) -> Any:
    x, v = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.Variable([1.0, 2.0])
    return _thrice(tf, [*_squared(tf, x[()], x), tf.constant(3.0)[()], v[()], x[...]])


@case("graph")
def einsums_with_an_ellipsis_of_one_operand(tf: Any) -> Any:
    a, b = tf.constant(np.arange(12.0, dtype=np.float32).reshape(2, 2, 3)), tf.constant([1.0, 2.0, 3.0])
    found = []
    for equation in ("...ab,b->ab...", "...ab,b->a...b", "...ab,b->...", "...ab,b->...a"):
        y = tf.einsum(equation, a, b)
        g = tf.gradients(y * y, [a, b])
        found += [y, *g, tf.gradients(tf.reduce_sum(g[1] ** 2), b)[0]]
    return _thrice(tf, found)


# -- conversion ------------------------------------------------------------------------------


@case("graph")
def lists_of_tensors_are_cast(tf: Any) -> Any:
    x, i = tf.constant(1.5, tf.float64), tf.constant(1)
    table = [[x, 1.0], [2.0, x]]
    made = [tf.convert_to_tensor([x, x], dtype=tf.float32), tf.convert_to_tensor(table, dtype=tf.float32),
            tf.convert_to_tensor([i, i], dtype=tf.float32), tf.convert_to_tensor([x], preferred_dtype=tf.float32),
            tf.ones([2]) * [x, x]]
    return _thrice(tf, [*made, *tf.gradients(made[0] ** 2, x)]), raised(
        lambda: tf.convert_to_tensor([x, tf.constant(1.0)]))


@case("eager")
def objects_that_convert_themselves(tf: Any) -> Any:
    class Meters:
        def __init__(self, value: Any):
            self.value = value

        def __tf_tensor__(self, dtype: Any = None, name: Any = None) -> Any:
            return tf.convert_to_tensor(self.value, dtype=dtype, name=name)

    x, a = tf.constant(2.0), Meters([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.multiply(Meters(x * x), 3.0)
    made = [tf.convert_to_tensor(a), tf.convert_to_tensor(a, dtype=tf.float64), tf.add(a, 1.0), tf.ones([2]) * a]
    return made, [y, tape.gradient(y, x)], tf.function(lambda: tf.reduce_sum(a))(), tf.stack([a, a])


# -- conditions and loops --------------------------------------------------------------------


@case("graph")
def conditions_of_one_element(tf: Any) -> Any:
    x = tf.constant(3.0)
    p, q = tf.placeholder(tf.bool), tf.placeholder(tf.bool, [1, 1])
    found = []
    for condition, values in ((p, [[[True]], [False], True]), (q, [[[True]], [[False]]])):
        y = tf.cond(condition, lambda: x * x, lambda: x)
        z = tf.case([(condition, lambda: x * x)], default=lambda: x)
        for value in values:
            found.append(_thrice(tf, [y, *tf.gradients(y, x), z], {condition: value}))
    loop = tf.while_loop(lambda i: tf.reshape(i < 3, [1, 1]), lambda i: i + 1, [tf.constant(0)])
    y = tf.cond(p, lambda: x * x, lambda: x)
    return found, _thrice(tf, loop), [raised(lambda v=v: _thrice(tf, y, {p: v})) for v in ([True, False], [])]


@case("graph")
def shape_invariants_as_specs(tf: Any) -> Any:
    x = tf.constant([2.0])

    def loop(*invariants: Any) -> Any:
        return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.concat([a, a * x], 0)), [tf.constant(0), x],
                             shape_invariants=list(invariants))[1]

    y = loop(tf.TensorSpec([], tf.int32), tf.TensorSpec([None], tf.float32))
    mixed = loop(tf.TensorShape([]), tf.TensorSpec([None], tf.float32))
    wrong = [tf.TensorSpec([None], tf.int32), tf.TensorSpec([3], tf.float32), "a"]
    found = [raised(lambda w=w: loop(tf.TensorShape([]), w)) for w in wrong]
    return _thrice(tf, [*_squared(tf, y, x), mixed]), y.shape.as_list(), found


@case("eager")
def bodies_that_return_another_structure(tf: Any) -> Any:
    def loop(result: Any) -> Any:
        return tf.while_loop(lambda i, a: i < 3, lambda i, a: result(i, a), [tf.constant(0), tf.constant(1.0)])

    bodies = [lambda i, a: (i + 1, a, a), lambda i, a: i + 1, lambda i, a: (i + 1, [a]), lambda i, a: None]
    eager = [raised(lambda b=b: loop(b)) for b in bodies]
    with tf.Graph().as_default():
        graph = [raised(lambda b=b: loop(b)) for b in bodies]
    v1 = tf.compat.v1.while_loop(lambda i: i < 3, lambda i: [i + 1], [tf.constant(0)])
    return eager, graph, loop(lambda i, a: (i + 1, a * 2.0)), v1


@case("graph", differs="shapes are known inside of bodies as far as outside",
      expected=[[np.float32(517)] * 3, [[3], 1, [2, 3]]])
def bodies_know_constants(tf: Any) -> Any:
    shapes = []
    n, k = tf.constant([2, 3]), tf.constant(2)

    def body(i: Any, a: Any) -> Any:
        c = tf.constant(2.0) * 3.0
        shapes.append(tf.zeros(tf.constant([2]) + 1).shape.as_list())
        shapes.append(tf.reduce_sum(tf.ones([2, 3]), k - 1).shape.ndims)
        shapes.append(tf.reshape(tf.range(6), tf.stack([2, -1])).shape.as_list())
        return i + 1, a * c + tf.reduce_sum(tf.zeros(n)) + tf.reduce_sum(tf.nn.top_k(tf.range(5.0), k)[0])

    r = tf.while_loop(lambda i, a: i < 3, body, [tf.constant(0), tf.constant(1.0)])
    return _thrice(tf, r[1]), shapes


# -- functions in a graph --------------------------------------------------------------------


def _function(tf: Any, f: Any, **options: Any) -> Any:
    """`tf.function`, of which tensorflow.compat.v1 has none by that name."""
    v2 = getattr(getattr(tf, "compat", None), "v2", tf)
    return v2.function(f, **options)


@case("graph")
def functions_with_a_signature_in_a_graph(tf: Any) -> Any:
    x, ph = tf.constant(3.0), tf.placeholder(tf.float32)
    f = _function(tf, lambda a: a * a * x, input_signature=[tf.TensorSpec([], tf.float32)])
    rows = _function(tf, lambda a: a * float(a.shape[1]), input_signature=[tf.TensorSpec([None, 2], tf.float32)])
    y = f(x)
    fetches = [y, f(2.0), f(2), tf.gradients(y, x)[0], rows(ph), rows(np.ones([1, 2]))]
    found = [raised(lambda a=a: f(a)) for a in (tf.constant([1.0]), tf.constant(1), "a")]
    return _thrice(tf, fetches, {ph: [[1.0, 2.0]]}), found, rows(ph).shape.as_list()


@case("graph")
def concrete_functions_capture_from_a_graph(tf: Any) -> Any:
    x, ph = tf.constant(3.0), tf.placeholder(tf.float32, [])
    v = tf.get_variable("v", initializer=2.0, use_resource=True)
    inner = _function(tf, lambda a: a * x)
    spec = tf.TensorSpec([], tf.float32)
    functions = [lambda a: a * x * x, lambda a: a * v * v, lambda a: a * ph * ph, lambda a: inner(a) + x]
    fetches = []
    for f, source in zip(functions, (x, v, ph, x), strict=True):
        y = _function(tf, f).get_concrete_function(spec)(tf.constant(5.0))
        fetches += [y, *tf.gradients(y, source)]
    signed = _function(tf, lambda a: a * x, input_signature=[spec]).get_concrete_function()
    captured = _function(tf, lambda a: a * ph).get_concrete_function(tf.constant(5.0)).captured_inputs
    return _thrice(tf, [*fetches, signed(tf.constant(2.0))], {ph: 4.0}), len(captured), captured[0] is ph


# -- sessions --------------------------------------------------------------------------------


@case("graph")
def settings_are_messages(tf: Any) -> Any:
    c = tf.ConfigProto(device_count={"CPU": 2}, device_filters=["a"], gpu_options=tf.GPUOptions(allow_growth=True))
    unset = [c.allow_soft_placement, c.intra_op_parallelism_threads, c.gpu_options.visible_device_list,
             c.graph_options.rewrite_options.min_graph_nodes, c.experimental.executor_type, len(c.cluster_def.job)]
    c.device_count["GPU"] = 0
    c.gpu_options.per_process_gpu_memory_fraction = 0.5
    c.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_1
    c.graph_options.rewrite_options.optimizers.append("constfold")
    c.graph_options.rewrite_options.custom_optimizers.add().name = "x"
    c.gpu_options.experimental.virtual_devices.add(memory_limit_mb=[100.0])
    c.experimental.collective_group_leader = "/job:worker"
    d = tf.ConfigProto(allow_soft_placement=True)
    d.MergeFrom(c)
    e = tf.ConfigProto.FromString(d.SerializeToString())
    same = e == d
    e.gpu_options.ClearField("allow_growth")
    del d.device_count["CPU"]  # whose order nobody promises
    wrong = [lambda: tf.ConfigProto(nothing=1), lambda: c.nothing, lambda: setattr(c, "nothing", 1),
             lambda: setattr(c, "gpu_options", tf.GPUOptions()), lambda: tf.ConfigProto(allow_soft_placement="a")]
    return unset, str(d), same, e.gpu_options.allow_growth, d.HasField("rpc_options"), [raised(w) for w in wrong]


@case("graph")
def runs_have_options_and_metadata(tf: Any) -> Any:
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True, timeout_in_ms=10000)
    watch = options.debug_options.debug_tensor_watch_opts.add(node_name="a")
    watch.debug_ops.append("DebugIdentity")
    metadata, x = tf.RunMetadata(), tf.placeholder_with_default(2.0, [])
    with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=10000)) as sess:
        values = [sess.run(x * 3.0, options=options, run_metadata=metadata) for _ in range(3)]
    device = metadata.step_stats.dev_stats[0]
    filled = [len(metadata.partition_graphs) > 0, len(device.node_stats) > 0, device.node_stats[0].node_name != ""]
    levels = [tf.RunOptions.TraceLevel.Value("FULL_TRACE"), tf.RunOptions.TraceLevel.Name(1)]
    nested = [tf.RunOptions.Experimental(collective_graph_key=1).collective_graph_key, len(metadata.function_graphs)]
    return values, filled, levels, nested, str(options)


@case("graph")
def runs_in_parts(tf: Any) -> Any:
    x, y, z = (tf.placeholder(tf.float32, []) for _ in range(3))
    v, drawn = tf.Variable(1.0), tf.random_uniform([], seed=1) * tf.constant(2.0)
    total = x + y
    product, later, up = total * z + 0.0 * v, drawn + 0.0 * x, v.assign_add(x)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        found = []
        for k in range(3):
            handle = sess.partial_run_setup([total, product], [x, y, z])
            first = sess.partial_run(handle, total, {x: 1.0 + k, y: 2.0})
            found.append([first, sess.partial_run(handle, {"p": [product]}, {z: first * 17.0})])
        handle = sess.partial_run_setup([drawn, later, up.op], [x])
        same = bool(sess.partial_run(handle, drawn) == sess.partial_run(handle, later, {x: 3.0}))
        return found, same, sess.run(v)


@case("graph")
def runs_in_parts_that_do_not_fit(tf: Any) -> Any:
    x, y, z = (tf.placeholder(tf.float32, []) for _ in range(3))
    total = x + y
    product = total * z
    with tf.Session() as sess:

        def step(fetches: Any, feeds: Any, announced: Any = None) -> str:
            handle = sess.partial_run_setup(announced or [total, product], [x, y, z])
            return raised(lambda: sess.partial_run(handle, fetches, feeds))

        handle = sess.partial_run_setup([total, product], [x, y, z])
        twice = [raised(lambda: sess.partial_run(handle, total, {x: 1.0, y: 1.0})),
                 raised(lambda: sess.partial_run(handle, product, {x: 1.0, z: 1.0}))]
        return [step(product, {x: 1.0}), step(product, {x: 1.0, y: 1.0, z: 1.0}, [total]), step(product.op, {x: 1.0}),
                raised(lambda: sess.partial_run("nothing", total)), twice]


@case("graph")
def gradients_weighted_with_one_number(tf: Any) -> Any:
    x, v, one = tf.constant(3.0), tf.constant([1.0, 2.0]), tf.constant([2.0])
    ys = [(tf.reduce_sum(v * v), v), (tf.reduce_mean(v * v), v), (tf.tensordot(v, v, 1), v), (v * v, v), (x, x)]
    refused = [x * x, tf.exp(x), tf.identity(x), -x, tf.cond(x > 1.0, lambda: x * x, lambda: x)]
    fed = tf.placeholder(tf.float32)
    fetches = [tf.gradients(y, source, one)[0] for y, source in ys]
    wide = raised(lambda: tf.gradients(v * v, v, tf.constant([[2.0, 3.0]])))
    return _thrice(tf, [*fetches, tf.gradients(tf.reduce_sum(v * v), v, fed)[0]], {fed: [1.0]}), wide, [
        raised(lambda y=y: tf.gradients(y, x, one)) for y in refused]


@case("graph")
def variables_of_a_message(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0], name="v", use_resource=True)
    message = v.to_proto()
    w = tf.Variable(variable_def=message)
    graph = tf.get_default_graph().as_graph_def()
    both = raised(lambda: tf.Variable(1.0, variable_def=message))
    facts = [w.name, w.initializer.name, w.shape.as_list(), w.trainable, len(tf.global_variables())]
    with tf.Session() as sess:
        sess.run(w.initializer)
        up, slope = w.assign_add([1.0, 1.0]), tf.gradients(tf.reduce_sum(w * w), w)[0]
        found = [[sess.run(up), sess.run(slope)] for _ in range(3)]
        found.append(sess.run(v))
    with tf.Graph().as_default():
        tf.import_graph_def(graph, name="imported")
        facts.append(tf.Variable(variable_def=message, import_scope="imported").name)
        facts.append(raised(lambda: tf.Variable(variable_def=message)))
    return found, facts, both


# -- assignments, devices, slots -------------------------------------------------------------


@case("graph")
def slices_are_assigned(tf: Any) -> Any:
    v = tf.get_variable("v", initializer=[1.0, 2.0, 3.0], use_resource=True)
    one, two = tf.assign(v[0], 9.0), tf.assign(v[1:], [7.0, 8.0])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        found = [sess.run(one), sess.run(v), sess.run(two), sess.run(v)]
    return found, raised(lambda: tf.assign(tf.constant(1.0), 2.0)) != "nothing"


@case("eager")
def slices_are_assigned_eagerly(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0, 3.0])
    first, every = tf.compat.v1.assign(v[0], 9.0).numpy(), v[()].assign([8.0, 9.0, 1.0]).numpy()
    return first, every, v[1:].assign([4.0, 5.0]).numpy()


@case("graph")
def devices_by_their_kind_alone(tf: Any) -> Any:
    found = []
    for name in ("CPU", "cpu", "CPU:0", "/cpu:0"):
        with tf.device(name):
            c = tf.constant(1.0)
        found.append([c.device, _thrice(tf, c + 1.0)])
    with tf.device("CPU"), tf.device("/job:worker"):
        merged = tf.constant(1.0).device

    def nonsense() -> Any:
        with tf.device("nonsense"):
            return tf.constant(1.0)

    return found, merged, raised(nonsense)


@case("eager")
def slots_have_names(tf: Any) -> Any:
    train, found = tf.compat.v1.train, []
    for optimizer in (train.AdamOptimizer(0.1), train.MomentumOptimizer(0.1, 0.9), train.RMSPropOptimizer(0.1)):
        base = f"w{next(_numbers)}"  # names that came up before in the process get a number
        w, u = tf.Variable([1.0, 2.0], name=base), tf.Variable([1.0, 2.0], name=base)
        for _ in range(2):
            optimizer.minimize(lambda w=w, u=u: tf.reduce_sum(w * w + u), var_list=[w, u])
        names = [[optimizer.get_slot(v, n).name for n in optimizer.get_slot_names()] for v in (w, u)]
        found.append([[n.replace(base, "w") for ns in names for n in ns], len(optimizer.variables()), w])
    return found


# -- what is refused -------------------------------------------------------------------------


@case("eager")
def axes_and_batches_that_cannot_be(tf: Any) -> Any:
    a = tf.ones([2, 2])
    indices = tf.constant([[0]])
    calls = [lambda: tf.concat([a, a], axis=1.0), lambda: tf.concat([a], axis=1.0), lambda: tf.concat([a, a], None),
             lambda: tf.gather_nd(a, indices, batch_dims=-1), lambda: tf.gather_nd(a, indices, batch_dims=2),
             lambda: tf.gather(a, indices, batch_dims=2)]
    mismatched = [raised(lambda: tf.gather_nd(a, indices, batch_dims=1)) != "nothing",
                  raised(lambda: tf.gather(a, indices, batch_dims=1, axis=1)) != "nothing"]
    return [raised(c) for c in calls], mismatched


@case("graph")
def offsets_of_what_cannot_be_joined(tf: Any) -> Any:
    shape = tf.placeholder(tf.int32, [2])
    right, wrong = [tf.raw_ops.ConcatOffset(concat_dim=d, shape=[shape, [2, 4]]) for d in (1, 0)]
    others = [lambda: tf.raw_ops.ConcatOffset(concat_dim=5, shape=[shape, [2, 3]]),
              lambda: tf.raw_ops.ConcatOffset(concat_dim=0, shape=[shape, [2]])]
    feeds = {shape: [2, 3]}
    found = [raised(lambda c=c: _thrice(tf, c(), feeds)) != "nothing" for c in others]
    return _thrice(tf, right, feeds), raised(lambda: _thrice(tf, wrong, feeds)), found


@case("eager")
def variables_of_another_dtype(tf: Any) -> Any:
    raw, v = tf.raw_ops, tf.Variable([1.0])
    calls = [lambda v: raw.ReadVariableOp(resource=v.handle, dtype=tf.float64),
             lambda v: raw.AssignVariableOp(resource=v.handle, value=tf.constant([1])),
             lambda v: raw.AssignAddVariableOp(resource=v.handle, value=tf.constant([1])),
             lambda v: raw.ResourceScatterAdd(resource=v.handle, indices=[0], updates=tf.constant([1]))]
    with tf.Graph().as_default():
        w = tf.Variable([1.0])
        graph = [raised(lambda c=c: c(w)) for c in calls[:2]]
    return [raised(lambda c=c: c(v)) for c in calls], graph, v


@case("eager")
def checked_gradients_of_nothing(tf: Any) -> Any:
    def wrong(value: Any) -> Any:
        @tf.custom_gradient
        def f(x: Any) -> Any:
            return tf.zeros([0]) * tf.reduce_sum(x), lambda dy: value

        return f

    x = np.zeros([0, 3], np.float32)
    right = [t.shape for part in tf.test.compute_gradient(lambda x: x * x, [x]) for t in part]
    values = [tf.ones([2]), tf.ones([3]), tf.zeros([2])]
    return right, [raised(lambda v=v: tf.test.compute_gradient(wrong(v), [np.ones([2], np.float32)])) for v in values]
