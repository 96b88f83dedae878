/* Module parameters as Sojourn's: described with their values before the module begins, set and the
 * module begun with the first connection.
 */
#ifndef SOJOURN_KERNEL_PARAMS_H
#define SOJOURN_KERNEL_PARAMS_H

#include "module.h"
#include "sojourn_cca.h"

extern const struct sojourn_module_param __start_sojourn_params[] __attribute__((weak));
extern const struct sojourn_module_param __stop_sojourn_params[] __attribute__((weak));
extern const struct sojourn_module_param_text __start_sojourn_texts[] __attribute__((weak));
extern const struct sojourn_module_param_text __stop_sojourn_texts[] __attribute__((weak));

#define SOJOURN_KINDS(X) \
	X(bool, bool, 0, 1) X(byte, u8, 0, 255) X(short, short, SHRT_MIN, SHRT_MAX) \
	X(ushort, ushort, 0, USHRT_MAX) X(int, int, INT_MIN, INT_MAX) X(uint, uint, 0, UINT_MAX) \
	X(long, long, -9007199254740992.0, 9007199254740992.0) \
	X(ulong, ulong, 0, 9007199254740992.0) X(ullong, u64, 0, 9007199254740992.0)

static bool sojourn_param_read(const struct sojourn_module_param *param, struct sojourn_param *to)
{
	char text[64] = "";
	struct sojourn_checked_param *checked = param->value;

#define X(kind, c, low, high) \
	if (!strcmp(param->type, #kind)) { \
		to->value = *(c *)param->value; \
		to->least = low; \
		to->most = high; \
		return true; \
	}
	SOJOURN_KINDS(X)
#undef X
	if (strcmp(param->type, "checked") || !checked->ops->get)
		return false; /* a text */
	checked->ops->get(text, &checked->param);
	to->value = strtod(text, NULL);
	to->least = INT_MIN;
	to->most = UINT_MAX;
	return true;
}

static bool sojourn_param_write(const struct sojourn_module_param *param, double value)
{
	char text[64];
	struct sojourn_checked_param *checked = param->value;

#define X(kind, c, low, high) \
	if (!strcmp(param->type, #kind)) { \
		*(c *)param->value = (c)value; \
		return true; \
	}
	SOJOURN_KINDS(X)
#undef X
	snprintf(text, sizeof text, "%.0f", value);
	return !checked->ops->set(text, &checked->param);
}

/* Those that are numbers. */
static const struct sojourn_module_param *sojourn_numbers[64];

static const struct sojourn_param *sojourn_params_described(uint32_t *count)
{
	static struct sojourn_param params[ARRAY_SIZE(sojourn_numbers)];
	static uint32_t described;
	const struct sojourn_module_param *param = __start_sojourn_params;

	for (; !described && param < __stop_sojourn_params && *count < ARRAY_SIZE(params); param++) {
		struct sojourn_param *to = params + *count;

		*to = (struct sojourn_param){ .name = param->name, .description = "", .whole = 1 };
		if (!sojourn_param_read(param, to))
			continue;
		for (const struct sojourn_module_param_text *text = __start_sojourn_texts;
		     text < __stop_sojourn_texts; text++)
			if (!strcmp(text->name, param->name))
				to->description = text->text;
		sojourn_numbers[(*count)++] = param;
	}
	if (!described)
		described = *count;
	*count = described;
	return params;
}

/* Sets the parameters and begins the module, once; says whether it will have them. */
static bool sojourn_params_set(const double *values)
{
	static int begun; /* 1: yes, -1: refused */
	uint32_t count = 0;
	const struct sojourn_param *params = sojourn_params_described(&count);

	if (begun)
		return begun > 0;
	begun = -1;
	for (uint32_t i = 0; i < count; i++)
		if (values[i] != params[i].value &&
		    !sojourn_param_write(sojourn_numbers[i], values[i]))
			return false;
	if (sojourn_module_init())
		return false;
	begun = 1;
	return true;
}

#endif
