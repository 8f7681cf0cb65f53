"""A queue alone under open-loop arrivals: counts, sojourn times, and its state over time."""
