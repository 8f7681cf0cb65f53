// SPDX-License-Identifier: GPL-2.0
/*
 * The system calls of a script, without a process in user space.
 *
 * Each call has a thread of its own, because it may wait as long as a call of a process.
 */
#include <linux/kthread.h>
#include <linux/net.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/sock.h>
#include <net/tcp.h>
#include "agent.h"

#define PLACES 64
/* Bytes that one call writes or reads */
#define LARGEST (64 << 20)
#define ZEROS (16 * PAGE_SIZE)

struct waiting_call {
	u16 number;
	struct ackclock_request call;
	u8 content[];
};

static struct socket *sockets[PLACES];

int ackclock_set_option(struct socket *sock, int level, int name, const void *value, int len)
{
	sockptr_t option = KERNEL_SOCKPTR((void *)value);

	if (level == SOL_SOCKET)
		return sock_setsockopt(sock, level, name, option, len);
	return sock->ops->setsockopt(sock, level, name, option, len);
}

/* Writes zeros or reads bytes, all with one call of the socket. Returns their number or an error. */
static s64 transfer(struct socket *sock, u64 len, int flags, bool sends)
{
	struct msghdr message = { .msg_flags = flags | MSG_NOSIGNAL };
	size_t count, index;
	struct kvec *parts;
	void *bytes;
	s64 done = -ENOMEM;

	if (len > LARGEST)
		return -EMSGSIZE;
	count = DIV_ROUND_UP(len, ZEROS) ?: 1;
	parts = kvcalloc(count, sizeof(*parts), GFP_KERNEL);
	bytes = kvzalloc(ZEROS, GFP_KERNEL);
	if (parts && bytes) {
		for (index = 0; index < count; index++)
			parts[index] = (struct kvec){ bytes, min_t(u64, len - index * ZEROS, ZEROS) };
		if (sends)
			done = kernel_sendmsg(sock, &message, parts, count, len);
		else
			done = kernel_recvmsg(sock, &message, parts, count, len, flags);
	}
	kvfree(bytes);
	kvfree(parts);
	return done;
}

static s64 accept_at(struct socket *listener, u64 place, int flags)
{
	struct socket *sock;
	int error;

	if (place >= PLACES || sockets[place])
		return -EMFILE;
	error = kernel_accept(listener, &sock, flags);
	if (!error)
		sockets[place] = sock;
	return error;
}

static s64 carry_out(const struct ackclock_request *call, void *content)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = call->address,
		.sin_port = htons(call->port),
	};
	struct socket **place = sockets + call->place;

	if (call->place >= PLACES || (call->operation == ACKCLOCK_SOCKET) != !*place)
		return -EBADF;
	switch (call->operation) {
	case ACKCLOCK_SOCKET:
		return sock_create_kern(&init_net, AF_INET, SOCK_STREAM, call->value, place);
	case ACKCLOCK_BIND:
		return kernel_bind(*place, (struct sockaddr *)&address, sizeof(address));
	case ACKCLOCK_LISTEN:
		return kernel_listen(*place, call->value);
	case ACKCLOCK_ACCEPT:
		return accept_at(*place, call->value, call->flags);
	case ACKCLOCK_CONNECT:
		return kernel_connect(*place, (struct sockaddr *)&address, sizeof(address), call->flags);
	case ACKCLOCK_SEND:
		return transfer(*place, call->value, call->flags, true);
	case ACKCLOCK_RECEIVE:
		return transfer(*place, call->value, call->flags, false);
	case ACKCLOCK_SET_OPTION:
		return ackclock_set_option(*place, call->flags, call->value, content, call->len);
	case ACKCLOCK_SHUTDOWN:
		return kernel_sock_shutdown(*place, call->value);
	case ACKCLOCK_CLOSE:
		sock_release(*place);
		*place = NULL;
		return 0;
	}
	return -ENOSYS;
}

static int answer(void *argument)
{
	struct waiting_call *waiting = argument;
	const struct ackclock_request *call = &waiting->call;
	struct tcp_info info = {};
	bool informs = call->operation == ACKCLOCK_INFO;
	s64 result = 0, *returned;

	if (!informs)
		result = carry_out(call, waiting->content);
	else if (call->place < PLACES && sockets[call->place])
		tcp_get_info(sockets[call->place]->sk, &info);
	else
		result = -EBADF;
	returned = ackclock_record(ACKCLOCK_RETURN, waiting->number, sizeof(*returned) + (informs ? sizeof(info) : 0));
	*returned = result;
	if (informs)
		memcpy(returned + 1, &info, sizeof(info));
	kfree(waiting);
	return 0;
}

void ackclock_call(u16 number, const struct ackclock_request *call)
{
	struct waiting_call *waiting = kmalloc(sizeof(*waiting) + call->len, GFP_KERNEL);
	struct task_struct *task;

	if (!waiting)
		panic("ackclock: no memory for a call");
	waiting->number = number;
	waiting->call = *call;
	memcpy(waiting->content, call + 1, call->len);
	task = kthread_run(answer, waiting, "ackclock_call");
	if (IS_ERR(task))
		panic("ackclock: no thread for a call");
}
