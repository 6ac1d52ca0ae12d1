"""Reading the parts of a workbook package: a streaming reader, one kind of part a file."""
