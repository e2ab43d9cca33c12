"""Tests of how programs are rewritten before they are compiled."""
