"""Monitored sessions, hooks, the supervisor."""
