"""`tf.__internal__.saved_model.load`. Written by `make faces` from exports.txt."""

from graphgrad.extras.saved_model.revived_types import VersionedTypeRegistration as VersionedTypeRegistration
from graphgrad.extras.saved_model.revived_types import get_setter as get_setter
from graphgrad.extras.saved_model.revived_types import register_revived_type as register_revived_type
from graphgrad.extras.saved_model.revived_types import registered_identifiers as registered_identifiers

__all__ = [
    "VersionedTypeRegistration", "get_setter", "register_revived_type", "registered_identifiers"
]
