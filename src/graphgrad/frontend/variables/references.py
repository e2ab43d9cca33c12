"""Whether variables of graphs behave as references, as those of TensorFlow 1 do."""

from __future__ import annotations


class References:
    """Whether variables without `use_resource` are fetched like TensorFlow 1's references."""

    by_default = False


def references_by_default(on: bool) -> None:
    """Decides whether variables of graphs behave as references where `use_resource` is not given."""
    References.by_default = on
