/* Netlink: the attributes that a discipline is configured by come from the scenario. */
#ifndef SOJOURN_KERNEL_NETLINK_H
#define SOJOURN_KERNEL_NETLINK_H

#include "module.h"

struct Qdisc;
struct netlink_ext_ack { const char *_msg; };
struct netlink_range_validation { u64 min, max; };
struct netlink_range_validation_signed { s64 min, max; };
struct nla_policy {
	u8 type, validation_type;
	u16 len;
	u16 strict_start_type;
	s16 min, max;
	const void *range;
	u32 bitfield32_valid;
};
struct nla_bitfield32 { u32 value, selector; };

enum { NLA_UNSPEC, NLA_U8, NLA_U16, NLA_U32, NLA_U64, NLA_STRING, NLA_FLAG, NLA_MSECS, NLA_NESTED,
	NLA_NESTED_ARRAY, NLA_NUL_STRING, NLA_BINARY, NLA_S8, NLA_S16, NLA_S32, NLA_S64,
	NLA_BITFIELD32, NLA_REJECT };
#define NLA_POLICY_FULL_RANGE(kind, limits) { .type = kind, .range = limits }
#define NLA_POLICY_RANGE(kind, least, most) { .type = kind, .min = least, .max = most }
#define NLA_POLICY_MIN(kind, least) { .type = kind, .min = least }
#define NLA_POLICY_MAX(kind, most) { .type = kind, .max = most }
#define NLA_POLICY_BITFIELD32(valid) { .type = NLA_BITFIELD32, .bitfield32_valid = valid }
#define NLA_POLICY_NESTED(policy) { .type = NLA_NESTED }
#define NLA_POLICY_EXACT_LEN(length) { .type = NLA_BINARY, .len = length }
#define TCA_OPTIONS 2

struct nlattr {
	u16 nla_len, nla_type;
	u8 data[1024] __attribute__((aligned(8)));
};
/* What the scenario gives: attributes by their types, none of which is 0. */
struct sojourn_options { struct nlattr outer; struct nlattr given[64]; u32 count; };

#define NL_SET_ERR_MSG(extack, text) ((void)(extack))
#define NL_SET_ERR_MSG_MOD(extack, text) ((void)(extack))
#define NL_SET_ERR_MSG_FMT_MOD(extack, ...) ((void)(extack))
#define NL_SET_ERR_MSG_FMT(extack, ...) ((void)(extack))
#define NL_SET_ERR_MSG_ATTR(extack, attribute, text) ((void)(extack))
#define NL_SET_ERR_MSG_ATTR_FMT(extack, attribute, ...) ((void)(extack))

#define nla_data(attribute) ((void *)(attribute)->data)
#define nla_len(attribute) ((attribute)->nla_len)
#define nla_type(attribute) ((attribute)->nla_type)
#define nla_get_u8(attribute) (*(const u8 *)(attribute)->data)
#define nla_get_u16(attribute) (*(const u16 *)(attribute)->data)
#define nla_get_u32(attribute) (*(const u32 *)(attribute)->data)
#define nla_get_u64(attribute) (*(const u64 *)(attribute)->data)
#define nla_get_s32(attribute) (*(const s32 *)(attribute)->data)
#define nla_get_s64(attribute) (*(const s64 *)(attribute)->data)
#define nla_get_flag(attribute) ((attribute) != NULL)
#define nla_get_bitfield32(attribute) (*(const struct nla_bitfield32 *)(attribute)->data)

static inline int nla_parse_nested(struct nlattr **table, int most, const struct nlattr *options,
				   const struct nla_policy *policy, struct netlink_ext_ack *extack)
{
	struct sojourn_options *all = container_of(options, struct sojourn_options, outer);

	memset(table, 0, sizeof(*table) * (most + 1));
	for (u32 i = 0; i < all->count; i++)
		if (all->given[i].nla_type <= most)
			table[all->given[i].nla_type] = &all->given[i];
	return 0;
}
#define nla_parse_nested_deprecated nla_parse_nested

/* Nobody asks what is set. */
#define nla_put(...) 0
#define nla_put_u8(...) 0
#define nla_put_u16(...) 0
#define nla_put_u32(...) 0
#define nla_put_s32(...) 0
#define nla_put_u64_64bit(...) 0
#define nla_put_flag(...) 0
#define nla_put_string(...) 0
#define nla_put_bitfield32(...) 0
#define nla_nest_start(...) ((struct nlattr *)NULL)
#define nla_nest_start_noflag(...) ((struct nlattr *)NULL)
#define nla_nest_end(...) 0
#define nla_nest_cancel(...) ((void)0)

#endif
