/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ACKCLOCK_MODULE_H
#define ACKCLOCK_MODULE_H

#include <linux/types.h>

/* Loads a module from memory, with the values of its parameters as text. Returns an error, or 0. */
int ackclock_load_module(const void *bytes, u32 len, const char *parameters);
/* The parameters as the loader takes them. kernel/module/main.c calls it. */
char *ackclock_module_parameters(const char *parameters);

#endif
