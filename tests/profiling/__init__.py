"""Tests of what tells where time and memory go: progress, timelines, profiles."""
