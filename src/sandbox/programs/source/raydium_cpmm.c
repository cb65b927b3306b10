// Stand-in for Raydium CPMM on the embedded chain: `swap_base_input` and `swap_base_output` over the program's own account
// layouts, in its own order of checks and roundings. The same transaction leaves the same balances and fee counters here
// and on the real program. Price observations are not written: nothing that trades reads them.
//
// See raydium-io/raydium-cp-swap: instructions/swap_base_{input,output}.rs, curve/{calculator,fees}.rs, states/pool.rs.
#define SOURCE "raydium_cpmm.c"

#define SWAP_BASE_INPUT 0xde331ec4da5abe8full
#define SWAP_BASE_OUTPUT 0xadb44aa35662d937ull
#define ARGUMENTS_SIZE 24

#define POOL_DISCRIMINATOR 0x46dec3d7f5e3edf7ull
#define POOL_SIZE 637
#define POOL_CONFIG 8
#define POOL_VAULT_0 72
#define POOL_VAULT_1 104
#define POOL_OBSERVATION 296
#define POOL_AUTHORITY_BUMP 328
#define POOL_STATUS 329
#define POOL_PROTOCOL_FEES 341
#define POOL_FUND_FEES 357
#define POOL_OPEN_TIME 373
#define POOL_RECENT_EPOCH 381
#define POOL_CREATOR_FEE_ON 389
#define POOL_CREATOR_FEE_ENABLED 390
#define POOL_CREATOR_FEES 397
#define STATUS_SWAP_DISABLED 4

#define CONFIG_DISCRIMINATOR 0x6f2bcbcb6821f4daull
#define CONFIG_SIZE 236
#define CONFIG_TRADE_FEE_RATE 12
#define CONFIG_PROTOCOL_FEE_RATE 20
#define CONFIG_FUND_FEE_RATE 28
#define CONFIG_CREATOR_FEE_RATE 108

#define OBSERVATION_DISCRIMINATOR 0x84a5098135c5ae7aull
#define OBSERVATION_SIZE 4075

#define FEE_ON_BOTH 0
#define FEE_ON_TOKEN_0 1
#define FEE_ON_TOKEN_1 2

#define NOT_APPROVED NotApproved, 6000, "Not approved"
#define INVALID_INPUT InvalidInput, 6003, "InvalidInput"
#define EXCEEDED_SLIPPAGE ExceededSlippage, 6005, "Exceeds desired slippage limit"
#define ZERO_TRADING_TOKENS ZeroTradingTokens, 6006, "Given pool token amount results in zero trading tokens"
#define INVALID_VAULT InvalidVault, 6008, "invaild vault"
#define TRANSFER_FEE_CALCULATE_NOT_MATCH TransferFeeCalculateNotMatch, 6010, "TransferFee calculate not match"
#define MATH_OVERFLOW MathOverflow, 6011, "Math overflow"
#define INSUFFICIENT_VAULT InsufficientVault, 6012, "Insufficient vault"
#define INVALID_FEE_MODEL InvalidFeeModel, 6013, "Invalid fee model"

#include "raydium.h"

static const char AUTHORITY_SEED[] = "vault_and_lp_mint_auth_seed";

typedef struct {
  const Account *payer, *authority, *config;
  Account *pool;
  const Account *user_in, *user_out, *vault_in, *vault_out;
  const Account *program_in, *program_out, *mint_in, *mint_out;
  const Account *observation;
} Swap;

// What a trade is priced from: both reserves without the fees still owed, and the rates.
typedef struct {
  u64 side_in; // 0: token 0 comes in
  u64 reserve_in, reserve_out;
  u64 trade_rate, creator_rate, protocol_rate, fund_rate;
  u64 creator_fee_on_input;
  TransferFee fee_in, fee_out;
} Market;

// Amounts that leave and enter the vaults' side of the trade, and the fees taken out of them.
typedef struct {
  u128 input, output, trade_fee, creator_fee;
  u64 sent_in, sent_out; // what the two transfers carry, transfer fees included
} Fill;

