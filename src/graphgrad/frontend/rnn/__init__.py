"""Recurrent cells and loops of 1.x."""
