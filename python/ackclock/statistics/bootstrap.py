"""Bootstrap intervals: replicates are resampled with a fixed seed, jointly over environments."""

from __future__ import annotations

from ackclock._core import RESAMPLES, quantile, reflected_estimate, resampled_means

__all__ = ["RESAMPLES", "quantile", "reflected_estimate", "resampled_means"]
