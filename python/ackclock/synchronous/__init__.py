"""The synchronous (Chiu-Jain) model and its cycles; `docs/model.md` explains its conventions."""
