"""Response functions: goodput over the loss rate, the RTT, the buffer or the rate."""
