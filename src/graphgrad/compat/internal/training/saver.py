"""What libraries import from `python.training.saver` besides public names: classes that theirs are made of."""

from __future__ import annotations

from graphgrad.training.checkpoints import saveable_object


class BaseSaverBuilder:
    """The place of the classes by which objects say what is saved of them."""

    SaveSpec = saveable_object.SaveSpec
    SaveableObject = saveable_object.SaveableObject
