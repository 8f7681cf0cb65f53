"""Study files: a scenario at every point of a grid, stopping rules, forecasts; queries over results."""
