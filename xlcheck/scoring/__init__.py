"""The arithmetic of a score: pure functions, one mode a file."""
