"""The checks, one family a file; importing this package declares them all."""
