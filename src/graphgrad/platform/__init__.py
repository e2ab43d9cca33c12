"""Flags and `app.run` on absl; logging; files."""
