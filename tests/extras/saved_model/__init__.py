"""Tests of what is saved as a SavedModel here."""
