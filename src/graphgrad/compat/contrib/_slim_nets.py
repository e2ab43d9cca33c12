"""`tf.contrib.slim.nets`."""

from graphgrad.compat.contrib import _slim_alexnet as alexnet
from graphgrad.compat.contrib import _slim_inception as inception
from graphgrad.compat.contrib import _slim_inception_v1 as inception_v1
from graphgrad.compat.contrib import _slim_inception_v3 as inception_v3
from graphgrad.compat.contrib import _slim_overfeat as overfeat
from graphgrad.compat.contrib import _slim_resnet_utils as resnet_utils
from graphgrad.compat.contrib import _slim_resnet_v1 as resnet_v1
from graphgrad.compat.contrib import _slim_resnet_v2 as resnet_v2
from graphgrad.compat.contrib import _slim_vgg as vgg

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
