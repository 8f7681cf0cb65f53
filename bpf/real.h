/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Arithmetic of IEEE 754 doubles with integer instructions. A number is its 64 bits, in a __u64.
 *
 * Sums, products, quotients and square roots are rounded to the nearest number, half to even, as by a processor.
 * Results agree bit by bit, except that a result below 2^-1022 is zero, and zero has no sign.
 *
 * These functions are global, so that the verifier checks each of them once, and not at each call.
 */
#pragma once

#include "kernel.h"

typedef __u64 real;

#define GLOBAL __attribute__((noinline))

#define SIGN (1ULL << 63)
#define FRACTION ((1ULL << 52) - 1)
#define INFINITE (0x7ffULL << 52)
#define NOT_A_NUMBER (0xfff8ULL << 48)
#define REAL_ONE (0x3ffULL << 52)
/* The bias of the exponents of doubles. */
#define BIAS 1023
#define LARGEST_EXPONENT 0x7ff

INLINE int exponent_of(real x)
{
	return x >> 52 & LARGEST_EXPONENT;
}

/* The digits: 1.FRACTION times 2^52. */
INLINE __u64 digits_of(real x)
{
	return (x & FRACTION) | 1ULL << 52;
}

/* Not infinite, and a number. */
INLINE bool is_finite(real x)
{
	return exponent_of(x) != LARGEST_EXPONENT;
}

INLINE bool is_no_number(real x)
{
	return (x & ~SIGN) > INFINITE;
}

/* 1 for anything but 0, without a jump. */
INLINE __u64 is_some(__u64 x)
{
	return (x | -x) >> 63;
}

/* The number x 2^(exponent - BIAS - 62), for x from 2^62 to 2^63. Its last bit represents all lower bits. */
INLINE real rounded(__u64 sign, int exponent, __u64 x)
{
	if (exponent <= 0)
		return 0;
	if (exponent >= LARGEST_EXPONENT)
		return sign | INFINITE;
	/* The leading digit, or a carry into it, adds one to the exponent. */
	return sign | (((x + 0x1ff + (x >> 10 & 1)) >> 10) + ((__u64)(exponent - 1) << 52));
}

/* The same for an x from 1 to 2^63. */
INLINE real normalised(__u64 sign, int exponent, __u64 x)
{
	x <<= 1;
	if (!(x >> 32)) {
		x <<= 32;
		exponent -= 32;
	}
	if (!(x >> 48)) {
		x <<= 16;
		exponent -= 16;
	}
	if (!(x >> 56)) {
		x <<= 8;
		exponent -= 8;
	}
	if (!(x >> 60)) {
		x <<= 4;
		exponent -= 4;
	}
	if (!(x >> 62)) {
		x <<= 2;
		exponent -= 2;
	}
	if (!(x >> 63)) {
		x <<= 1;
		exponent -= 1;
	}
	return rounded(sign, exponent, x >> 1 | (x & 1));
}

/* The double of a whole number below 2^63. */
GLOBAL real real_of(__u64 whole)
{
	return whole ? normalised(0, BIAS + 62, whole) : 0;
}

/* The whole part of a number from 0, at most 2^32 - 1. */
INLINE __u32 whole_of(real x)
{
	int exponent = exponent_of(x) - BIAS;

	if (exponent < 0)
		return 0;
	if (exponent > 31)
		return ~0U;
	return digits_of(x) >> (52 - exponent);
}

GLOBAL real real_add(real a, real b)
{
	__u64 x, y;
	int apart;

	if (!is_finite(a) || !is_finite(b)) {
		if (is_no_number(a) || is_no_number(b))
			return NOT_A_NUMBER;
		if (is_finite(b))
			return a;
		return is_finite(a) || a == b ? b : NOT_A_NUMBER;
	}
	if ((a & ~SIGN) < (b & ~SIGN)) {
		real larger = b;

		b = a;
		a = larger;
	}
	if (!exponent_of(b))
		return exponent_of(a) ? a : 0;
	x = digits_of(a) << 9;
	y = digits_of(b) << 9;
	apart = exponent_of(a) - exponent_of(b);
	if (apart > 62)
		y = 1;
	else
		y = y >> apart | is_some(y & ((1ULL << apart) - 1));
	x = (a ^ b) >> 63 ? x - y : x + y;
	return x ? normalised(a & SIGN, exponent_of(a) + 1, x) : 0;
}

