"""Planting faults in a good workbook, one at a time, and seeing which checks notice."""