OUTLINE u64 load_accounts(const Call *call, Swap *swap) {
  if (call->account_count < 13) return THROWN(ACCOUNT_NOT_ENOUGH_KEYS);
  Account *accounts = call->accounts;
  swap->payer = &accounts[0];
  swap->authority = &accounts[1];
  swap->config = &accounts[2];
  swap->pool = &accounts[3];
  swap->user_in = &accounts[4];
  swap->user_out = &accounts[5];
  swap->vault_in = &accounts[6];
  swap->vault_out = &accounts[7];
  swap->program_in = &accounts[8];
  swap->program_out = &accounts[9];
  swap->mint_in = &accounts[10];
  swap->mint_out = &accounts[11];
  swap->observation = &accounts[12];

  REQUIRE_SIGNER("payer", swap->payer);
  REQUIRE_STATE("amm_config", swap->config, call->program, CONFIG_DISCRIMINATOR, CONFIG_SIZE);
  REQUIRE_STATE("pool_state", swap->pool, call->program, POOL_DISCRIMINATOR, POOL_SIZE);
  REQUIRE_TOKEN_ACCOUNT("input_token_account", swap->user_in);
  REQUIRE_TOKEN_ACCOUNT("output_token_account", swap->user_out);
  REQUIRE_TOKEN_ACCOUNT("input_vault", swap->vault_in);
  REQUIRE_TOKEN_ACCOUNT("output_vault", swap->vault_out);
  REQUIRE_TOKEN_PROGRAM("input_token_program", swap->program_in);
  REQUIRE_TOKEN_PROGRAM("output_token_program", swap->program_out);
  REQUIRE_MINT("input_token_mint", swap->mint_in);
  REQUIRE_MINT("output_token_mint", swap->mint_out);
  REQUIRE_STATE("observation_state", swap->observation, call->program, OBSERVATION_DISCRIMINATOR, OBSERVATION_SIZE);

  const u8 *pool = swap->pool->data;
  Seed seeds[2] = {{AUTHORITY_SEED, LITERAL_LENGTH(AUTHORITY_SEED)}, {pool + POOL_AUTHORITY_BUMP, 1}};
  Key authority;
  REQUIRE_OF("authority", sol_create_program_address(seeds, 2, call->program, &authority) == 0, CONSTRAINT_SEEDS);
  REQUIRE_OF("authority", same_key(swap->authority->key, &authority), CONSTRAINT_SEEDS);
  REQUIRE_ADDRESS("amm_config", swap->config, pool + POOL_CONFIG);
  REQUIRE_WRITABLE("pool_state", swap->pool);
  REQUIRE_WRITABLE("input_token_account", swap->user_in);
  REQUIRE_WRITABLE("output_token_account", swap->user_out);
  REQUIRE_WRITABLE("input_vault", swap->vault_in);
  REQUIRE_OF("input_vault",
             same_key(swap->vault_in->key, pool + POOL_VAULT_0) || same_key(swap->vault_in->key, pool + POOL_VAULT_1),
             CONSTRAINT_RAW);
  REQUIRE_WRITABLE("output_vault", swap->vault_out);
  REQUIRE_OF("output_vault",
             same_key(swap->vault_out->key, pool + POOL_VAULT_0) || same_key(swap->vault_out->key, pool + POOL_VAULT_1),
             CONSTRAINT_RAW);
  REQUIRE_ADDRESS("input_token_mint", swap->mint_in, token_mint(swap->vault_in));
  REQUIRE_ADDRESS("output_token_mint", swap->mint_out, token_mint(swap->vault_out));
  REQUIRE_WRITABLE("observation_state", swap->observation);
  REQUIRE_ADDRESS("observation_state", swap->observation, pool + POOL_OBSERVATION);
  return 0;
}

INLINE u8 *counter(const Swap *swap, u64 field, u64 side) { return swap->pool->data + field + 8 * side; }

// The vault's balance without the protocol, fund and creator fees still held in it.
OUTLINE u64 reserve_of(const Swap *swap, const Account *vault, u64 side, u64 *reserve) {
  u64 protocol = read64(counter(swap, POOL_PROTOCOL_FEES, side));
  u64 fund = read64(counter(swap, POOL_FUND_FEES, side));
  u64 creator = read64(counter(swap, POOL_CREATOR_FEES, side));
  u128 owed = (u128)protocol + fund + creator;
  REQUIRE(high_half(owed) == 0, MATH_OVERFLOW);
  u64 balance = token_amount(vault);
  REQUIRE(balance >= owed, INSUFFICIENT_VAULT);
  *reserve = balance - low_half(owed);
  return 0;
}

OUTLINE u64 require_open(const Swap *swap, const Clock *clock) {
  const u8 *pool = swap->pool->data;
  REQUIRE(!(pool[POOL_STATUS] & STATUS_SWAP_DISABLED) && clock->unix_timestamp >= read64(pool + POOL_OPEN_TIME),
          NOT_APPROVED);
  return 0;
}

