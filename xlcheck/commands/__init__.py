"""The verbs of the command line, thin over the library: one module a kind of user."""
