"""Grading over HTTP: a small service with limits, for one machine."""
