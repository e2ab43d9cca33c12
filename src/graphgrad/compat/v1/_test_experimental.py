"""`tf.test.experimental`."""

from graphgrad.testing.stubs import sync_devices as sync_devices
