// SPDX-License-Identifier: GPL-2.0
/*
 * AIAD(a, b): additive increase, additive decrease.
 *
 * Per round trip w <- w + a, at congestion w <- w - b.
 *
 * Error: each ACK adds at most 2^-32 segments too little or a relative 2^-16 / w too much. The error never decreases.
 * After n ACKs that gained g segments in total it is at most n 2^-32 + g 2^-16 / w.
 */
#include "window.h"

struct state {
	fixed32 window;
};

/* Segments added per round trip. */
PARAMETER("0 65535") increase = ONE;
/* Segments removed at a congestion event. */
PARAMETER("0 16777215") removed = 3 * ONE;

INLINE void restart(struct state *state, fixed32 w)
{
}

INLINE fixed32 grow(struct state *state, fixed32 w, __u32 acked)
{
	return w + acked * share(increase, w);
}

INLINE fixed32 cut(struct state *state, fixed32 w)
{
	return w > removed ? w - removed : 0;
}

INLINE void floored(struct state *state, fixed32 w)
{
}

WINDOW_RULE(aiad);
