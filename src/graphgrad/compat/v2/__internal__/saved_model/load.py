"""`tf.__internal__.saved_model.load`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.saved_model.revived_types: VersionedTypeRegistration get_setter register_revived_type
    registered_identifiers
""")
