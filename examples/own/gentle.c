/* A gentle AIMD: it grows by `gain` segments per round trip, and keeps `left` of the window at a loss.
 * Compiles as C99 and as C++. */
#include "ackclock_cc.h"

typedef struct gentle {
    double gain, left;
} gentle;

static void start(void *state, ackclock_cc_window *window, const double *parameters)
{
    gentle *self = (gentle *)state;
    (void)window;
    self->gain = parameters[0];
    self->left = parameters[1];
}

static void on_ack(void *state, ackclock_cc_window *window, const ackclock_cc_ack *ack)
{
    const gentle *self = (const gentle *)state;
    if (!ack->may_grow)
        return;
    if (window->cwnd < window->ssthresh) /* slow start */
        window->cwnd += ack->acked;
    else
        window->cwnd += self->gain * ack->acked / window->cwnd;
}

static void on_congestion(void *state, ackclock_cc_window *window, const ackclock_cc_congestion *congestion)
{
    const gentle *self = (const gentle *)state;
    double left = self->left * window->cwnd;
    (void)congestion;
    window->cwnd = window->ssthresh = left > 2 ? left : 2;
}

const ackclock_cc *ackclock_cc_get(void)
{
    static const ackclock_cc_parameter parameters[] = {{"gain", 1.0, 0.1, 4.0}, {"left", 0.7, 0.3, 0.95}};
    static ackclock_cc table;
    table.version = ACKCLOCK_CC_VERSION;
    table.size = sizeof table;
    table.name = "gentle";
    table.state_size = sizeof(gentle);
    table.parameters = parameters;
    table.parameter_count = 2;
    table.start = start;
    table.on_ack = on_ack;
    table.on_congestion = on_congestion;
    return &table;
}