OUTLINE u64 read_market(const Swap *swap, Market *market) {
  const u8 *pool = swap->pool->data, *config = swap->config->data;
  int zero_for_one = same_key(swap->vault_in->key, pool + POOL_VAULT_0);
  REQUIRE(same_key(swap->vault_out->key, pool + (zero_for_one ? POOL_VAULT_1 : POOL_VAULT_0)), INVALID_VAULT);
  market->side_in = !zero_for_one;
  TRY(reserve_of(swap, swap->vault_in, market->side_in, &market->reserve_in));
  TRY(reserve_of(swap, swap->vault_out, !market->side_in, &market->reserve_out));
  if (market->reserve_in == 0 || market->reserve_out == 0) abort();

  u8 fee_on = pool[POOL_CREATOR_FEE_ON];
  REQUIRE(fee_on <= FEE_ON_TOKEN_1, INVALID_FEE_MODEL);
  market->creator_fee_on_input = fee_on == FEE_ON_BOTH || fee_on == (zero_for_one ? FEE_ON_TOKEN_0 : FEE_ON_TOKEN_1);
  market->creator_rate = pool[POOL_CREATOR_FEE_ENABLED] ? read64(config + CONFIG_CREATOR_FEE_RATE) : 0;
  market->trade_rate = read64(config + CONFIG_TRADE_FEE_RATE);
  market->protocol_rate = read64(config + CONFIG_PROTOCOL_FEE_RATE);
  market->fund_rate = read64(config + CONFIG_FUND_FEE_RATE);
  return 0;
}

// The creator's part of a fee taken at both rates at once.
INLINE void split_fee(const Market *market, u128 total, Fill *fill) {
  u64 both = market->trade_rate + market->creator_rate;
  fill->creator_fee = both == 0 ? 0 : divide_floor(multiply_wide(total, market->creator_rate), both);
  fill->trade_fee = total - fill->creator_fee;
}

OUTLINE u64 fill_base_input(const Market *market, u64 amount_in, Fill *fill) {
  fill->input = amount_in;
  fill->creator_fee = 0;
  if (market->creator_fee_on_input) {
    split_fee(market, share_ceil(amount_in, market->trade_rate + market->creator_rate), fill);
  } else {
    fill->trade_fee = share_ceil(amount_in, market->trade_rate);
  }
  u128 fees = fill->trade_fee + fill->creator_fee;
  REQUIRE(fees <= amount_in, ZERO_TRADING_TOKENS);
  u64 net = amount_in - low_half(fees);
  fill->output = divide_floor(multiply(net, market->reserve_out), (u128)market->reserve_in + net);
  if (!market->creator_fee_on_input) {
    fill->creator_fee = share_ceil(fill->output, market->creator_rate);
    REQUIRE(fill->creator_fee <= fill->output, ZERO_TRADING_TOKENS);
    fill->output -= fill->creator_fee;
  }
  return 0;
}

OUTLINE u64 fill_base_output(const Market *market, u64 amount_out, Fill *fill) {
  fill->output = amount_out;
  fill->creator_fee = 0;
  u128 swapped_out = amount_out;
  if (!market->creator_fee_on_input) {
    swapped_out = before_fee(amount_out, market->creator_rate);
    fill->creator_fee = swapped_out - amount_out;
  }
  if (swapped_out >= market->reserve_out) abort();
  u64 left = market->reserve_out - low_half(swapped_out);
  u128 swapped_in = divide_ceil(multiply(market->reserve_in, low_half(swapped_out)), left);
  if (market->creator_fee_on_input) {
    fill->input = before_fee(swapped_in, market->trade_rate + market->creator_rate);
    split_fee(market, fill->input - swapped_in, fill);
  } else {
    fill->input = before_fee(swapped_in, market->trade_rate);
    fill->trade_fee = fill->input - swapped_in;
  }
  if (high_half(fill->input) != 0) abort();
  return 0;
}

