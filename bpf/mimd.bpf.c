// SPDX-License-Identifier: GPL-2.0
/*
 * MIMD(a, b): multiplicative increase, multiplicative decrease.
 *
 * Per round trip w <- (1 + a) w, at congestion w <- b w.
 *
 * Error: each ACK adds a segments. The parameter a is at most 2^-33 away from its given value.
 */
#include "window.h"

struct state {
	fixed32 window;
};

/* Part of the window added per round trip. */
PARAMETER("0 1000") increase = ONE / 10;
/* Part of the window that remains at a congestion event. */
PARAMETER("0.0001 1") remaining = ONE / 2;

INLINE void restart(struct state *state, fixed32 w)
{
}

INLINE fixed32 grow(struct state *state, fixed32 w, __u32 acked)
{
	return w + acked * increase;
}

INLINE fixed32 cut(struct state *state, fixed32 w)
{
	return part(w, remaining);
}

INLINE void floored(struct state *state, fixed32 w)
{
}

WINDOW_RULE(mimd);
