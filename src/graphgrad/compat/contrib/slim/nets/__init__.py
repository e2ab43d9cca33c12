"""`tf.contrib.slim.nets` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.contrib.slim.nets.inception: inception=.
graphgrad.compat.contrib.slim.nets.inception_v3: inception_v3=.
graphgrad.compat.contrib.slim.nets.resnet_utils: resnet_utils=.
graphgrad.compat.contrib.slim.nets.resnet_v1: resnet_v1=.
graphgrad.compat.contrib.slim.nets.resnet_v2: resnet_v2=.
graphgrad.compat.contrib.slim.nets.vgg: vgg=.
""")
