// SPDX-License-Identifier: GPL-2.0
/*
 * AIMD(a, b): additive increase, multiplicative decrease. AIMD(1, 0.5) is standard TCP.
 *
 * Per RTT w <- w + a, at congestion w <- b w.
 *
 * Error: each ACK adds at most 2^-32 segments too little or a relative 2^-16 / w too much. A cycle of n ACKs gains
 * g segments. Its error is at most n 2^-32 + g 2^-16 / w segments. Cuts reduce the error.
 */
#include "window.h"

struct state {
	fixed32 window;
};

/* Segments added per round trip. */
PARAMETER("0 65535") increase = ONE;
/* Part of the window that remains at a congestion event. */
PARAMETER("0.0001 1") remaining = ONE / 2;

INLINE void restart(struct state *state, fixed32 w)
{
}

INLINE fixed32 grow(struct state *state, fixed32 w, __u32 acked)
{
	return w + acked * share(increase, w);
}

INLINE fixed32 cut(struct state *state, fixed32 w)
{
	return part(w, remaining);
}

INLINE void floored(struct state *state, fixed32 w)
{
}

WINDOW_RULE(aimd);
