"""Execution: from fetches and feeds to values."""

from .session import InteractiveSession as InteractiveSession
from .session import Session as Session
from .session import get_default_session as get_default_session
