"""Study files: a scenario at every point of a grid, with stopping rules, forecasts and queries."""
