"""Estimates over replicates: means with intervals, by Student's t or by resampling."""
