"""Activations, losses, embeddings; the larger families have rooms of their own."""
