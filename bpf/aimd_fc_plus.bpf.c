// SPDX-License-Identifier: GPL-2.0
/*
 * AIMD-FC+: AIMD-FC that also keeps a part of the gain of the cycle (A. Lahanas and V. Tsaoussidis, 2003).
 *
 * At congestion g <- w - (the window after the last decrease), dw <- dw/2 + (w - dw), w <- dw + f g. Per round trip
 * w <- w + a.
 *
 * Error: each ACK adds at most 2^-32 segments too little or 2^-16 / w too much. A cut is wrong by up to 2^-31.
 */
#include "window.h"

struct state {
	fixed32 window;
	/* The window of AIMD-FC after the last decrease, below zero if the kernel had reduced the window. */
	long long dw;
	/* The window that the last decrease left. */
	fixed32 after;
};

/* Segments added per round trip. */
PARAMETER("0 65535") increase = ONE;
/* Part of the gain since the last decrease that a decrease keeps. */
PARAMETER("0 0.9999") gain_kept = ONE / 2;

INLINE void restart(struct state *state, fixed32 w)
{
	state->dw = w;
	state->after = w;
}

INLINE fixed32 grow(struct state *state, fixed32 w, __u32 acked)
{
	return w + acked * share(increase, w);
}

INLINE fixed32 cut(struct state *state, fixed32 w)
{
	long long left;

	state->dw = w - (state->dw - (state->dw >> 1));
	if (w >= state->after)
		left = state->dw + part(w - state->after, gain_kept);
	else
		left = state->dw - part(state->after - w, gain_kept);
	state->after = left > 0 ? left : 0;
	return state->after;
}

INLINE void floored(struct state *state, fixed32 w)
{
	state->after = w;
}

WINDOW_RULE(aimd_fc_plus);
