// Fee schedules of pump's curve and its pools: which rates a trade pays, and who may receive them.
//
// See @pump-fun/pump-sdk `fees.ts`.
#ifndef PUMP_FEES_H
#define PUMP_FEES_H

#include "token.h"

// pfeeUxB6jkeY1Hxd7CsFCAjcbHA9rWtchMGdZ6VojVZ
static const Key FEE_PROGRAM = {
    {0x568e5a05a9ff350cull, 0x27155607bcf7a88dull, 0x00401fa42cc9f14cull, 0x707cc214a46a519cull}};
// 9pan9bMn5HatX4EJdBwg9VgCa7Uz5HL8N1m5D3NdXej9, wrapped SOL of Token-2022
static const Key WRAPPED_SOL_2022 = {
    {0xb8e65fde9ffc0d83ull, 0x8a1ee976a4047caaull, 0x19fa90ad4a26bbc6ull, 0x505b3e5cd849dfc9ull}};
// EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v
static const Key USDC = {{0x3aaddbbef37afac6ull, 0x3174c9ab6af3653dull, 0xe4e0f6d2c2e4bbb1ull, 0x615d2f450302a67cull}};

#define FEE_CONFIG_DISCRIMINATOR 0x9b4c7bdbbb92348full
#define FEE_CONFIG_FLAT 41
#define FEE_CONFIG_TIERS 65
#define FEE_TIER_SIZE 40
#define FEES_SIZE 24

#define USER_VOLUME_DISCRIMINATOR 0xfa9a35660e70ff56ull
#define USER_VOLUME_SIZE 137
#define USER_VOLUME_USER 8
#define USER_VOLUME_SOL_VOLUME 57
#define USER_VOLUME_UPDATED_AT 65
#define USER_VOLUME_CASHBACK 74
#define USER_VOLUME_STABLE_CASHBACK 90

// Supply that market caps of ordinary coins are counted with.
#define ONE_BILLION_SUPPLY 1000000000000000ull

typedef struct {
  u64 lp, protocol, creator; // basis points
} FeeRates;

INLINE void read_fees(const u8 *at, FeeRates *rates) {
  rates->lp = read64(at);
  rates->protocol = read64(at + 8);
  rates->creator = read64(at + 16);
}

// The last tier whose threshold the market cap reaches; the first tier below all of them.
OUTLINE void fees_of_tier(const u8 *tiers, u64 count, const u128 *market_cap, FeeRates *rates) {
  read_fees(tiers + 16, rates);
  for (u64 i = 1; i < count; i++) {
    const u8 *tier = tiers + i * FEE_TIER_SIZE;
    if (*market_cap < from_halves(read64(tier + 8), read64(tier))) return;
    read_fees(tier + 16, rates);
  }
}

typedef struct {
  const u8 *flat;
  const u8 *tiers;
  u64 tier_count;
  const u8 *stable_tiers;
  u64 stable_tier_count;
  const u8 *exotic; // null when the account ends before it
} FeeSchedule;

// Finds the parts of a fee configuration; an account written before a part existed ends early. 0 when it holds no tiers.
OUTLINE int parse_fee_schedule(const Account *config, FeeSchedule *schedule) {
  const u8 *data = config->data, *end = data + config->data_len;
  if (config->data_len < FEE_CONFIG_TIERS + 4) return 0;
  schedule->flat = data + FEE_CONFIG_FLAT;
  schedule->tier_count = read32(data + FEE_CONFIG_TIERS);
  schedule->tiers = data + FEE_CONFIG_TIERS + 4;
  schedule->stable_tier_count = 0;
  schedule->exotic = 0;
  const u8 *at = schedule->tiers + schedule->tier_count * FEE_TIER_SIZE;
  if (schedule->tier_count == 0 || at > end) return 0;
  if (at + 4 > end) return 1;
  schedule->stable_tier_count = read32(at);
  schedule->stable_tiers = at + 4;
  at += 4 + schedule->stable_tier_count * FEE_TIER_SIZE;
  if (at > end) return 0;
  if (at + FEES_SIZE <= end) schedule->exotic = at;
  return 1;
}

INLINE int is_sol_like(const Key *quote_mint) {
  return is_zero_key(quote_mint) || same_key(quote_mint, &WRAPPED_SOL) || same_key(quote_mint, &WRAPPED_SOL_2022);
}

// Rates of a curve or of the pool it became: tiers by market cap for SOL and USDC, flat rates for anything else.
OUTLINE void fees_by_market_cap(const FeeSchedule *schedule, const Key *quote_mint, const u128 *market_cap,
                                FeeRates *rates) {
  if (is_sol_like(quote_mint)) {
    fees_of_tier(schedule->tiers, schedule->tier_count, market_cap, rates);
  } else if (same_key(quote_mint, &USDC)) {
    int has_stable = schedule->stable_tier_count != 0;
    fees_of_tier(has_stable ? schedule->stable_tiers : schedule->tiers,
                 has_stable ? schedule->stable_tier_count : schedule->tier_count, market_cap, rates);
  } else {
    read_fees(schedule->flat, rates);
    FeeRates exotic;
    if (!schedule->exotic) return;
    read_fees(schedule->exotic, &exotic);
    if (exotic.lp || exotic.protocol || exotic.creator) *rates = exotic;
  }
}

