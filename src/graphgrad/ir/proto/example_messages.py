"""`tf.train.Example` and its parts.

Reference: TensorFlow 2.21 example.proto, feature.proto.
"""

from __future__ import annotations

from .messages import MapOf, Message


class BytesList(Message):
    """Strings of a `Feature`.

    Args:
      **fields: `value`, a list of bytes.
    """

    FIELDS = {"value": (1, ["bytes"])}


class FloatList(Message):
    """Floats of a `Feature`.

    Args:
      **fields: `value`, a list of numbers.
    """

    FIELDS = {"value": (1, ["float"])}


class Int64List(Message):
    """Integers of a `Feature`.

    Args:
      **fields: `value`, a list of integers.
    """

    FIELDS = {"value": (1, ["int"])}


class Feature(Message):
    """Values of one kind.

    Args:
      **fields: one of `bytes_list`, `float_list`, `int64_list`.
    """

    FIELDS = {"bytes_list": (1, BytesList), "float_list": (2, FloatList), "int64_list": (3, Int64List)}
    ONEOF = {"kind": ("bytes_list", "float_list", "int64_list")}


class Features(Message):
    """Features by name.

    Args:
      **fields: `feature`, a dictionary from names to `Feature`s.
    """

    FIELDS = {"feature": (1, MapOf(Feature))}


class Example(Message):
    """A record of named features, as record files hold them and `tf.parse_example` reads them.

    Args:
      **fields: `features`, a `Features`.
    Reference: TensorFlow 2.21 `tf.train.Example`.

    >>> feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2]))
    >>> example = tf.train.Example(features=tf.train.Features(feature={"a": feature}))
    >>> tf.train.Example.FromString(example.SerializeToString()).features.feature["a"].int64_list.value
    [1, 2]
    """

    FIELDS = {"features": (1, Features)}


class FeatureList(Message):
    """The features of a sequence, step by step.

    Args:
      **fields: `feature`, a list of `Feature`s.
    """

    FIELDS = {"feature": (1, [Feature])}


class FeatureLists(Message):
    """Sequences of features by name.

    Args:
      **fields: `feature_list`, a dictionary from names to `FeatureList`s.
    """

    FIELDS = {"feature_list": (1, MapOf(FeatureList))}


class SequenceExample(Message):
    """A record with named sequences of features.

    Args:
      **fields: `context`, a `Features`; `feature_lists`, a `FeatureLists`.
    Reference: TensorFlow 2.21 `tf.train.SequenceExample`.
    """

    FIELDS = {"context": (1, Features), "feature_lists": (2, FeatureLists)}
