// SPDX-License-Identifier: GPL-2.0
/*
 * MIAD(a, b): multiplicative increase, additive decrease.
 *
 * Per round trip w <- (1 + a) w, at congestion w <- w - b.
 *
 * Error: each ACK adds a segments. The parameter a is at most 2^-33 away from its given value.
 */
#include "window.h"

struct state {
	fixed32 window;
};

/* Part of the window added per round trip. */
PARAMETER("0 1000") increase = ONE / 10;
/* Segments removed at a congestion event. */
PARAMETER("0 16777215") removed = 3 * ONE;

INLINE void restart(struct state *state, fixed32 w)
{
}

INLINE fixed32 grow(struct state *state, fixed32 w, __u32 acked)
{
	return w + acked * increase;
}

INLINE fixed32 cut(struct state *state, fixed32 w)
{
	return w > removed ? w - removed : 0;
}

INLINE void floored(struct state *state, fixed32 w)
{
}

WINDOW_RULE(miad);
