/* Packets: their length, times, control block, headers and hash. */
#ifndef SOJOURN_KERNEL_SK_BUFF_H
#define SOJOURN_KERNEL_SK_BUFF_H

#include "sock.h"

#define ETH_HLEN 14
#define ETH_ALEN 6
#define ETH_DATA_LEN 1500
#define ETH_P_IP 0x0800
#define ETH_P_IPV6 0x86DD
#define ETH_P_ARP 0x0806
#define VLAN_HLEN 4
#define IPPROTO_IP 0
#define IPPROTO_TCP 6
#define IPPROTO_UDP 17
#define IPPROTO_IPV6 41

struct net_device;
struct net_device_ops { int (*ndo_setup_tc)(struct net_device *dev, int type, void *data); };
struct net_device {
	unsigned int mtu;
	unsigned short hard_header_len;
	int ifindex;
	netdev_features_t features;
	unsigned long tx_queue_len;
	const struct net_device_ops *netdev_ops;
	char name[16];
};

struct iphdr {
	u8 ihl : 4, version : 4;
	u8 tos;
	u16 tot_len, id, frag_off;
	u8 ttl, protocol;
	u16 check;
	u32 saddr, daddr;
};
struct in6_addr { u32 s6_addr32[4]; };
struct ipv6hdr {
	u8 priority : 4, version : 4;
	u8 flow_lbl[3];
	u16 payload_len;
	u8 nexthdr, hop_limit;
	struct in6_addr saddr, daddr;
};
struct tcphdr {
	u16 source, dest;
	u32 seq, ack_seq;
	u16 res1 : 4, doff : 4, fin : 1, syn : 1, rst : 1, psh : 1, ack : 1, urg : 1, ece : 1, cwr : 1;
	u16 window, check, urg_ptr;
};
struct tcp_sack_block { u32 start_seq, end_seq; };
struct tcp_sack_block_wire { u32 start_seq, end_seq; };
struct udphdr { u16 source, dest, len, check; };
#define tcp_flag_word(header) (((u32 *)(header))[3])
#define TCP_FLAG_ESCE htonl(0x01000000)
#define TCP_FLAG_CWR htonl(0x00800000)
#define TCP_FLAG_ECE htonl(0x00400000)
#define TCP_FLAG_URG htonl(0x00200000)
#define TCP_FLAG_ACK htonl(0x00100000)
#define TCP_FLAG_PSH htonl(0x00080000)
#define TCP_FLAG_RST htonl(0x00040000)
#define TCP_FLAG_SYN htonl(0x00020000)
#define TCP_FLAG_FIN htonl(0x00010000)
#define TCP_RESERVED_BITS htonl(0x0F000000)
#define TCP_DATA_OFFSET htonl(0xF0000000)
enum { TCPOPT_NOP = 1, TCPOPT_EOL = 0, TCPOPT_MSS = 2, TCPOPT_WINDOW = 3, TCPOPT_SACK_PERM = 4,
	TCPOPT_SACK = 5, TCPOPT_TIMESTAMP = 8, TCPOPT_MD5SIG = 19, TCPOPT_FASTOPEN = 34, TCPOPT_EXP = 254 };
enum { TCPOLEN_TIMESTAMP = 10, TCPOLEN_SACK_BASE = 2, TCPOLEN_SACK_PERBLOCK = 8 };

struct skb_shared_info { u16 gso_size, gso_segs; u32 gso_type; };
struct sk_buff {
	union {
		struct { struct sk_buff *next, *prev; };
		struct rb_node rbnode;
		struct list_head list;
	};
	struct sock *sk;
	struct net_device *dev;
	ktime_t tstamp;
	u64 skb_mstamp_ns;
	char cb[48] __aligned(8);
	unsigned int len, data_len, truesize;
	u32 priority, mark, hash;
	u16 protocol, queue_mapping, network_header, transport_header, mac_header, vlan_tci;
	u8 ip_summed, pkt_type, encapsulation, l4_hash, sw_hash;
	u16 tc_index;
	unsigned char *head, *data, *tail, *end;
	struct skb_shared_info shared;
	unsigned long _nfct;
	/* Sojourn's: the packet it stands for, the address that a NAT hides, and its headers. */
	u32 packet, hidden;
	unsigned char headers[96] __aligned(4);
};
struct sk_buff_head {
	struct sk_buff *next, *prev;
	u32 qlen;
	spinlock_t lock;
};