// ceil(amount × rate / 10 000)
INLINE u64 basis_points_of(u64 amount, u64 rate) {
  return low_half(divide_ceil(multiply(amount, rate), ONE_IN_BASIS_POINTS));
}

// The part of the protocol's fee that buys back.
INLINE u64 buyback_part(u64 protocol_fee, u64 rate) {
  return low_half(divide_floor(multiply(protocol_fee, min64(rate, ONE_IN_BASIS_POINTS)), ONE_IN_BASIS_POINTS));
}

INLINE int is_listed(const Key *key, const u8 *list, u64 count) {
  for (u64 i = 0; i < count; i++) {
    if (same_key(key, list + 32 * i)) return 1;
  }
  return 0;
}

typedef struct {
  u64 net;  // what moves the curve
  u64 lp, protocol, creator;
} QuoteParts;

// Splits a budget into what moves the curve and the fees on it; what rounding adds beyond the budget is taken off the net.
// 0 when the budget is too small to leave anything beside its fees; rounding may still leave a net of nothing.
OUTLINE int split_budget(u64 budget, const FeeRates *rates, QuoteParts *parts) {
  u64 all = rates->lp + rates->protocol + rates->creator;
  u64 net = low_half(divide_floor(multiply(budget, ONE_IN_BASIS_POINTS), ONE_IN_BASIS_POINTS + all));
  if (net == 0) return 0;
  parts->lp = basis_points_of(net, rates->lp);
  parts->protocol = basis_points_of(net, rates->protocol);
  parts->creator = basis_points_of(net, rates->creator);
  u128 total = (u128)net + parts->lp + parts->protocol + parts->creator;
  if (total > budget) {
    u128 excess = total - budget;
    if (excess > net) return 0;
    net -= low_half(excess);
  }
  parts->net = net;
  return 1;
}

// What of a budget's net moves the curve: one unit less, kept against rounding.
INLINE u64 moving(const QuoteParts *parts) { return parts->net == 0 ? 0 : parts->net - 1; }

INLINE void fees_on(u64 net, const FeeRates *rates, QuoteParts *parts) {
  parts->net = net;
  parts->lp = basis_points_of(net, rates->lp);
  parts->protocol = basis_points_of(net, rates->protocol);
  parts->creator = basis_points_of(net, rates->creator);
}

// Makes the user's volume account when it is missing; the user pays its rent.
OUTLINE u64 ensure_user_volume(const Account *user, Account *volume, const Key *program) {
  Seed seeds[3] = {{"user_volume_accumulator", 23}, {user->key, 32}};
  u8 bump;
  REQUIRE_OF("user_volume_accumulator", is_derived(volume->key, seeds, 2, program, &bump), CONSTRAINT_SEEDS);
  if (volume->data_len != 0) {
    REQUIRE_STATE("user_volume_accumulator", volume, program, USER_VOLUME_DISCRIMINATOR, USER_VOLUME_STABLE_CASHBACK);
    return 0;
  }
  seeds[2].bytes = &bump;
  seeds[2].length = 1;
  SignerSeeds signer = {seeds, 3};
  TRY(create_account(user, volume, USER_VOLUME_SIZE, program, &signer));
  write64(volume->data, USER_VOLUME_DISCRIMINATOR);
  copy_key(volume->data + USER_VOLUME_USER, user->key);
  return 0;
}

INLINE void add_saturating(u8 *at, u64 amount) {
  u64 sum = read64(at) + amount;
  write64(at, sum < amount ? U64_MAX : sum);
}

#define CREATE_IDEMPOTENT 1

typedef struct {
  const Account *payer, *owner, *mint, *system_program, *token_program;
} AssociatedOwner;

// Makes an associated token account when it is missing; the payer pays its rent.
OUTLINE u64 ensure_associated(const AssociatedOwner *of, Account *account) {
  if (account->data_len != 0) return 0;
  u8 data = CREATE_IDEMPOTENT;
  AccountMeta metas[6] = {{of->payer->key, 1, 1}, {account->key, 1, 0},            {of->owner->key, 0, 0},
                          {of->mint->key, 0, 0},  {of->system_program->key, 0, 0}, {of->token_program->key, 0, 0}};
  Account infos[4] = {*of->payer, *account, *of->owner, *of->mint}; // programs need not be handed over
  Instruction instruction = {&ASSOCIATED_TOKEN_PROGRAM, metas, 6, &data, 1};
  TRY(sol_invoke_signed_c(&instruction, infos, 4, 0, 0));
  refresh(account);
  return 0;
}

#endif
