"""What is counted in programs for many devices is what theory says."""

from __future__ import annotations

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from benchmarks.scale.__main__ import programs
from benchmarks.scale.counting import Collective, collectives


@pytest.mark.parametrize("devices", [4, 64])
def test_data_parallel_steps_move_the_gradients(devices: int) -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [devices, 32])
        weights = [tf.shard(tf.get_variable(f"w{i}", initializer=np.ones([32, 32], "f")), [], mesh=tf.mesh(d=devices))
                   for i in range(3)]
        h = tf.shard(x, ["d"], mesh=tf.mesh(d=devices))
        for w in weights:
            h = tf.tanh(tf.matmul(h, w))
        step = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(tf.square(h)))
        with tf.Session(config=tf.ConfigProto(device_count={"CPU": devices})) as session:
            (program,) = programs(session, step, [x])
    found = collectives(program.text(), devices)
    gradients = 3 * 4 * 32 * 32
    assert {c.kind for c in found} == {"all-reduce"}
    assert sum(c.moved for c in found) == pytest.approx(2 * (devices - 1) / devices * gradients)


def test_lines_of_programs() -> None:
    text = """
  %a = f32[8,4]{1,0} all-gather(%x), channel_id=1, replica_groups=mesh['axis_0'=2,'axis_1'=4] {'axis_1'}, dimensions={0}
  %b = (f32[16]{0}, bf16[]) all-reduce(%y, %z), replica_groups={{0,2},{1,3}}, to_apply=%add
  %c = f64[8,2]{1,0} collective-permute(%a), channel_id=2, source_target_pairs={{0,0},{1,2}}
  %d = pred[] all-reduce(%e), replica_groups=[2,4]<=[8], to_apply=%or
  %e = f32[16]{0} get-tuple-element(%all-reduce.3), index=0
"""
    found = collectives(text, 8)
    assert found == [Collective("all-gather", 128, 4), Collective("all-reduce", 66, 2),
                     Collective("collective-permute", 128, 8), Collective("all-reduce", 1, 4)]
    assert [c.moved for c in found] == [96.0, 66.0, 128.0, 1.5]
    assert [c.rounds for c in found] == [3, 2, 1, 6]
