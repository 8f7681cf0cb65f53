/* my-cc: additive increase, multiplicative decrease, with a decrease that depends on the queueing delay.
 * ackclock_cc.h describes the interface. Windows are in segments, times in seconds. */
#include <ackclock_cc.h>

enum { GAIN, REMAINING, LONG_DELAY, PARAMETERS };

static const ackclock_cc_parameter parameters[PARAMETERS] = {
    {"gain", 1.0, 0.2, 5.0},         /* segments that the window gains in a round trip */
    {"remaining", 0.5, 0.2, 0.8},    /* what a cut leaves of the window where the queue is long */
    {"long_delay", 0.01, 0.001, 0.1} /* the queueing delay, in seconds, from which a queue is long */
};

/* The state of a flow. */
typedef struct state {
    double values[PARAMETERS];
} state;

static void start(void *memory, ackclock_cc_window *window, const double *values) {
    state *flow = memory;
    (void)window;
    for (int index = 0; index < PARAMETERS; index++)
        flow->values[index] = values[index];
}

static void on_ack(void *memory, ackclock_cc_window *window, const ackclock_cc_ack *ack) {
    const state *flow = memory;
    if (!ack->may_grow)
        return;
    if (window->cwnd < window->ssthresh)
        window->cwnd += ack->acked;
    else
        window->cwnd += flow->values[GAIN] * ack->acked / window->cwnd;
}

/* A loss or a mark: once per window of data. */
static void on_congestion(void *memory, ackclock_cc_window *window, const ackclock_cc_congestion *congestion) {
    const state *flow = memory;
    int is_long = congestion->path.rtt - congestion->path.min_rtt > flow->values[LONG_DELAY];
    double left = window->cwnd * (is_long ? flow->values[REMAINING] : 0.8);
    window->ssthresh = left > 2.0 ? left : 2.0;
    window->cwnd = window->ssthresh;
}

const ackclock_cc *ackclock_cc_get(void) {
    static const ackclock_cc table = {
        .version = ACKCLOCK_CC_VERSION,
        .size = sizeof(ackclock_cc),
        .name = "my-cc",
        .state_size = sizeof(state),
        .parameters = parameters,
        .parameter_count = PARAMETERS,
        .start = start,
        .on_ack = on_ack,
        .on_congestion = on_congestion,
    };
    return &table;
}
