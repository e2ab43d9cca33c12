"""`tf.__internal__.tracking`. Written by `make faces` from exports.txt."""

from graphgrad.compat.internal.absent import CheckpointInitialValue as CheckpointInitialValue
from graphgrad.compat.internal.absent import CheckpointInitialValueCallable as CheckpointInitialValueCallable
from graphgrad.compat.internal.absent import ObjectGraphView as ObjectGraphView
from graphgrad.compat.internal.absent import saveable_objects_from_trackable as saveable_objects_from_trackable
from graphgrad.compat.internal.absent import streaming_restore as streaming_restore
from graphgrad.compat.internal.state import register_session_provider as register_session_provider
from graphgrad.frontend.tracking.data_structures import TrackableDataStructure as TrackableDataStructure
from graphgrad.frontend.tracking.data_structures import wrap as wrap
from graphgrad.frontend.tracking.trackable import AutoTrackable as AutoTrackable
from graphgrad.frontend.tracking.trackable import DelegatingTrackableMixin as DelegatingTrackableMixin
from graphgrad.frontend.tracking.trackable import Trackable as Trackable
from graphgrad.frontend.tracking.trackable import TrackableReference as TrackableReference
from graphgrad.frontend.tracking.trackable import no_automatic_dependency_tracking as no_automatic_dependency_tracking
from graphgrad.frontend.tracking.trackable import sticky_attribute_assignment as sticky_attribute_assignment

__all__ = [
    "AutoTrackable", "CheckpointInitialValue", "CheckpointInitialValueCallable", "DelegatingTrackableMixin",
    "ObjectGraphView", "Trackable", "TrackableDataStructure", "TrackableReference", "no_automatic_dependency_tracking",
    "register_session_provider", "saveable_objects_from_trackable", "sticky_attribute_assignment", "streaming_restore",
    "wrap"
]
