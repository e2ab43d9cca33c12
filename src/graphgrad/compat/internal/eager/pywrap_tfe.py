"""What libraries ask of TensorFlow's runtime: `tensorflow.python.pywrap_tfe`."""

from __future__ import annotations


def TF_ListPluggablePhysicalDevices() -> list[bytes]:
    """Returns no devices: none is plugged in."""
    return []
