"""Running simulations: jobs, where and in what chunks they are executed, and the store of results."""
