/* ackclock_cc.h: a congestion-control algorithm for ackclock, as a shared object in C99 or C++.
 *
 * Windows are in segments with fractions, times in seconds, rates in bit/s. A library exports one function,
 * ackclock_cc_get, which returns a table of functions. The host gives every flow `state_size` bytes of zeros, aligned
 * to 16, so an algorithm needs no allocation. A NULL function stands for TCP Reno (RFC 5681). The same events must
 * give the same outputs: read no clock, draw no random numbers, share nothing between flows. Build it with:
 *
 *   `cc -O2 -shared -fPIC -I "$(python -c 'import ackclock; print(ackclock.include_dir())')" my_cc.c -o my_cc.so`
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ACKCLOCK_CC_H
#define ACKCLOCK_CC_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface: the first member of the table. Members are only added, at the ends of structs. */
#define ACKCLOCK_CC_VERSION 1u

#if defined(_WIN32)
#define ACKCLOCK_CC_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define ACKCLOCK_CC_EXPORT __attribute__((visibility("default")))
#else
#define ACKCLOCK_CC_EXPORT
#endif

/* The values that the algorithm sets. They contain their first values before `start`. */
typedef struct ackclock_cc_window {
    double cwnd;           /* segments, finite, not negative. The sender uses at least one */
    double ssthresh;       /* segments, infinite until something sets it */
    double pacing_rate;    /* bit/s. 0 sends as fast as the window permits */
    double initial_window; /* segments, at the start of the connection, read only */
} ackclock_cc_window;

/* The time, and the sender's measurements of the path after the event. Times are 0 before the first measurement. */
typedef struct ackclock_cc_path {
    double now;     /* since the start of the run; only differences should matter */
    double rtt;     /* the latest round-trip time */
    double srtt;    /* the smoothed one (RFC 6298) */
    double min_rtt; /* the smallest one so far */
    uint64_t in_flight_bytes;
    uint32_t in_flight; /* segments (the pipe of RFC 6675) */
    uint32_t mss;       /* payload bytes of a full segment */
} ackclock_cc_path;

/* An ACK with new information. */
typedef struct ackclock_cc_ack {
    ackclock_cc_path path;
    double acked;         /* segments that may count for growth; 0 for a duplicate ACK */
    double delivery_rate; /* bit/s; 0 if there is no sample, or no ACKCLOCK_CC_RATE_SAMPLES */
    uint32_t delivered;   /* segments newly known to be delivered */
    uint32_t lost;        /* segments newly considered lost */
    uint32_t ce;          /* packets newly reported as marked; only AccECN counts them */
    uint8_t may_grow;     /* new data, of a window that was used, outside of recovery, without a mark */
    uint8_t ece;          /* the ACK echoes a mark */
    uint8_t round_ended;  /* the first ACK of data sent after the end of the previous round trip */
    uint8_t cwnd_limited; /* the window limited the sender, not the application or the receiver */
    uint8_t in_recovery;
    uint8_t app_limited; /* the application limited the sample of delivery_rate */
    uint8_t reserved[6];
} ackclock_cc_ack;

/* A single transmission is considered lost. */
typedef struct ackclock_cc_loss {
    ackclock_cc_path path;
    uint64_t tx_in_flight; /* payload bytes in flight when it was sent, with itself */
    uint64_t lost;         /* payload bytes lost since it was sent, with itself */
    uint32_t bytes;        /* payload */
    uint8_t retransmission;
    uint8_t app_limited;
    uint8_t reserved[2];
} ackclock_cc_loss;

enum { ACKCLOCK_CC_LOSS = 0, ACKCLOCK_CC_ECN = 1, ACKCLOCK_CC_TIMEOUT = 2 };

/* Congestion: a loss, a mark, or the retransmission timer. */
typedef struct ackclock_cc_congestion {
    ackclock_cc_path path;
    uint32_t kind;        /* ACKCLOCK_CC_LOSS, _ECN or _TIMEOUT */
    uint32_t flight_size; /* segments sent and not acknowledged (RFC 5681) */
    uint8_t again;        /* the window was cut before in the same window of data */
    uint8_t reserved[7];
} ackclock_cc_congestion;

/* Loss recovery begins, ends, or was spurious. */
typedef struct ackclock_cc_recovery {
    ackclock_cc_path path;
    uint32_t flight_size;
    uint32_t reserved;
} ackclock_cc_recovery;

/* A segment was handed to the network. */
typedef struct ackclock_cc_sent {
    ackclock_cc_path path;
    uint32_t bytes;
    uint8_t retransmission;
    uint8_t reserved[3];
} ackclock_cc_sent;

/* A parameter: the name in a scenario, its default, and the range that `ackclock tune` searches (low < high, or 0, 0). */
typedef struct ackclock_cc_parameter {
    const char *name;
    double value;
    double low;
    double high;
} ackclock_cc_parameter;

/* Flags of the table. */
enum {
    ACKCLOCK_CC_OWNS_RECOVERY = 1, /* sets the window itself during loss recovery and after timeouts */
    ACKCLOCK_CC_IGNORES_ECN = 2,   /* does not send less for marks */
    ACKCLOCK_CC_RATE_SAMPLES = 4   /* reads delivery_rate */
};

typedef struct ackclock_cc {
    uint32_t version; /* ACKCLOCK_CC_VERSION */
    uint32_t size;    /* sizeof(ackclock_cc) */
    const char *name;
    uint32_t state_size; /* bytes of state of a flow */
    uint32_t flags;
    const ackclock_cc_parameter *parameters;
    const char *const *probe_names; /* names of numbers for samples */
    uint32_t parameter_count;
    uint32_t probe_count;

    /* The connection begins: `parameters` are the values, in the order of the table. */
    void (*start)(void *state, ackclock_cc_window *window, const double *parameters);
    void (*on_ack)(void *state, ackclock_cc_window *window, const ackclock_cc_ack *ack);
    /* A loss or a mark, at most once per window of data. */
    void (*on_congestion)(void *state, ackclock_cc_window *window, const ackclock_cc_congestion *congestion);
    /* The window is one segment afterwards, two over QUIC, unless the algorithm owns recovery. */
    void (*on_timeout)(void *state, ackclock_cc_window *window, const ackclock_cc_congestion *congestion);
    void (*on_loss)(void *state, ackclock_cc_window *window, const ackclock_cc_loss *loss);
    void (*on_sent)(void *state, ackclock_cc_window *window, const ackclock_cc_sent *sent);
    void (*on_recovery_enter)(void *state, ackclock_cc_window *window, const ackclock_cc_recovery *recovery);
    void (*on_recovery_exit)(void *state, ackclock_cc_window *window, const ackclock_cc_recovery *recovery);
    void (*on_undo)(void *state, ackclock_cc_window *window, const ackclock_cc_recovery *recovery);
    /* After an idle time longer than the RTO, at `now`. */
    void (*on_resume)(void *state, ackclock_cc_window *window, double now);
    /* Writes `probe_count` numbers for samples. */
    void (*probe)(const void *state, double *values);
} ackclock_cc;

/* The function that a library exports. It returns a table that stays at its address. */
ACKCLOCK_CC_EXPORT const ackclock_cc *ackclock_cc_get(void);

#ifdef __cplusplus
}
#endif

#endif
