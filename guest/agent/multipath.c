// SPDX-License-Identifier: GPL-2.0
/*
 * A connection of MPTCP. Its flows are the subflows, which the receiver's address tells apart.
 *
 * A thread of each host makes blocking calls, as a process does. The kernel's path manager opens the subflows.
 */
#include <linux/kthread.h>
#include <linux/net.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <linux/wait.h>
#include <net/sock.h>
#include <net/tcp.h>
#include <protocol.h>
#include "agent.h"

#define PORT 5002
/* Bytes that one call writes or reads */
#define BYTES (64 << 10)
/* SO_SNDBUF, which the kernel doubles */
#define SEND_BUFFER (8 << 20)

/* The connection of this guest: its end at the sender or at the receiver. */
static struct {
	u16 number;
	struct ackclock_open open;
	/* None before it is connected or accepted */
	struct socket *sock;
	u8 *bytes;
	/* Bytes that the application still writes */
	u64 left;
	/* It ends writing after them. */
	bool ends;
	bool is_open;
	bool is_receiver;
	wait_queue_head_t due;
} connection;

static int connect_sender(struct socket **connected)
{
	struct ackclock_open *open = &connection.open;
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = open->source, .sin_port = htons(open->port) };
	int buffer = SEND_BUFFER, one = 1;
	struct socket *sock;
	int error;

	error = sock_create_kern(&init_net, AF_INET, SOCK_STREAM, IPPROTO_MPTCP, &sock);
	if (error)
		return error;
	error = ackclock_set_option(sock, SOL_TCP, TCP_CONGESTION, open->algorithm, strnlen(open->algorithm, 15));
	if (!error)
		error = ackclock_set_option(sock, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof(buffer));
	if (!error)
		error = ackclock_set_option(sock, SOL_TCP, TCP_NODELAY, &one, sizeof(one));
	if (!error)
		error = kernel_bind(sock, (struct sockaddr *)&address, sizeof(address));
	address.sin_addr.s_addr = open->destination;
	address.sin_port = htons(PORT);
	if (!error)
		error = kernel_connect(sock, (struct sockaddr *)&address, sizeof(address), 0);
	if (error)
		sock_release(sock);
	else
		*connected = sock;
	return error;
}

static int send_all(void *unused)
{
	int error = connect_sender(&connection.sock);

	if (error) {
		ackclock_failed(connection.number, "MPTCP", error, "");
		return 0;
	}
	for (;;) {
		wait_event_idle(connection.due, connection.left || connection.ends);
		while (connection.left) {
			struct msghdr message = { .msg_flags = MSG_NOSIGNAL };
			struct kvec part = { connection.bytes, min_t(u64, connection.left, BYTES) };
			int written = kernel_sendmsg(connection.sock, &message, &part, 1, part.iov_len);

			if (written < 0)
				return 0;
			if (connection.left != U64_MAX)
				connection.left -= min_t(u64, connection.left, written);
		}
		if (connection.ends) {
			kernel_sock_shutdown(connection.sock, SHUT_WR);
			return 0;
		}
	}
}

static int receive_all(void *unused)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	struct socket *listener, *accepted;
	int error, got;

	error = sock_create_kern(&init_net, AF_INET, SOCK_STREAM, IPPROTO_MPTCP, &listener);
	if (!error)
		error = kernel_bind(listener, (struct sockaddr *)&address, sizeof(address));
	if (!error)
		error = kernel_listen(listener, 1);
	if (!error)
		error = kernel_accept(listener, &accepted, 0);
	if (error) {
		ackclock_failed(connection.number, "MPTCP", error, "");
		return 0;
	}
	connection.sock = accepted;
	do {
		struct msghdr message = {};
		struct kvec part = { connection.bytes, BYTES };

		got = kernel_recvmsg(connection.sock, &message, &part, 1, BYTES, 0);
	} while (got > 0);
	kernel_sock_shutdown(connection.sock, SHUT_RDWR);
	return 0;
}

void ackclock_multipath_open(u16 number, const struct ackclock_open *open)
{
	struct task_struct *task;

	connection.number = number;
	connection.open = *open;
	connection.is_receiver = ackclock_shared->side;
	connection.bytes = kzalloc(BYTES, GFP_KERNEL);
	init_waitqueue_head(&connection.due);
	task = kthread_run(connection.is_receiver ? receive_all : send_all, NULL, "ackclock_mptcp");
	if (!connection.bytes || IS_ERR(task))
		panic("ackclock: no thread for MPTCP");
	connection.is_open = true;
}

bool ackclock_multipath_write(u16 number, u64 bytes)
{
	if (!connection.is_open || connection.number != number)
		return false;
	connection.left = bytes == U64_MAX ? U64_MAX : connection.left + bytes;
	wake_up(&connection.due);
	return true;
}

bool ackclock_multipath_end(u16 number)
{
	if (!connection.is_open || connection.number != number)
		return false;
	if (connection.left == U64_MAX)
		connection.left = 0;
	connection.ends = true;
	wake_up(&connection.due);
	return true;
}

void ackclock_multipath_report(u64 look)
{
	struct mptcp_subflow_context *subflow;
	/* The receivers' half of 10.0.0.0/8, whose first address has no flow */
	u32 first = (10u << 24 | 1u << 23) + 1;
	struct sock *sk;

	if (!connection.is_open || !connection.sock)
		return;
	sk = connection.sock->sk;
	lock_sock(sk);
	mptcp_for_each_subflow(mptcp_sk(sk), subflow) {
		struct sock *ssk = mptcp_subflow_tcp_sock(subflow);
		u32 address = connection.is_receiver ? inet_sk(ssk)->inet_rcv_saddr : inet_sk(ssk)->inet_daddr;

		ackclock_report(ssk, ntohl(address) - first, tcp_sk(ssk)->bytes_received, connection.is_receiver, look);
	}
	release_sock(sk);
}
