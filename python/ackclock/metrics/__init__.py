"""Metrics of a run by name and unit, and tables of them with the unit in each column."""
