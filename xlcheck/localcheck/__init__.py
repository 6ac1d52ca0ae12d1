"""The local check and the verdict on every stored value."""
