// SPDX-License-Identifier: GPL-2.0
/*
 * The connections of a guest, without a process in user space.
 *
 * A thread connects, writes and accepts. A tasklet reads what has arrived, at the time of its arrival and after the
 * kernel has handled the packet, as a process that waits for data.
 */
#include <linux/bvec.h>
#include <linux/interrupt.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/net.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <linux/version.h>
#include <net/sock.h>
#include <net/tcp.h>
#include "agent.h"
#include "clock.h"
#include "module.h"

#define MOST_FLOWS 4096
#define PORT 5001
/* Zeros that one call writes */
#define ZEROS_ORDER 4
#define ZEROS (PAGE_SIZE << ZEROS_ORDER)

struct flow {
	u16 number;
	bool is_receiver;
	bool has_ended;
	struct socket *sock;
	/* The thread, or the tasklet, is to look at it. */
	struct list_head due;
	/* Bytes that the application still writes */
	u64 left;
	/* It ends writing after them. */
	bool ends;
	u64 received;
};

/* A command that waits for the thread. */
struct command {
	struct list_head list;
	struct ackclock_record record;
	u8 content[];
};

static struct flow *senders[MOST_FLOWS], *receivers[MOST_FLOWS];
static struct socket *listener;
static struct page *zeros;
static LIST_HEAD(commands);
static LIST_HEAD(to_write);
static LIST_HEAD(to_read);
static bool to_accept, to_close;
static struct task_struct *worker;

static void wake(void)
{
	if (worker)
		wake_up_process(worker);
}

static void await_thread(struct flow *flow)
{
	unsigned long flags;

	local_irq_save(flags);
	if (list_empty(&flow->due))
		list_add_tail(&flow->due, &to_write);
	local_irq_restore(flags);
	wake();
}

static void sender_has_space(struct sock *sk)
{
	struct flow *flow = sk->sk_user_data;

	if (!flow || !sk_stream_is_writeable(sk))
		return;
	clear_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
	await_thread(flow);
}

static void sender_changed(struct sock *sk)
{
	struct flow *flow = sk->sk_user_data;

	if (flow && sk->sk_state == TCP_ESTABLISHED)
		await_thread(flow);
}

static int count(read_descriptor_t *reading, struct sk_buff *skb, unsigned int offset, size_t len)
{
	struct flow *flow = reading->arg.data;

	flow->received += len;
	return len;
}

static void read_all(struct flow *flow)
{
	read_descriptor_t reading = { .arg.data = flow, .count = 1 };

	tcp_read_sock(flow->sock->sk, &reading, count);
}

static void read_due(struct tasklet_struct *unused);
static DECLARE_TASKLET(reader, read_due);

static void read_due(struct tasklet_struct *unused)
{
	struct flow *flow, *next;
	unsigned long flags;
	LIST_HEAD(due);

	local_irq_save(flags);
	list_splice_init(&to_read, &due);
	local_irq_restore(flags);
	list_for_each_entry_safe(flow, next, &due, due) {
		struct sock *sk = flow->sock->sk;

		list_del_init(&flow->due);
		bh_lock_sock(sk);
		/* Its owner is the thread, which reads before it lets go. */
		if (!sock_owned_by_user(sk))
			read_all(flow);
		bh_unlock_sock(sk);
	}
}

static void receiver_has_data(struct sock *sk)
{
	struct flow *flow = sk->sk_user_data;
	unsigned long flags;

	if (!flow)
		return;
	local_irq_save(flags);
	if (list_empty(&flow->due))
		list_add_tail(&flow->due, &to_read);
	local_irq_restore(flags);
	tasklet_schedule(&reader);
}

static void receiver_changed(struct sock *sk)
{
	struct flow *flow = sk->sk_user_data;

	if (flow && sk->sk_state == TCP_CLOSE_WAIT) {
		to_close = true;
		wake();
	}
}

static void listener_has_data(struct sock *sk)
{
	/* A connection has inherited this function until the thread accepts it. */
	if (sk->sk_state != TCP_LISTEN)
		return;
	to_accept = true;
	wake();
}

void ackclock_report(struct sock *sk, u16 number, u64 received, bool is_receiver, u64 look)
{
	struct ackclock_state *state;
	static struct tcp_info info;

	memset(&info, 0, sizeof(info));
	tcp_get_info(sk, &info);
	state = ackclock_record(ACKCLOCK_STATE, number, sizeof(*state));
	memset(state, 0, sizeof(*state));
	state->look = look;
	state->received = received;
	state->is_receiver = is_receiver;
	state->high_seq = tcp_sk(sk)->high_seq;
	memcpy(state->info, &info, min(sizeof(info), sizeof(state->info)));
}

static void report(struct flow *flow, u64 look)
{
	ackclock_report(flow->sock->sk, flow->number, flow->received, flow->is_receiver, look);
}

static struct flow *new_flow(u16 number, struct socket *sock, bool is_receiver)
{
	struct flow *flow = kzalloc(sizeof(*flow), GFP_KERNEL);

