// Unsigned 128-bit arithmetic. The target has no instruction and no library call for wide products and quotients, so they
// are made by hand here; sums, differences and comparisons of u128 are left to the compiler.
#ifndef WIDE_H
#define WIDE_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned __int128 u128;

#define INLINE static inline __attribute__((always_inline))
#define OUTLINE static __attribute__((noinline, unused))

#define U64_MAX 0xffffffffffffffffull

INLINE u64 high_half(u128 value) { return (u64)(value >> 64); }
INLINE u64 low_half(u128 value) { return (u64)value; }
INLINE u128 from_halves(u64 high, u64 low) { return ((u128)high << 64) | low; }

OUTLINE void multiply_into(u128 *product, u64 a, u64 b) {
  u64 a0 = a & 0xffffffff, a1 = a >> 32, b0 = b & 0xffffffff, b1 = b >> 32;
  u64 low = a0 * b0;
  u64 middle = a1 * b0 + (low >> 32);
  u64 other = a0 * b1 + (middle & 0xffffffff);
  *product = from_halves(a1 * b1 + (middle >> 32) + (other >> 32), (other << 32) | (low & 0xffffffff));
}

// Quotient and remainder by shifting and subtracting; divisor > 0.
OUTLINE void divide_into(u128 *quotient, u128 *remainder, const u128 *dividend, const u128 *divisor) {
  u64 n1 = high_half(*dividend), n0 = low_half(*dividend);
  u64 d1 = high_half(*divisor), d0 = low_half(*divisor);
  if (n1 == 0 && d1 == 0) {
    *quotient = n0 / d0;
    *remainder = n0 % d0;
    return;
  }
  // When the divisor fits one word, the upper word of the quotient is a plain division and 64 steps remain.
  u64 q1 = 0, r1 = 0, r0 = 0;
  u64 steps = 128;
  if (d1 == 0) {
    q1 = n1 / d0;
    r0 = n1 % d0;
    n1 = n0;
    n0 = 0;
    steps = 64;
  }
  u64 q0 = 0, upper = q1;
  q1 = 0;
  for (u64 i = 0; i < steps; i++) {
    u64 carry = r1 >> 63;
    r1 = (r1 << 1) | (r0 >> 63);
    r0 = (r0 << 1) | (n1 >> 63);
    n1 = (n1 << 1) | (n0 >> 63);
    n0 <<= 1;
    q1 = (q1 << 1) | (q0 >> 63);
    q0 <<= 1;
    if (carry || r1 > d1 || (r1 == d1 && r0 >= d0)) {
      u64 borrow = r0 < d0;
      r0 -= d0;
      r1 -= d1 + borrow;
      q0 |= 1;
    }
  }
  *quotient = from_halves(steps == 64 ? upper : q1, q0);
  *remainder = from_halves(r1, r0);
}

INLINE u128 multiply(u64 a, u64 b) {
  u128 product;
  multiply_into(&product, a, b);
  return product;
}

// a × b for a wide a. The caller knows, or has checked with `multiply_overflows`, that the product fits.
INLINE u128 multiply_wide(u128 a, u64 b) { return multiply(low_half(a), b) + ((u128)(high_half(a) * b) << 64); }

INLINE int multiply_overflows(u128 a, u64 b) {
  if (high_half(a) == 0) return 0;
  u128 upper = multiply(high_half(a), b);
  u128 lower = multiply(low_half(a), b);
  return high_half(upper) != 0 || low_half(upper) + high_half(lower) < low_half(upper);
}

INLINE u128 divide_floor(u128 dividend, u128 divisor) {
  u128 quotient, remainder;
  divide_into(&quotient, &remainder, &dividend, &divisor);
  return quotient;
}

INLINE u128 divide_ceil(u128 dividend, u128 divisor) {
  u128 quotient, remainder;
  divide_into(&quotient, &remainder, &dividend, &divisor);
  return quotient + (remainder != 0);
}

INLINE u64 min64(u64 a, u64 b) { return a < b ? a : b; }

#endif