#define CHECKSUM_NONE 0
#define CHECKSUM_PARTIAL 3
#define skb_shinfo(skb) (&(skb)->shared)
#define skb_is_gso(skb) ((skb)->shared.gso_size != 0)
#define skb_is_gso_v6(skb) false
#define skb_shinfo_gso_type(skb) 0
#define SKB_GSO_TCPV4 1
#define SKB_GSO_TCPV6 16
#define SKB_GSO_DODGY 2
#define SKB_GSO_UDP_L4 (1 << 17)
#define NETIF_F_GSO_MASK 0
#define netif_skb_features(skb) 0
#define skb_gso_segment(skb, features) ((struct sk_buff *)ERR_PTR(-EINVAL))
#define skb_list_walk_safe(first, skb, next_skb) \
	for ((skb) = (first), (next_skb) = (skb) ? (skb)->next : NULL; (skb); \
	     (skb) = (next_skb), (next_skb) = (skb) ? (skb)->next : NULL)
#define skb_mark_not_on_list(skb) ((skb)->next = NULL)
#define skb_orphan(skb) ((skb)->sk = NULL)
#define skb_get_hash(skb) ((skb)->hash)
#define skb_get_hash_perturb(skb, key) ((skb)->hash)
#define skb_get_queue_mapping(skb) 0
#define skb_data(skb) ((skb)->data)
#define skb_headlen(skb) ((skb)->len)
#define skb_network_offset(skb) ((int)(skb)->network_header)
#define skb_transport_offset(skb) ((int)(skb)->transport_header)
#define skb_mac_header(skb) ((skb)->head)
#define skb_network_header(skb) ((skb)->head + (skb)->network_header)
#define skb_transport_header(skb) ((skb)->head + (skb)->transport_header)
#define skb_transport_header_was_set(skb) true
#define skb_mac_header_was_set(skb) true
#define skb_set_inner_network_header(skb, offset) ((void)(skb))
#define skb_protocol(skb, skip_vlan) ((skb)->protocol)
#define tc_skb_protocol(skb) ((skb)->protocol)
#define eth_type_vlan(type) false
#define skb_vlan_tag_present(skb) false
#define skb_try_make_writable(skb, length) 0
#define skb_cow_head(skb, room) 0
#define pskb_may_pull(skb, length) true
#define skb_rb_first(root) rb_to_skb(rb_first(root))
#define skb_header_pointer(skb, offset, length, buffer) ((void *)((skb)->head + (offset)))
#define ip_hdr(skb) ((struct iphdr *)skb_network_header(skb))
#define ipv6_hdr(skb) ((struct ipv6hdr *)skb_network_header(skb))
#define tcp_hdr(skb) ((struct tcphdr *)skb_transport_header(skb))
#define tcp_hdrlen(skb) 20u
#define __tcp_hdrlen(header) ((header)->doff * 4u)
#define iph_totlen(skb, header) ntohs((header)->tot_len)
#define ipv6_payload_len(skb, header) ntohs((header)->payload_len)
#define sk_listener(sk) false
#define sk_is_tcp(sk) true
#define inet_proto_csum_replace(...) ((void)0)
#define ipv6_addr_equal(a, b) (!memcmp(a, b, sizeof(struct in6_addr)))
#define ipv6_addr_cmp(a, b) memcmp(a, b, sizeof(struct in6_addr))

/* Told of packets that end here and of those that are marked. */
__weak void (*sojourn_dropped)(struct sk_buff *skb);
__weak void (*sojourn_marked)(struct sk_buff *skb);

static inline void kfree_skb(struct sk_buff *skb)
{
	if (skb)
		sojourn_dropped(skb);
}
static inline void kfree_skb_list(struct sk_buff *skb)
{
	while (skb) {
		struct sk_buff *next = skb->next;

		kfree_skb(skb);
		skb = next;
	}
}
#define kfree_skb_reason(skb, reason) kfree_skb(skb)
#define kfree_skb_list_reason(skb, reason) kfree_skb_list(skb)
#define consume_skb(skb) kfree_skb(skb)
static inline void rtnl_kfree_skbs(struct sk_buff *head, struct sk_buff *tail)
{
	if (head) {
		tail->next = NULL;
		kfree_skb_list(head);
	}
}
enum { SKB_DROP_REASON_NOT_SPECIFIED = 2, SKB_DROP_REASON_QDISC_DROP = 50,
	SKB_DROP_REASON_QDISC_OVERLIMIT, SKB_DROP_REASON_QDISC_CONGESTED,
	SKB_DROP_REASON_CAKE_FLOOD };
typedef int skb_drop_reason_t;

