/* Linked lists and ordered trees. */
#ifndef SOJOURN_KERNEL_LIST_H
#define SOJOURN_KERNEL_LIST_H

#include "types.h"

struct list_head { struct list_head *next, *prev; };
struct hlist_node { struct hlist_node *next, **pprev; };
struct hlist_head { struct hlist_node *first; };

#define LIST_HEAD_INIT(name) { &(name), &(name) }
#define LIST_HEAD(name) struct list_head name = LIST_HEAD_INIT(name)

static inline void INIT_LIST_HEAD(struct list_head *list) { list->next = list->prev = list; }
static inline void sojourn_link(struct list_head *one, struct list_head *other)
{
	one->next = other;
	other->prev = one;
}
static inline void list_add(struct list_head *new, struct list_head *head)
{
	sojourn_link(new, head->next);
	sojourn_link(head, new);
}
static inline void list_add_tail(struct list_head *new, struct list_head *head)
{
	sojourn_link(head->prev, new);
	sojourn_link(new, head);
}
static inline void list_del(struct list_head *entry) { sojourn_link(entry->prev, entry->next); }
static inline void list_del_init(struct list_head *entry)
{
	list_del(entry);
	INIT_LIST_HEAD(entry);
}
static inline void list_move(struct list_head *entry, struct list_head *head)
{
	list_del(entry);
	list_add(entry, head);
}
static inline void list_move_tail(struct list_head *entry, struct list_head *head)
{
	list_del(entry);
	list_add_tail(entry, head);
}
static inline int list_empty(const struct list_head *head) { return head->next == head; }
static inline int list_is_singular(const struct list_head *head)
{
	return !list_empty(head) && head->next == head->prev;
}
#define list_entry(pointer, type, member) container_of(pointer, type, member)
#define list_first_entry(head, type, member) list_entry((head)->next, type, member)
#define list_last_entry(head, type, member) list_entry((head)->prev, type, member)
#define list_first_entry_or_null(head, type, member) \
	(list_empty(head) ? NULL : list_first_entry(head, type, member))
#define list_next_entry(entry, member) list_entry((entry)->member.next, typeof(*(entry)), member)
#define list_for_each(at, head) for (at = (head)->next; at != (head); at = at->next)
#define list_for_each_safe(at, n, head) \
	for (at = (head)->next, n = at->next; at != (head); at = n, n = at->next)
#define list_for_each_entry(at, head, member) \
	for (at = list_first_entry(head, typeof(*at), member); &at->member != (head); \
	     at = list_next_entry(at, member))
#define list_for_each_entry_safe(at, n, head, member) \
	for (at = list_first_entry(head, typeof(*at), member), n = list_next_entry(at, member); \
	     &at->member != (head); at = n, n = list_next_entry(n, member))

/* An ordered tree that is never balanced: callers see its order, not its shape. */
struct rb_node { struct rb_node *rb_parent, *rb_right, *rb_left; };
struct rb_root { struct rb_node *rb_node; };
struct rb_root_cached { struct rb_root rb_root; };

#define RB_ROOT (struct rb_root){ NULL }
#define RB_ROOT_CACHED (struct rb_root_cached){ { NULL } }
#define rb_entry(pointer, type, member) container_of(pointer, type, member)
#define rb_entry_safe(pointer, type, member) \
	({ struct rb_node *_node = (pointer); _node ? rb_entry(_node, type, member) : NULL; })
#define rb_to_skb(node) rb_entry_safe(node, struct sk_buff, rbnode)
#define RB_EMPTY_ROOT(root) (!(root)->rb_node)
#define RB_CLEAR_NODE(node) ((node)->rb_parent = (node))
#define RB_EMPTY_NODE(node) ((node)->rb_parent == (node))
#define rb_parent(node) ((node)->rb_parent)

static inline void rb_link_node(struct rb_node *node, struct rb_node *parent, struct rb_node **link)
{
	*node = (struct rb_node){ .rb_parent = parent };
	*link = node;
}
#define rb_insert_color(node, root) ((void)(node), (void)(root))

static inline struct rb_node *sojourn_rb_end(struct rb_node *node, bool left)
{
	struct rb_node *next;

	while (node && (next = left ? node->rb_left : node->rb_right))
		node = next;
	return node;
}
#define rb_first(root) sojourn_rb_end((root)->rb_node, true)
#define rb_last(root) sojourn_rb_end((root)->rb_node, false)
#define rb_first_cached(root) rb_first(&(root)->rb_root)
#define rb_insert_color_cached(node, root, leftmost) ((void)(leftmost))
#define rb_erase_cached(node, root) rb_erase(node, &(root)->rb_root)

static inline struct rb_node *rb_next(const struct rb_node *node)
{
	if (node->rb_right)
		return sojourn_rb_end(node->rb_right, true);
	while (node->rb_parent && node == node->rb_parent->rb_right)
		node = node->rb_parent;
	return node->rb_parent;
}

static inline void sojourn_rb_put(struct rb_root *root, struct rb_node *old, struct rb_node *new)
{
	if (!old->rb_parent)
		root->rb_node = new;
	else if (old->rb_parent->rb_left == old)
		old->rb_parent->rb_left = new;
	else
		old->rb_parent->rb_right = new;
	if (new)
		new->rb_parent = old->rb_parent;
}

static inline void rb_erase(struct rb_node *node, struct rb_root *root)
{
	struct rb_node *next;

	if (!node->rb_left) {
		sojourn_rb_put(root, node, node->rb_right);
	} else if (!node->rb_right) {
		sojourn_rb_put(root, node, node->rb_left);
	} else { /* the next in order takes its place */
		next = sojourn_rb_end(node->rb_right, true);
		if (next->rb_parent != node) {
			sojourn_rb_put(root, next, next->rb_right);
			next->rb_right = node->rb_right;
			next->rb_right->rb_parent = next;
		}
		sojourn_rb_put(root, node, next);
		next->rb_left = node->rb_left;
		next->rb_left->rb_parent = next;
	}
}

#endif
