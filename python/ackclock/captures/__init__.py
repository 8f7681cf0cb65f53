"""Captures made elsewhere, and replays of them."""