static inline void __skb_queue_head_init(struct sk_buff_head *list)
{
	list->next = list->prev = (struct sk_buff *)list;
	list->qlen = 0;
}
#define skb_queue_head_init(list) __skb_queue_head_init(list)
#define skb_queue_len(list) ((list)->qlen)
static inline struct sk_buff *skb_peek(const struct sk_buff_head *list)
{
	return list->qlen ? list->next : NULL;
}
static inline void __skb_queue_head(struct sk_buff_head *list, struct sk_buff *skb)
{
	skb->next = list->next;
	skb->prev = (struct sk_buff *)list;
	list->next->prev = skb;
	list->next = skb;
	list->qlen++;
}
static inline void __skb_queue_tail(struct sk_buff_head *list, struct sk_buff *skb)
{
	skb->next = (struct sk_buff *)list;
	skb->prev = list->prev;
	list->prev->next = skb;
	list->prev = skb;
	list->qlen++;
}
static inline struct sk_buff *__skb_dequeue(struct sk_buff_head *list)
{
	struct sk_buff *skb = skb_peek(list);

	if (skb) {
		list->next = skb->next;
		skb->next->prev = (struct sk_buff *)list;
		skb->next = skb->prev = NULL;
		list->qlen--;
	}
	return skb;
}

#define ipv4_get_dsfield(header) ((header)->tos)
#define ipv4_change_dsfield(header, keep, value) \
	((header)->tos = ((header)->tos & (keep)) | (value))
#define ipv6_get_dsfield(header) 0
#define ipv6_change_dsfield(header, keep, value) ((void)(header))
#define INET_ECN_is_capable(field) ((field) & INET_ECN_ECT_0)
#define INET_ECN_is_ce(field) (((field) & INET_ECN_MASK) == INET_ECN_CE)
#define INET_ECN_is_not_ect(field) (((field) & INET_ECN_MASK) == INET_ECN_NOT_ECT)
#define skb_get_dsfield(skb) ((int)ip_hdr(skb)->tos)
/* Whether the packet carries CE now. */
static inline int INET_ECN_set_ce(struct sk_buff *skb)
{
	u8 ecn = ip_hdr(skb)->tos & INET_ECN_MASK;

	if (ecn == INET_ECN_NOT_ECT)
		return 0;
	if (ecn != INET_ECN_CE) {
		ip_hdr(skb)->tos |= INET_ECN_CE;
		sojourn_marked(skb);
	}
	return 1;
}
static inline int INET_ECN_set_ect1(struct sk_buff *skb)
{
	if ((ip_hdr(skb)->tos & INET_ECN_MASK) != INET_ECN_ECT_0)
		return 0;
	ip_hdr(skb)->tos ^= INET_ECN_MASK;
	sojourn_marked(skb);
	return 1;
}

/* "Some Congestion Experienced" (`chromi/sce`). */
#define INET_ECN_set_sce INET_ECN_set_ect1

/* What a flow is told from another by. */
struct flow_dissector_key_control { u16 thoff, addr_type; u32 flags; };
struct flow_dissector_key_basic { u16 n_proto; u8 ip_proto, padding; };
struct flow_dissector_key_ports { union { u32 ports; struct { u16 src, dst; }; }; };
struct flow_keys {
	struct flow_dissector_key_control control;
	struct flow_dissector_key_basic basic;
	struct { u32 flow_label; } tags;
	struct { u32 keyid; } keyid;
	struct flow_dissector_key_ports ports;
	struct {
		struct { u32 src, dst; } v4addrs;
		struct { struct in6_addr src, dst; } v6addrs;
	} addrs;
};
enum { FLOW_DISSECTOR_KEY_CONTROL, FLOW_DISSECTOR_KEY_BASIC, FLOW_DISSECTOR_KEY_IPV4_ADDRS,
	FLOW_DISSECTOR_KEY_IPV6_ADDRS, FLOW_DISSECTOR_KEY_PORTS };
#define FLOW_DISSECTOR_F_STOP_AT_FLOW_LABEL 2
#define skb_flow_dissect_flow_keys(skb, keys, flags) ({ \
	const struct iphdr *_ip = ip_hdr(skb); \
	*(keys) = (struct flow_keys){ \
		.control = { .addr_type = FLOW_DISSECTOR_KEY_IPV4_ADDRS }, \
		.basic = { htons(ETH_P_IP), _ip->protocol }, \
		.ports = { { *(const u32 *)skb_transport_header(skb) } }, \
		.addrs = { .v4addrs = { _ip->saddr, _ip->daddr } } }; \
	true; })
#define flow_hash_from_keys(keys) \
	jhash_3words((keys)->ports.ports, (keys)->addrs.v4addrs.src, (keys)->addrs.v4addrs.dst, 0)
#define make_flow_keys_digest(digest, keys) ((void)(keys))

#endif