	if (!flow)
		panic("ackclock: no memory for a flow");
	flow->number = number;
	flow->sock = sock;
	flow->is_receiver = is_receiver;
	INIT_LIST_HEAD(&flow->due);
	return flow;
}

static void open_flow(u16 number, const struct ackclock_open *open)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = open->source, .sin_port = htons(open->port) };
	int mss = open->mss, ahead = open->ahead, one = 1;
	static char known[TCP_CA_BUF_MAX];
	struct socket *sock;
	struct flow *flow;
	int error;

	error = sock_create_kern(&init_net, AF_INET, SOCK_STREAM, IPPROTO_TCP, &sock);
	if (error)
		return ackclock_failed(number, "socket", error, "");
	error = ackclock_set_option(sock, SOL_TCP, TCP_CONGESTION, open->algorithm, strnlen(open->algorithm, 15));
	if (error) {
		tcp_get_available_congestion_control(known, sizeof(known));
		ackclock_failed(number, open->algorithm, error, known);
		goto release;
	}
	error = ackclock_set_option(sock, SOL_TCP, TCP_MAXSEG, &mss, sizeof(mss));
	if (!error && ahead)
		error = ackclock_set_option(sock, SOL_TCP, TCP_NOTSENT_LOWAT, &ahead, sizeof(ahead));
	if (!error)
		error = ackclock_set_option(sock, SOL_TCP, TCP_NODELAY, &one, sizeof(one));
	if (!error)
		error = kernel_bind(sock, (struct sockaddr *)&address, sizeof(address));
	if (error) {
		ackclock_failed(number, "options", error, "");
		goto release;
	}
	flow = senders[number] = new_flow(number, sock, false);
	write_lock_bh(&sock->sk->sk_callback_lock);
	sock->sk->sk_user_data = flow;
	sock->sk->sk_write_space = sender_has_space;
	sock->sk->sk_state_change = sender_changed;
	write_unlock_bh(&sock->sk->sk_callback_lock);
	address.sin_addr.s_addr = open->destination;
	address.sin_port = htons(PORT);
	error = kernel_connect(sock, (struct sockaddr *)&address, sizeof(address), O_NONBLOCK);
	if (error && error != -EINPROGRESS)
		ackclock_failed(number, "connect", error, "");
	return;
release:
	sock_release(sock);
}

/* Writes so many zeros at most. Returns the written bytes or an error. */
static int write_zeros(struct socket *sock, size_t len)
{
	struct msghdr message = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
	struct bio_vec vector;

	/* The page is not copied. */
	message.msg_flags |= MSG_SPLICE_PAGES;
	bvec_set_page(&vector, zeros, len, 0);
	iov_iter_bvec(&message.msg_iter, ITER_SOURCE, &vector, 1, len);
	return sock_sendmsg(sock, &message);
#else
	struct kvec vector = { .iov_base = page_address(zeros), .iov_len = len };

	return kernel_sendmsg(sock, &message, &vector, 1, len);
#endif
}

static void write_flow(struct flow *flow)
{
	while (flow->left && flow->sock->sk->sk_state == TCP_ESTABLISHED) {
		int written = write_zeros(flow->sock, min_t(u64, flow->left, ZEROS));

		if (written <= 0)
			return;
		if (flow->left != U64_MAX)
			flow->left -= written;
	}
	if (!flow->left && flow->ends && !flow->has_ended && flow->sock->sk->sk_state == TCP_ESTABLISHED) {
		flow->has_ended = true;
		kernel_sock_shutdown(flow->sock, SHUT_WR);
	}
}

static void accept_all(void)
{
	struct sockaddr_in peer;
	struct socket *sock;
	u32 half = 10u << 24;

	while (kernel_accept(listener, &sock, O_NONBLOCK) == 0) {
		struct sock *sk = sock->sk;
		struct flow *flow;
		u32 number;

		if (kernel_getpeername(sock, (struct sockaddr *)&peer) < 0) {
			sock_release(sock);
			continue;
		}
		number = ntohl(peer.sin_addr.s_addr) - half - 1;
		if (number >= MOST_FLOWS) {
			sock_release(sock);
			continue;
		}
		flow = receivers[number] = new_flow(number, sock, true);
		write_lock_bh(&sk->sk_callback_lock);
		sk->sk_user_data = flow;
		sk->sk_data_ready = receiver_has_data;
		sk->sk_state_change = receiver_changed;
		write_unlock_bh(&sk->sk_callback_lock);
		lock_sock(sk);
		read_all(flow);
		to_close |= sk->sk_state == TCP_CLOSE_WAIT;
		release_sock(sk);
	}
}

/* Closes the receivers whose senders have ended. */
static void close_all(void)
{
	int index;

	for (index = 0; index < MOST_FLOWS; index++) {
		struct flow *flow = receivers[index];

		if (flow && flow->sock->sk->sk_state == TCP_CLOSE_WAIT)
			kernel_sock_shutdown(flow->sock, SHUT_RDWR);
	}
}

