"""`tf.distribute.experimental`. Written by `make faces` from exports.txt."""

from graphgrad.extras.distribute.multi_worker import CommunicationImplementation as CommunicationImplementation
from graphgrad.frontend.distribute.strategy import ValueContext as ValueContext

__all__ = [
    "CommunicationImplementation", "ValueContext"
]
