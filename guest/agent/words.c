// SPDX-License-Identifier: GPL-2.0
/*
 * The settings on the command line of a guest: sysctls, and parameters of modules.
 *
 * The kernel reads the parameters at its start, and ignores unknown ones. The agent reports them. It writes the
 * sysctls itself, which the kernel would do only before it starts user space.
 */
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/moduleparam.h>
#include <linux/mount.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "agent.h"

#define NAMES 16384

extern const struct kernel_param __start___param[], __stop___param[];

/* Names, with a space after each. */
static char names[NAMES];
static size_t names_len;

static void add_name(const char *name, int len)
{
	names_len += scnprintf(names + names_len, NAMES - names_len, "%.*s ", len, name);
}

static void clear_names(void)
{
	names_len = 0;
	names[0] = 0;
}

static bool add_entry(struct dir_context *context, const char *name, int len, loff_t offset, u64 inode, unsigned int type)
{
	if (type != DT_DIR)
		add_name(name, len);
	return true;
}

/* The name of a setting, the error, and the names that the kernel knows in its place. */
static void refuse(const char *name, int error)
{
	ackclock_failed(ACKCLOCK_NO_FLOW, name, error, names);
	clear_names();
}

static void read_folder(struct vfsmount *proc, const char *path)
{
	struct dir_context context = { .actor = add_entry };
	struct file *folder = file_open_root_mnt(proc, path, O_RDONLY | O_DIRECTORY, 0);

	if (IS_ERR(folder))
		return;
	iterate_dir(folder, &context);
	filp_close(folder, NULL);
}

static void write_sysctl(struct vfsmount *proc, const char *name, const char *value)
{
	char path[256];
	struct file *file;
	loff_t at = 0;
	ssize_t written;

	snprintf(path, sizeof(path), "sys/%s", name);
	strreplace(path, '.', '/');
	file = file_open_root_mnt(proc, path, O_WRONLY, 0);
	if (IS_ERR(file)) {
		*strrchr(path, '/') = 0;
		read_folder(proc, path);
		return refuse(name, PTR_ERR(file));
	}
	written = kernel_write(file, value, strlen(value), &at);
	filp_close(file, NULL);
	if (written < 0)
		refuse(name, written);
}

static void check_parameter(char *name, const char *value)
{
	size_t module = strchr(name, '.') - name + 1;
	const struct kernel_param *parameter;
	int error = -ENOENT;

	for (parameter = __start___param; parameter < __stop___param; parameter++) {
		if (parameqn(parameter->name, name, module))
			add_name(parameter->name + module, strlen(parameter->name + module));
		if (parameq(parameter->name, name))
			error = parameter->ops->set(value, parameter);
	}
	if (error)
		refuse(name, error);
	clear_names();
}

void __init ackclock_words(void)
{
	char *words = kstrdup(saved_command_line, GFP_KERNEL), *next = words, *name, *value;
	struct vfsmount *proc = kern_mount(get_fs_type("proc"));
	size_t prefix;

	if (!words || IS_ERR(proc))
		panic("ackclock: the command line cannot be read");
	while (*next) {
		next = next_arg(next, &name, &value);
		if (!value || !strchr(name, '.'))
			continue;
		prefix = str_has_prefix(name, "sysctl.");
		if (prefix)
			write_sysctl(proc, name + prefix, value);
		else
			check_parameter(name, value);
	}
	kern_unmount(proc);
	kfree(words);
}
