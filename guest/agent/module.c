// SPDX-License-Identifier: GPL-2.0
/*
 * The loader of modules, for the agent. The recipe includes this file at the end of kernel/module/main.c.
 *
 * A guest has no user space, so the parameters of a module come from the kernel's own memory.
 */
char *ackclock_module_parameters(const char *parameters)
{
	char *copy = kstrdup(parameters, GFP_KERNEL);

	return copy ? copy : ERR_PTR(-ENOMEM);
}

int ackclock_load_module(const void *bytes, u32 len, const char *parameters)
{
	struct load_info info = { .len = len, .hdr = vmalloc(len) };

	if (!info.hdr)
		return -ENOMEM;
	memcpy(info.hdr, bytes, len);
	/* The loader frees the copy. */
	return load_module(&info, (const char __user *)parameters, 0);
}
