"""`tf.test.experimental` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.testing.stubs import sync_devices as sync_devices

__all__ = [
    "sync_devices"
]
