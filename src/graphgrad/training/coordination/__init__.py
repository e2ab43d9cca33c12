"""Coordinators and queue runners."""
