"""Convolutions, morphology, patches."""
