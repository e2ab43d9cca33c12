"""Tests of data sets and iterators."""
