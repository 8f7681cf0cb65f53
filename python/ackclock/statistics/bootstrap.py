"""Bootstrap intervals: replicates are resampled with a fixed seed, jointly over environments."""

from __future__ import annotations

from ackclock._core import RESAMPLES, bootstrap_estimate, quantile, reflected_estimate, resampled_means

__all__ = ["RESAMPLES", "bootstrap_estimate", "quantile", "reflected_estimate", "resampled_means"]
