// SPDX-License-Identifier: GPL-2.0
/*
 * New-AIMD: only the window from before congestion avoidance halves (jasem-efficiency-fairness).
 *
 * w = base + gained, where base is the window at the entry from slow start to congestion avoidance. At congestion
 * base <- base/2, and the gain stays: w <- w - base/2. Per round trip w <- w + a. The rule is implemented as
 * published. Over time its cuts become very small.
 *
 * Error: each ACK adds at most 2^-32 segments too little or a relative 2^-16 / w too much. A cut is wrong by up to
 * 2^-32. The error does not decrease before the next slow start.
 */
#include "window.h"

struct state {
	fixed32 window;
	fixed32 base;
};

/* Segments added per round trip. */
PARAMETER("0 65535") increase = ONE;

INLINE void restart(struct state *state, fixed32 w)
{
	state->base = w;
}

INLINE fixed32 grow(struct state *state, fixed32 w, __u32 acked)
{
	return w + acked * share(increase, w);
}

INLINE fixed32 cut(struct state *state, fixed32 w)
{
	state->base /= 2;
	return w > state->base ? w - state->base : 0;
}

INLINE void floored(struct state *state, fixed32 w)
{
}

WINDOW_RULE(new_aimd);