GLOBAL real real_multiply(real a, real b)
{
	__u64 sign = (a ^ b) & SIGN, a_high, a_low, b_high, b_low, low, middle, x;
	int exponent = exponent_of(a) + exponent_of(b) - BIAS;

	if (!is_finite(a) || !is_finite(b)) {
		if (is_no_number(a) || is_no_number(b) || !exponent_of(a) || !exponent_of(b))
			return NOT_A_NUMBER;
		return sign | INFINITE;
	}
	if (!exponent_of(a) || !exponent_of(b))
		return 0;
	/* The upper half of 128 bits, and whether the lower half contains a bit. */
	a_high = digits_of(a) >> 22;
	a_low = digits_of(a) << 10 & 0xffffffff;
	b_high = digits_of(b) >> 21;
	b_low = digits_of(b) << 11 & 0xffffffff;
	low = a_low * b_low;
	middle = a_high * b_low + (low >> 32);
	x = a_high * b_high + (middle >> 32);
	middle = a_low * b_high + (middle & 0xffffffff);
	x += middle >> 32;
	x |= is_some(middle << 32 | (low & 0xffffffff));
	if (x >> 62)
		exponent++;
	else
		x <<= 1;
	return rounded(sign, exponent, x);
}

GLOBAL real real_divide(real a, real b)
{
	__u64 sign = (a ^ b) & SIGN, divisor = digits_of(b), rest = digits_of(a), quotient = 1;
	int exponent = exponent_of(a) - exponent_of(b) + BIAS;

	if (is_no_number(a) || is_no_number(b))
		return NOT_A_NUMBER;
	if (!is_finite(a))
		return is_finite(b) ? sign | INFINITE : NOT_A_NUMBER;
	if (!exponent_of(b))
		return exponent_of(a) ? sign | INFINITE : NOT_A_NUMBER;
	if (!is_finite(b) || !exponent_of(a))
		return 0;
	if (rest < divisor) {
		rest <<= 1;
		exponent--;
	}
	rest -= divisor;
	/* Eleven digits at a time. */
	for (int i = 0; i < 5; i++) {
		__u64 digits = (rest << 11) / divisor;

		rest = (rest << 11) - digits * divisor;
		quotient = quotient << 11 | digits;
	}
	return rounded(sign, exponent, quotient << 7 | is_some(rest));
}

GLOBAL real real_sqrt(real x)
{
	__u64 digits = digits_of(x) << 10, root = 0, rest = 0;
	int exponent = exponent_of(x);

	if (is_no_number(x) || (x >> 63 && exponent))
		return NOT_A_NUMBER;
	if (!exponent || !is_finite(x))
		return x;
	/* An even power of two, which is halved. */
	if (!(exponent & 1)) {
		digits <<= 1;
		exponent--;
	}
	/* Two digits of the number determine one digit of the root. */
	for (int i = 0; i < 56; i++) {
		__u64 tried = root << 2 | 1, fits;

		rest = rest << 2 | digits >> 62;
		digits <<= 2;
		fits = (rest - tried) >> 63 ^ 1;
		rest -= tried & -fits;
		root = root << 1 | fits;
	}
	return rounded(0, (exponent + BIAS) >> 1, root << 7 | is_some(rest));
}

/* The largest whole number that is not above x. */
GLOBAL real real_floor(real x)
{
	int exponent = exponent_of(x);
	__u64 behind;

	if (exponent >= BIAS + 52)
		return x;
	if (exponent < BIAS)
		return x >> 63 && exponent ? SIGN | REAL_ONE : 0;
	behind = FRACTION >> (exponent - BIAS);
	if (x >> 63)
		x += behind;
	return x & ~behind;
}

/* Larger numbers have larger keys. */
INLINE long long key_of(real x)
{
	return x ^ (__u64)((long long)x >> 63) >> 1;
}

INLINE bool is_less(real a, real b)
{
	return key_of(a) < key_of(b) && !is_no_number(a) && !is_no_number(b);
}

INLINE bool is_equal(real a, real b)
{
	return a == b && !is_no_number(a);
}

/* Comparisons return 1 for true. */
INLINE real truth(bool is_true)
{
	return is_true ? REAL_ONE : 0;
}

GLOBAL real real_less(real a, real b)
{
	return truth(is_less(a, b));
}

GLOBAL real real_less_or_equal(real a, real b)
{
	return truth(is_less(a, b) || is_equal(a, b));
}

GLOBAL real real_equal(real a, real b)
{
	return truth(is_equal(a, b));
}

/* Anything but 0 is true. */
GLOBAL real real_and(real a, real b)
{
	return truth(a && b);
}

GLOBAL real real_or(real a, real b)
{
	return truth(a || b);
}

GLOBAL real real_not(real a)
{
	return truth(!a);
}

GLOBAL real real_if(real condition, real a, real b)
{
	return condition ? a : b;
}

/* An operand that is not a number is ignored. */
GLOBAL real real_min(real a, real b)
{
	return is_no_number(b) || is_less(a, b) ? a : b;
}

GLOBAL real real_max(real a, real b)
{
	return is_no_number(b) || is_less(b, a) ? a : b;
}

INLINE real real_negate(real x)
{
	return x ^ is_some(x) << 63;
}
