"""Records what strategies of `tf.distribute` do in TensorFlow, into `tests/recorded/distribute.json`.

Run it with an interpreter that has TensorFlow 2.21: `python -m tests.record.distribute`.
"""

from __future__ import annotations

import json

from tests.record import RECORDED


def main() -> None:
    """Runs every case, on two logical devices."""
    import tensorflow as tf

    from tests.extras.distribute.cases import CASES, outcome

    (cpu,) = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    found = {}
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])  # a second one would fail, in TensorFlow
    for name, function in CASES.items():
        found[name] = outcome(lambda f=function: f(tf, strategy))
        print(name, str(found[name])[:100])
    (RECORDED / "distribute.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