/* Whether a list with a space between its names contains a name. */
static bool is_listed(const char *list, const char *name)
{
	size_t len = strlen(name);
	const char *at;

	for (at = list; (at = strstr(at, name)); at += len)
		if ((at == list || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return true;
	return false;
}

/* Loads a module, and reports the names of its congestion controls. */
static void add_module(u16 number, const struct ackclock_module *module)
{
	static char before[TCP_CA_BUF_MAX], after[TCP_CA_BUF_MAX];
	const char *parameters = (const char *)(module + 1);
	int error, len = 0;
	char *rest = after, *name, *names;

	tcp_get_available_congestion_control(before, sizeof(before));
	error = ackclock_load_module(parameters + module->parameters, module->len, parameters);
	if (error)
		return ackclock_failed(number, "module", error, "");
	tcp_get_available_congestion_control(after, sizeof(after));
	names = ackclock_record(ACKCLOCK_REGISTERED, number, sizeof(after));
	memset(names, 0, sizeof(after));
	while ((name = strsep(&rest, " ")))
		if (!is_listed(before, name))
			len += scnprintf(names + len, sizeof(after) - len, "%s ", name);
}

static void obey(const struct ackclock_record *record, const void *content)
{
	struct flow *flow = senders[record->flow];
	int index;

	switch (record->kind) {
	case ACKCLOCK_ARRIVE:
	case ACKCLOCK_SERVE:
		return ackclock_queue(record, content);
	case ACKCLOCK_CALL:
		return ackclock_call(record->flow, content);
	case ACKCLOCK_WORD:
		return ackclock_word(content, record->len);
	case ACKCLOCK_NETLINK:
		return ackclock_netlink(record->flow, content, record->len);
	case ACKCLOCK_ALGORITHM:
		index = ackclock_algorithm_add(content);
		if (index)
			ackclock_failed(record->flow, "algorithm", index, "");
		return;
	case ACKCLOCK_MODULE:
		return add_module(record->flow, content);
	case ACKCLOCK_OPEN:
		return open_flow(record->flow, content);
	case ACKCLOCK_OPEN_MULTIPATH:
		return ackclock_multipath_open(record->flow, content);
	case ACKCLOCK_WRITE:
		if (ackclock_multipath_write(record->flow, *(const u64 *)content) || !flow)
			return;
		if (*(const u64 *)content == U64_MAX)
			flow->left = U64_MAX;
		else
			flow->left += *(const u64 *)content;
		return write_flow(flow);
	case ACKCLOCK_END:
		if (ackclock_multipath_end(record->flow) || !flow)
			return;
		if (flow->left == U64_MAX)
			flow->left = 0;
		flow->ends = true;
		return write_flow(flow);
	case ACKCLOCK_LOOK:
		for (index = 0; index < MOST_FLOWS; index++) {
			if (senders[index])
				report(senders[index], *(const u64 *)content);
			if (receivers[index])
				report(receivers[index], *(const u64 *)content);
		}
		ackclock_multipath_report(*(const u64 *)content);
		return;
	}
}

/* Takes the first entry of a list. */
static struct list_head *take(struct list_head *list)
{
	struct list_head *first = NULL;
	unsigned long flags;

	local_irq_save(flags);
	if (!list_empty(list)) {
		first = list->next;
		list_del_init(first);
	}
	local_irq_restore(flags);
	return first;
}

static int work(void *unused)
{
	struct list_head *first;

	for (;;) {
		set_current_state(TASK_IDLE);
		if (list_empty(&commands) && list_empty(&to_write) && !to_accept && !to_close)
			schedule();
		__set_current_state(TASK_RUNNING);
		if (xchg(&to_accept, false))
			accept_all();
		while ((first = take(&commands))) {
			struct command *command = list_entry(first, struct command, list);

			obey(&command->record, command->content);
			kfree(command);
		}
		while ((first = take(&to_write)))
			write_flow(list_entry(first, struct flow, due));
		if (xchg(&to_close, false))
			close_all();
	}
	return 0;
}

void ackclock_flows_command(const struct ackclock_record *record, const void *content)
{
	struct command *command = kmalloc(sizeof(*command) + record->len, GFP_ATOMIC);

	if (!command)
		panic("ackclock: no memory for a command");
	command->record = *record;
	memcpy(command->content, content, record->len);
	list_add_tail(&command->list, &commands);
	wake();
}

int __init ackclock_flows_init(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	struct task_struct *task;
	int error;

	zeros = alloc_pages(GFP_KERNEL | __GFP_ZERO | __GFP_COMP, ZEROS_ORDER);
	if (!zeros)
		return -ENOMEM;
	error = sock_create_kern(&init_net, AF_INET, SOCK_STREAM, IPPROTO_TCP, &listener);
	if (!error)
		error = kernel_bind(listener, (struct sockaddr *)&address, sizeof(address));
	if (error)
		return error;
	listener->sk->sk_data_ready = listener_has_data;
	error = kernel_listen(listener, MOST_FLOWS);
	if (error)
		return error;
	task = kthread_run(work, NULL, "ackclock");
	if (IS_ERR(task))
		return PTR_ERR(task);
	worker = task;
	return 0;
}
