// SPDX-License-Identifier: GPL-2.0
/*
 * AIMD-FC: AIMD with fast convergence (A. Lahanas and V. Tsaoussidis, 2003).
 *
 * dw is the window just after the last decrease. At congestion dw <- dw/2 + (w - dw), w <- dw: only the old part of the
 * window halves. Per round trip w <- w + a.
 *
 * Error: each ACK adds at most 2^-32 segments too little or 2^-16 / w too much. A cut is wrong by up to 2^-32.
 */
#include "window.h"

struct state {
	fixed32 window;
	fixed32 dw;
};

/* Segments added per round trip. */
PARAMETER("0 65535") increase = ONE;

INLINE void restart(struct state *state, fixed32 w)
{
	state->dw = w;
}

INLINE fixed32 grow(struct state *state, fixed32 w, __u32 acked)
{
	return w + acked * share(increase, w);
}

INLINE fixed32 cut(struct state *state, fixed32 w)
{
	/* The kernel may have reduced the window below dw/2. */
	fixed32 half = state->dw - state->dw / 2;

	state->dw = w > half ? w - half : 0;
	return state->dw;
}

INLINE void floored(struct state *state, fixed32 w)
{
	state->dw = w;
}

WINDOW_RULE(aimd_fc);
