"""Uses the public API under the type checker."""
