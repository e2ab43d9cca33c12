"""Tests of pictures of graphs."""
