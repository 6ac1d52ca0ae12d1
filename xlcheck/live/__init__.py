"""The live model: whole recalculation and what-if, with loops, data tables and lent cells held outside the engine."""
