/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ACKCLOCK_AGENT_H
#define ACKCLOCK_AGENT_H

#include <linux/types.h>
#include "shared.h"

struct sock;
struct socket;

extern struct ackclock_shared *ackclock_shared;

/* Writes a record for ackclock. Returns the place of its content. */
void *ackclock_record(u16 kind, u16 flow, u32 len);
/* The error of a command, for the user, with the known names if one was unknown. */
void ackclock_failed(u16 flow, const char *what, int error, const char *known);

/* link.c: the network device. */
int ackclock_link_init(void);
void ackclock_link_receive(const void *packet, u32 len, bool is_corrupted);

/* words.c: settings. */
void ackclock_words(void);
/* A setting as `name=value`, where the name of a sysctl begins with `sysctl.`. */
void ackclock_word(const char *content, u32 len);

/* calls.c: the system calls of a script. */
void ackclock_call(u16 number, const struct ackclock_request *call);
int ackclock_set_option(struct socket *sock, int level, int name, const void *value, int len);

/* queue.c: a device whose queue is under test. */
int ackclock_queue_init(void);
void ackclock_queue(const struct ackclock_record *record, const void *content);

/* netlink.c: messages for the kernel's configuration. */
void ackclock_netlink(u16 number, const struct ackclock_netlink *message, u32 len);

/* algorithms.c: congestion controls as programs of eBPF. */
void ackclock_algorithms_init(void);
int ackclock_algorithm_add(const struct ackclock_algorithm *algorithm);

/* multipath.c: a connection of MPTCP. The last two return false if the flow is not its first subflow. */
void ackclock_multipath_open(u16 number, const struct ackclock_open *open);
void ackclock_multipath_report(u64 look);
bool ackclock_multipath_write(u16 number, u64 bytes);
bool ackclock_multipath_end(u16 number);

/* flows.c: the connections. */
int ackclock_flows_init(void);
void ackclock_flows_command(const struct ackclock_record *record, const void *content);
/* Reports the state of a TCP connection or subflow. */
void ackclock_report(struct sock *sk, u16 number, u64 received, bool is_receiver, u64 look);

#endif
