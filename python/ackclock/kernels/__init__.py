"""Kernels of the kernel backend: Linux for User-Mode Linux, built from source and kept side by side."""
