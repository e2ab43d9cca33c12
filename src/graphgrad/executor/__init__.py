"""Execution: from fetches and feeds to values."""

from graphgrad.executor.runtime.session import InteractiveSession as InteractiveSession
from graphgrad.executor.runtime.session import Session as Session
from graphgrad.executor.runtime.session import get_default_session as get_default_session
