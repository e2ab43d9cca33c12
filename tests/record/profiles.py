"""Records profiles of graphs from TensorFlow 2.21, into tests/recorded/profiles.json."""

from __future__ import annotations

import json

from tests.profiling.profile_cases import profiles
from tests.record import RECORDED


def main() -> None:
    """Writes what `tf.profiler.profile` returns for the cases."""
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    rows = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in profiles(tf).items()]
    (RECORDED / "profiles.json").write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()
