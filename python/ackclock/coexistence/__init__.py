"""Coexistence of algorithms: their shares of a bottleneck, and the harm that they do to each other.

Harm is the lost part of the performance that flows achieve alone. Source: Ware, Mukerjee, Seshan & Sherry,
HotNets 2019, "Beyond Jain's Fairness Index". `docs/how-to/coexistence.md` explains the figures.
"""