// Books the fees and moves the tokens.
OUTLINE u64 settle(const Swap *swap, const Market *market, const Clock *clock, const Fill *fill) {
  u64 side_in = market->side_in;
  add_to(counter(swap, POOL_PROTOCOL_FEES, side_in), share_floor(fill->trade_fee, market->protocol_rate));
  add_to(counter(swap, POOL_FUND_FEES, side_in), share_floor(fill->trade_fee, market->fund_rate));
  add_to(counter(swap, POOL_CREATOR_FEES, market->creator_fee_on_input ? side_in : !side_in), fill->creator_fee);
  write64(swap->pool->data + POOL_RECENT_EPOCH, clock->epoch);

  if (fill->sent_in) {
    Transfer in = {swap->program_in, swap->user_in, swap->mint_in, swap->vault_in, swap->payer};
    TRY(transfer_checked(&in, fill->sent_in, 0));
  }
  if (fill->sent_out) {
    Transfer out = {swap->program_out, swap->vault_out, swap->mint_out, swap->user_out, swap->authority};
    u8 bump = swap->pool->data[POOL_AUTHORITY_BUMP];
    Seed seeds[2] = {{AUTHORITY_SEED, LITERAL_LENGTH(AUTHORITY_SEED)}, {&bump, 1}};
    SignerSeeds signer = {seeds, 2};
    TRY(transfer_checked(&out, fill->sent_out, &signer));
  }
  return 0;
}

OUTLINE u64 swap_base_input(const Call *call, u64 amount_in, u64 minimum_out) {
  Swap swap;
  Clock clock;
  Market market;
  Fill fill;
  LOG_INSTRUCTION("SwapBaseInput");
  TRY(load_accounts(call, &swap));
  sol_get_clock_sysvar(&clock);
  TRY(require_open(&swap, &clock));
  transfer_fee_of(swap.mint_in, clock.epoch, &market.fee_in);
  transfer_fee_of(swap.mint_out, clock.epoch, &market.fee_out);
  u64 arriving = amount_in - fee_on_transfer(&market.fee_in, amount_in);
  REQUIRE(arriving > 0, REQUIRE_GT_VIOLATED);
  TRY(read_market(&swap, &market));
  TRY(fill_base_input(&market, arriving, &fill));
  fill.sent_in = amount_in;
  fill.sent_out = low_half(fill.output);
  u64 received = fill.sent_out - fee_on_transfer(&market.fee_out, fill.sent_out);
  REQUIRE(received > 0, REQUIRE_GT_VIOLATED);
  REQUIRE(received >= minimum_out, EXCEEDED_SLIPPAGE);
  return settle(&swap, &market, &clock, &fill);
}

OUTLINE u64 swap_base_output(const Call *call, u64 maximum_in, u64 amount_out) {
  Swap swap;
  Clock clock;
  Market market;
  Fill fill;
  LOG_INSTRUCTION("SwapBaseOutput");
  TRY(load_accounts(call, &swap));
  REQUIRE(amount_out > 0, REQUIRE_GT_VIOLATED);
  sol_get_clock_sysvar(&clock);
  TRY(require_open(&swap, &clock));
  transfer_fee_of(swap.mint_in, clock.epoch, &market.fee_in);
  transfer_fee_of(swap.mint_out, clock.epoch, &market.fee_out);
  TRY(invert_transfer_fee(swap.mint_out, &market.fee_out, amount_out, &fill.sent_out));
  TRY(read_market(&swap, &market));
  TRY(fill_base_output(&market, fill.sent_out, &fill));
  REQUIRE(fill.input > 0, REQUIRE_GT_VIOLATED);
  TRY(invert_transfer_fee(swap.mint_in, &market.fee_in, low_half(fill.input), &fill.sent_in));
  REQUIRE(maximum_in >= fill.sent_in, EXCEEDED_SLIPPAGE);
  return settle(&swap, &market, &clock, &fill);
}

u64 entrypoint(u8 *input) {
  Call call;
  if (!parse_call(input, &call)) return THROWN(ACCOUNT_NOT_ENOUGH_KEYS);
  if (call.data_len < 8) return THROWN(INSTRUCTION_FALLBACK_NOT_FOUND);
  u64 instruction = read64(call.data);
  if (instruction != SWAP_BASE_INPUT && instruction != SWAP_BASE_OUTPUT) return THROWN(INSTRUCTION_FALLBACK_NOT_FOUND);
  REQUIRE(call.data_len >= ARGUMENTS_SIZE, INSTRUCTION_DID_NOT_DESERIALIZE);
  u64 first = read64(call.data + 8), second = read64(call.data + 16);
  return instruction == SWAP_BASE_INPUT ? swap_base_input(&call, first, second) : swap_base_output(&call, first, second);
}
