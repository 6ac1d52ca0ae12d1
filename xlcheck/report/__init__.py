"""The report document and its renderers, one file each."""
