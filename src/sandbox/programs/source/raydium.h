// Fee arithmetic that Raydium's programs have in common: rates in parts per million, and the inverse of a transfer fee.
// A source file that includes this defines, besides SOURCE, its own numbers of INVALID_INPUT and
// TRANSFER_FEE_CALCULATE_NOT_MATCH first.
#ifndef RAYDIUM_H
#define RAYDIUM_H

#include "token.h"

#define RATE_DENOMINATOR 1000000

INLINE u128 share_ceil(u128 amount, u64 rate) { return divide_ceil(multiply_wide(amount, rate), RATE_DENOMINATOR); }
INLINE u128 share_floor(u128 amount, u64 rate) { return divide_floor(multiply_wide(amount, rate), RATE_DENOMINATOR); }

// The amount whose fee, taken off, leaves `amount`; aborts where the program overflows.
INLINE u128 before_fee(u128 amount, u64 rate) {
  if (rate == 0) return amount;
  if (rate >= RATE_DENOMINATOR || multiply_overflows(amount, RATE_DENOMINATOR)) abort();
  return divide_ceil(multiply_wide(amount, RATE_DENOMINATOR), RATE_DENOMINATOR - rate);
}

INLINE void add_to(u8 *at, u128 amount) {
  u128 sum = (u128)read64(at) + amount;
  if (high_half(sum) != 0) abort();
  write64(at, low_half(sum));
}

// The amount to send so that `received` arrives, with the program's own cross-check of the token program's inverse.
OUTLINE u64 invert_transfer_fee(const Account *mint, const TransferFee *fee, u64 received, u64 *sent) {
  *sent = received;
  if (same_key(mint->owner, &TOKEN_PROGRAM)) return 0;
  REQUIRE(received > 0, INVALID_INPUT);
  if (fee->basis_points == ONE_IN_BASIS_POINTS) {
    u128 with_maximum = (u128)received + fee->maximum;
    if (high_half(with_maximum) != 0) abort();
    *sent = low_half(with_maximum);
    return 0;
  }
  u128 before = amount_before_fee(fee, received);
  if (high_half(before) != 0) abort();
  u64 charged = fee_on_transfer(fee, low_half(before));
  u128 total = (u128)received + charged;
  if (high_half(total) != 0) abort();
  REQUIRE(charged == fee_on_transfer(fee, low_half(total)), TRANSFER_FEE_CALCULATE_NOT_MATCH);
  *sent = low_half(total);
  return 0;
}

#endif
