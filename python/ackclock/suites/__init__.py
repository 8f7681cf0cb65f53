"""Evaluation suites as data: a folder each, with `suite.toml` and the scenarios it names."""
