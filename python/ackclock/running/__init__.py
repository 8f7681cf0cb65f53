"""Running simulations: jobs, their execution in chunks, and the store of results."""
