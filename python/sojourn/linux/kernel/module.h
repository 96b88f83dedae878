/* Modules: how one begins, and its parameters. */
#ifndef SOJOURN_KERNEL_MODULE_H
#define SOJOURN_KERNEL_MODULE_H

#include "types.h"

struct module { int unused; };
#define THIS_MODULE ((struct module *)0)
#define MODULE_AUTHOR(text) extern int sojourn_nothing
#define MODULE_LICENSE(text) extern int sojourn_nothing
#define MODULE_DESCRIPTION(text) extern int sojourn_nothing
#define MODULE_VERSION(text) extern int sojourn_nothing
#define MODULE_ALIAS(text) extern int sojourn_nothing
#define MODULE_INFO(...) extern int sojourn_nothing
#define MODULE_SOFTDEP(text) extern int sojourn_nothing
#define MODULE_ALIAS_NET_SCH(text) extern int sojourn_nothing
#define EXPORT_SYMBOL(name) extern int sojourn_nothing
#define EXPORT_SYMBOL_GPL(name) extern int sojourn_nothing
#define try_module_get(module) 1
#define module_put(module) ((void)0)

/* The names are those of macros here, so that a module may have functions called otherwise. */
#define module_init(function) static int sojourn_module_init(void) { return function(); }
#define late_initcall(function) module_init(function)
#define module_exit(function) \
	static __attribute__((unused)) void sojourn_module_exit(void) { function(); }

/* A parameter, kept in a section of its own so that all can be found. */
struct sojourn_module_param {
	const char *name, *type;
	void *value;
};
struct sojourn_module_param_text { const char *name, *text; };

#define module_param_named(label, variable, kind, mode) \
	static const struct sojourn_module_param sojourn_param_##label \
		__attribute__((used, section("sojourn_params"), aligned(8))) = \
		{ #label, #kind, (void *)&(variable) }
#define module_param(variable, kind, mode) module_param_named(variable, variable, kind, mode)

/* One whose setting is checked by the module. */
struct kernel_param { void *arg; };
struct kernel_param_ops {
	unsigned int flags;
	int (*set)(const char *text, const struct kernel_param *param);
	int (*get)(char *text, const struct kernel_param *param);
	void (*free)(void *arg);
};
struct sojourn_checked_param { const struct kernel_param_ops *ops; struct kernel_param param; };
#define module_param_cb(label, operations, argument, mode) \
	static struct sojourn_checked_param sojourn_checked_##label = { operations, { argument } }; \
	module_param_named(label, sojourn_checked_##label, checked, mode)
static inline int param_get_uint(char *text, const struct kernel_param *param)
{
	return sprintf(text, "%u", *(unsigned int *)param->arg);
}
static inline int param_get_int(char *text, const struct kernel_param *param)
{
	return sprintf(text, "%d", *(int *)param->arg);
}
static inline int param_set_int(const char *text, const struct kernel_param *param)
{
	*(int *)param->arg = atoi(text);
	return 0;
}
static inline int param_set_uint(const char *text, const struct kernel_param *param)
{
	*(unsigned int *)param->arg = strtoul(text, NULL, 0);
	return 0;
}
static inline int param_set_uint_minmax(const char *text, const struct kernel_param *param,
					unsigned int least, unsigned int most)
{
	unsigned long value = strtoul(text, NULL, 0);

	return value < least || value > most ? -EINVAL : param_set_uint(text, param);
}

#define module_param_array(...) extern int sojourn_nothing
#define MODULE_PARM_DESC(label, words) \
	static const struct sojourn_module_param_text sojourn_text_##label \
		__attribute__((used, section("sojourn_texts"), aligned(8))) = { #label, words }

/* BTF, through which BPF programs call kernel functions: nobody does. */
struct btf_kfunc_id_set { struct module *owner; const void *set; };
#define BTF_KFUNCS_START(name) static const int name __attribute__((unused)) = 0;
#define BTF_KFUNCS_END(name)
#define BTF_SET8_START(name) BTF_KFUNCS_START(name)
#define BTF_SET8_END(name)
#define BTF_SET_START(name) BTF_KFUNCS_START(name)
#define BTF_SET_END(name)
#define BTF_ID(kind, name)
#define BTF_ID_FLAGS(...)
#define BPF_PROG_TYPE_STRUCT_OPS 0
#define register_btf_kfunc_id_set(type, set) ((void)(set), 0)

#endif
