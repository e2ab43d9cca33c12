"""`tf.__internal__.tracking`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.internal.absent: CheckpointInitialValue CheckpointInitialValueCallable ObjectGraphView
    saveable_objects_from_trackable streaming_restore
graphgrad.compat.internal.state: register_session_provider
graphgrad.frontend.tracking.data_structures: TrackableDataStructure wrap
graphgrad.frontend.tracking.trackable: AutoTrackable DelegatingTrackableMixin Trackable TrackableReference
    no_automatic_dependency_tracking sticky_attribute_assignment
""")
