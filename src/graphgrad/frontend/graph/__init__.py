"""Scopes, collections, operators of tensors, modules."""
