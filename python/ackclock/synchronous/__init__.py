"""The synchronous (Chiu-Jain) model and its cycles.

`docs/reference/synchronous-model.md` explains its conventions.
"""
