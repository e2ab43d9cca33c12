"""What libraries take from TensorFlow's module of monitored sessions besides the public names."""

from __future__ import annotations

from graphgrad.training.sessions.monitored_session import HookedSession as _HookedSession
