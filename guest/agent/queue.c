// SPDX-License-Identifier: GPL-2.0
/*
 * A device whose queue discipline is under test, as in a router.
 *
 * Ackclock tells of each arrival and of each time at which its transmitter is free. The queue gives one packet then. A
 * packet has the header of the arrival, and zeros instead of its content.
 */
#include <linux/if_arp.h>
#include <linux/ip.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/udp.h>
#include <linux/version.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/pkt_sched.h>
#include "agent.h"

/* A packet in the queue. The kernel calls `left` when it frees the data of the packet. */
struct queued {
	struct ubuf_info info;
	u32 token;
	bool is_served;
	bool *is_gone;
};

static struct net_device *device;
static struct page *zeros;

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
static void left(struct sk_buff *skb, struct ubuf_info *info, bool success);
static const struct ubuf_info_ops ops = { .complete = left };
#define SET_LEFT(info) ((info)->ops = &ops)
#else
static void left(struct sk_buff *skb, struct ubuf_info *info, bool success);
#define SET_LEFT(info) ((info)->callback = left)
#endif

static void tell(u16 kind, u32 token)
{
	*(u32 *)ackclock_record(kind, 0, sizeof(token)) = token;
}

static void left(struct sk_buff *skb, struct ubuf_info *info, bool success)
{
	struct queued *queued = container_of(info, struct queued, info);

	if (!queued->is_served)
		tell(ACKCLOCK_DROPPED, queued->token);
	if (queued->is_gone)
		*queued->is_gone = true;
	kfree(queued);
}

static bool is_marked(struct sk_buff *skb)
{
	return INET_ECN_is_ce(ipv4_get_dsfield(ip_hdr(skb)));
}

static netdev_tx_t queue_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct queued *queued = container_of(skb_zcopy(skb), struct queued, info);

	queued->is_served = true;
	tell(is_marked(skb) ? ACKCLOCK_SERVED_MARKED : ACKCLOCK_SERVED, queued->token);
	netif_stop_queue(dev);
	dev_consume_skb_any(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops queue_ops = {
	.ndo_start_xmit = queue_xmit,
};

static void queue_setup(struct net_device *dev)
{
	dev->netdev_ops = &queue_ops;
	dev->type = ARPHRD_NONE;
	dev->flags = IFF_POINTOPOINT | IFF_NOARP;
	dev->min_mtu = 68;
	dev->max_mtu = 65535;
	/* CoDel and PIE drop nothing from a backlog of one or two packets of this size. */
	dev->mtu = ackclock_shared->mtu;
	dev->tx_queue_len = 1000;
	dev->features = NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_HIGHDMA;
}

static struct sk_buff *packet(const struct ackclock_arrival *arrival, struct queued *queued)
{
	u32 headers = sizeof(struct iphdr) + sizeof(struct udphdr);
	u32 len = max(arrival->len, headers);
	struct sk_buff *skb = alloc_skb(headers, GFP_ATOMIC);
	struct udphdr *udp;
	struct iphdr *ip;

	if (!skb)
		return NULL;
	skb_reset_mac_header(skb);
	skb_reset_network_header(skb);
	ip = skb_put_zero(skb, sizeof(*ip));
	skb_set_transport_header(skb, sizeof(*ip));
	udp = skb_put_zero(skb, sizeof(*udp));
	*ip = (struct iphdr){
		.version = 4,
		.ihl = 5,
		.tos = arrival->tos,
		.tot_len = htons(len),
		.ttl = 64,
		.protocol = IPPROTO_UDP,
		/* Flows differ in an address. */
		.saddr = htonl(arrival->flow),
		.daddr = htonl(10u << 24 | 1),
	};
	ip->check = ip_fast_csum(ip, ip->ihl);
	udp->source = htons(9);
	udp->dest = htons(9);
	udp->len = htons(len - sizeof(*ip));
	if (len > headers) {
		get_page(zeros);
		skb_fill_page_desc(skb, 0, zeros, 0, len - headers);
		skb->len += len - headers;
		skb->data_len += len - headers;
		skb->truesize += len - headers;
	}
	skb->protocol = htons(ETH_P_IP);
	skb->dev = device;
	queued->token = arrival->token;
	SET_LEFT(&queued->info);
	refcount_set(&queued->info.refcnt, 1);
	queued->info.flags = SKBFL_ZEROCOPY_FRAG;
	skb_zcopy_init(skb, &queued->info);
	return skb;
}

static void arrive(const struct ackclock_arrival *arrival)
{
	struct queued *queued = kzalloc(sizeof(*queued), GFP_ATOMIC);
	struct sk_buff *skb = queued ? packet(arrival, queued) : NULL;
	struct Qdisc *root = rcu_dereference_bh(netdev_get_tx_queue(device, 0)->qdisc);
	bool was_marked = INET_ECN_is_ce(arrival->tos), is_gone = false;

	if (!skb)
		panic("ackclock: no memory for a packet");
	/* A packet for an idle device would go around the queue. */
	root->flags &= ~TCQ_F_CAN_BYPASS;
	queued->is_gone = &is_gone;
	dev_queue_xmit(skb);
	if (is_gone)
		return;
	queued->is_gone = NULL;
	if (!was_marked && is_marked(skb))
		tell(ACKCLOCK_MARKED, arrival->token);
}

/* The transmitter takes one packet. */
static void serve(void)
{
	struct Qdisc *root = rcu_dereference_bh(netdev_get_tx_queue(device, 0)->qdisc);
	spinlock_t *lock = NULL;

	netif_start_queue(device);
	if (!(root->flags & TCQ_F_NOLOCK)) {
		lock = qdisc_lock(root);
		spin_lock(lock);
	}
	qdisc_run(root);
	if (lock)
		spin_unlock(lock);
	netif_stop_queue(device);
}

void ackclock_queue(const struct ackclock_record *record, const void *content)
{
	local_bh_disable();
	rcu_read_lock_bh();
	if (record->kind == ACKCLOCK_ARRIVE)
		arrive(content);
	else
		serve();
	rcu_read_unlock_bh();
	local_bh_enable();
}

int __init ackclock_queue_init(void)
{
	int error;

	zeros = alloc_pages(GFP_KERNEL | __GFP_ZERO | __GFP_COMP, 4);
	device = alloc_netdev(0, "queue", NET_NAME_PREDICTABLE, queue_setup);
	if (!zeros || !device)
		return -ENOMEM;
	rtnl_lock();
	error = register_netdevice(device);
	if (!error)
		error = dev_change_flags(device, device->flags | IFF_UP, NULL);
	rtnl_unlock();
	if (!error) {
		netif_stop_queue(device);
		ackclock_shared->queue = device->ifindex;
	}
	return error;
}
