// SPDX-License-Identifier: GPL-2.0
/*
 * Settings of a guest, on its command line and later: sysctls, and parameters of modules.
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

static struct vfsmount *proc;
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

static void read_folder(const char *path)
{
	struct dir_context context = { .actor = add_entry };
	struct file *folder = file_open_root_mnt(proc, path, O_RDONLY | O_DIRECTORY, 0);

	if (IS_ERR(folder))
		return;
	iterate_dir(folder, &context);
	filp_close(folder, NULL);
}

static void write_sysctl(const char *name, const char *value)
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
		read_folder(path);
		return refuse(name, PTR_ERR(file));
	}
	written = kernel_write(file, value, strlen(value), &at);
	filp_close(file, NULL);
	/* Some sysctls do not know a name that is their value. */
	if (written < 0)
		refuse(name, written == -ENOENT ? -EINVAL : written);
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

static void set_word(char *name, const char *value)
{
	size_t prefix = str_has_prefix(name, "sysctl.");

	if (prefix)
		write_sysctl(name + prefix, value);
	else
		check_parameter(name, value);
}

void ackclock_word(const char *content, u32 len)
{
	char *word = kstrndup(content, len, GFP_KERNEL), *value = word;

	if (!word)
		panic("ackclock: no memory for a setting");
	strsep(&value, "=");
	if (value && strchr(word, '.'))
		set_word(word, value);
	kfree(word);
}

void __init ackclock_words(void)
{
	char *words = kstrdup(saved_command_line, GFP_KERNEL), *next = words, *name, *value;

	proc = kern_mount(get_fs_type("proc"));
	if (!words || IS_ERR(proc))
		panic("ackclock: the command line cannot be read");
	while (*next) {
		next = next_arg(next, &name, &value);
		if (value && strchr(name, '.'))
			set_word(name, value);
	}
	kfree(words);
}
