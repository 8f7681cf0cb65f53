// SPDX-License-Identifier: GPL-2.0
/* Messages of netlink from ackclock: routes, devices and queues. A guest has no programs such as `ip` and `tc`. */
#include <linux/net.h>
#include <linux/netlink.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include "agent.h"

/* Bytes of all answers to a message */
#define ANSWERS (64 << 10)

static int open_netlink(int protocol, struct socket **sock)
{
	int error = sock_create_kern(&init_net, AF_NETLINK, SOCK_RAW, protocol, sock);
	int one = 1;

	if (error)
		return error;
	/* Errors come with a text, and without the message that caused them. */
	(*sock)->ops->setsockopt(*sock, SOL_NETLINK, NETLINK_EXT_ACK, KERNEL_SOCKPTR(&one), sizeof(one));
	(*sock)->ops->setsockopt(*sock, SOL_NETLINK, NETLINK_CAP_ACK, KERNEL_SOCKPTR(&one), sizeof(one));
	return 0;
}

void ackclock_netlink(u16 number, const struct ackclock_netlink *given, u32 len)
{
	/* With an explicit address, the kernel asks for the rights of this thread and not for those of a file. */
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct msghdr message = { .msg_name = &kernel, .msg_namelen = sizeof(kernel) };
	struct kvec part = { (void *)(given + 1), len - sizeof(*given) };
	u8 *answers = kvmalloc(ANSWERS, GFP_KERNEL);
	struct socket *sock;
	int error, got = 0;

	if (!answers)
		panic("ackclock: no memory for netlink");
	error = open_netlink(given->protocol, &sock);
	if (!error) {
		error = kernel_sendmsg(sock, &message, &part, 1, part.iov_len);
		/* The kernel has written its answers. */
		while (error >= 0 && got < ANSWERS) {
			struct msghdr answer = {};

			part = (struct kvec){ answers + got, ANSWERS - got };
			error = kernel_recvmsg(sock, &answer, &part, 1, part.iov_len, MSG_DONTWAIT);
			if (error > 0)
				got += ALIGN(error, NLMSG_ALIGNTO);
		}
		sock_release(sock);
	}
	if (error < 0 && error != -EAGAIN)
		ackclock_failed(number, "netlink", error, "");
	memcpy(ackclock_record(ACKCLOCK_ANSWER, number, got), answers, got);
	kvfree(answers);
}
