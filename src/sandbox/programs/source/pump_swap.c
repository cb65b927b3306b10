// Stand-in for PumpSwap, pump's pools, on the embedded chain: `buy`, `buy_exact_quote_in` and `sell` over the program's own
// account layouts, and `create_pool`, which a completed curve's migration calls. No public source of the program
// exists: prices, fees and rent follow its published interface and official SDK, and were held against a build of it that
// the crate pump-rust-client carries. A new pool's shares stay with its creator. Events are not emitted.
//
// See @pump-fun/pump-swap-sdk `sdk/{buy,sell,fees}.ts` and @pump-fun/pump-sdk `idl/pump_amm.json`.
#define SOURCE "pump_swap.c"
#include "pump_fees.h"

#define BUY 0xeaebda01123d0666ull
#define BUY_EXACT_QUOTE_IN 0x70e8d9b452152ec6ull
#define SELL 0xad837f01a485e633ull
#define CREATE_POOL 0xbc4068cf8ed192e9ull
#define ARGUMENTS_SIZE 24
#define CREATE_POOL_ARGUMENTS_SIZE 60 // the newest fields behind the cashback flag may be missing
#define BUY_ACCOUNTS 23
#define SELL_ACCOUNTS 21
#define CREATE_POOL_ACCOUNTS 18

#define POOL_DISCRIMINATOR 0xbc6db111046d9af1ull
#define POOL_SIZE 243 // older pools end behind the coin's creator; what is missing counts as zero
#define POOL_BUMP 8
#define POOL_INDEX 9
#define POOL_CREATOR 11
#define POOL_BASE_MINT 43
#define POOL_QUOTE_MINT 75
#define POOL_LP_MINT 107
#define POOL_BASE_VAULT 139
#define POOL_QUOTE_VAULT 171
#define POOL_LP_SUPPLY 203
#define POOL_COIN_CREATOR 211
#define POOL_IS_MAYHEM 243
#define POOL_IS_CASHBACK 244
#define POOL_VIRTUAL_QUOTE 245
#define POOL_CREATOR_FEE 261
#define NEW_POOL_SIZE 300

#define GLOBAL_DISCRIMINATOR 0xd9b0fca0ca9c0895ull
#define GLOBAL_SIZE 907
#define GLOBAL_DISABLE_FLAGS 56
#define GLOBAL_FEE_RECIPIENTS 57
#define FEE_RECIPIENTS 8
#define GLOBAL_RESERVED_FEE_RECIPIENT 385
#define GLOBAL_RESERVED_FEE_RECIPIENTS 418
#define MORE_RESERVED_FEE_RECIPIENTS 7
#define GLOBAL_BUYBACK_RECIPIENTS 643
#define BUYBACK_RECIPIENTS 8
#define GLOBAL_BUYBACK_RATE 899
#define GLOBAL_CREATOR_FEE_CONFIGURABLE 940
#define DISABLED_CREATE_POOL_FLAG 1
#define DISABLED_BUY_FLAG 8
#define DISABLED_SELL_FLAG 16

#define ZERO_BASE_AMOUNT ZeroBaseAmount, 6001, "ZeroBaseAmount"
#define ZERO_QUOTE_AMOUNT ZeroQuoteAmount, 6002, "ZeroQuoteAmount"
#define EXCEEDED_SLIPPAGE ExceededSlippage, 6004, "ExceededSlippage"
#define INVALID_BASE_MINT InvalidBaseMint, 6008, "InvalidBaseMint"
#define INVALID_QUOTE_MINT InvalidQuoteMint, 6009, "InvalidQuoteMint"
#define INVALID_PROTOCOL_FEE_RECIPIENT InvalidProtocolFeeRecipient, 6013, "InvalidProtocolFeeRecipient"
#define INVALID_POOL_BASE_TOKEN_ACCOUNT InvalidPoolBaseTokenAccount, 6014, "InvalidPoolBaseTokenAccount"
#define INVALID_POOL_QUOTE_TOKEN_ACCOUNT InvalidPoolQuoteTokenAccount, 6015, "InvalidPoolQuoteTokenAccount"
#define BUY_MORE_BASE_AMOUNT_THAN_POOL_RESERVES BuyMoreBaseAmountThanPoolReserves, 6016, "BuyMoreBaseAmountThanPoolReserves"
#define DISABLED_CREATE_POOL DisabledCreatePool, 6017, "DisabledCreatePool"
#define DISABLED_BUY DisabledBuy, 6020, "DisabledBuy"
#define DISABLED_SELL DisabledSell, 6021, "DisabledSell"
#define OVERFLOW Overflow, 6023, "Overflow"
#define BUY_NOT_ENOUGH_QUOTE_TOKENS_TO_COVER_FEES BuyNotEnoughQuoteTokensToCoverFees, 6039, "buy: Not enough quote tokens to cover for fees."
#define BUY_SLIPPAGE_BELOW_MIN_BASE_AMOUNT_OUT BuySlippageBelowMinBaseAmountOut, 6040, "buy: slippage - would buy less tokens than expected min_base_amount_out"
#define NOT_ENOUGH_REMAINING_ACCOUNTS NotEnoughRemainingAccounts, 6044, "NotEnoughRemainingAccounts"
#define BUYBACK_FEE_RECIPIENT_NOT_AUTHORIZED BuybackFeeRecipientNotAuthorized, 6053, "Buyback fee recipient not authorized"
#define BUYBACK_FEE_RECIPIENT_MISSING BuybackFeeRecipientMissing, 6058, "BuybackFeeRecipientMissing"
#define MISSING_CASHBACK_ACCOUNTS MissingCashbackAccounts, 6059, "Cashback trade is missing the required remaining accounts"
#define INVALID_CASHBACK_ACCUMULATOR_ATA InvalidCashbackAccumulatorAta, 6061, "Cashback user_volume_accumulator ATA is missing or invalid"
#define INVALID_POOL_V2 InvalidPoolV2, 6062, "pool_v2 remaining account is missing or invalid"
#define INSUFFICIENT_REAL_QUOTE_RESERVES InsufficientRealQuoteReserves, 6063, "BOOST: sell output exceeds the real quote vault"

// ADyA8hdefvWN2dbGGWFotbzWxrAvLW83WG6QCVXvJKqw
static const Key GLOBAL_CONFIG = {
    {0xaa551ffe44a60b89ull, 0xd314ecd2d21cf119ull, 0xf7eeea4b0a6e3b23ull, 0xd670e1218e85692bull}};
// GS4CU59F31iL7aR2Q8zVS8DRrcRnXX1yjQ66TqNVQnaR
static const Key EVENT_AUTHORITY = {
    {0x619f832895704ae5ull, 0x131c897960b8b9c0ull, 0xb72fb6717ae41692ull, 0x5e7458941672ec3bull}};
// C2aFPdENg4A2HQsmrd5rTw5TaYBX5Ku887cWjbFKtZpw
static const Key GLOBAL_VOLUME_ACCUMULATOR = {
    {0xc1ad587e12bbd7a3ull, 0xe1c27e43838fa62cull, 0xf9583ee90d82f9c3ull, 0xb4f7aadd18298a17ull}};
// 5PHirr8joyTMp9JMm6nW7hNDVyEYdkzDqazxPD7RaTjx
static const Key FEE_CONFIG = {
    {0x81fe787dcc6e2441ull, 0x99416569a47317e4ull, 0xdf974764073a9237ull, 0xcb10604214b53e6full}};
// 6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P
static const Key PUMP_PROGRAM = {
    {0xcf5a6693f6e05601ull, 0xaa5b17bf6815db44ull, 0x3bffd2f597cb8951ull, 0xb0186dfdb62b5d65ull}};

typedef struct {
  const Key *program;
  Account *pool, *user;
  const Account *global, *base_mint, *quote_mint;
  Account *user_base, *user_quote, *pool_base, *pool_quote;
  Account *fee_recipient, *fee_recipient_quote;
  const Account *base_program, *quote_program, *system_program;
  Account *creator_vault, *creator_authority;
  Account *user_volume, *user_volume_quote; // absent in a sale that pays no cashback
  const Account *fee_config;
  Account *buyback_quote;
  u8 is_cashback, is_mayhem;
} Trade;

INLINE const u8 *pool_at(const Trade *trade, u64 field) { return trade->pool->data + field; }
INLINE int pool_has(const Trade *trade, u64 field, u64 size) { return trade->pool->data_len >= field + size; }
INLINE u8 pool_flag(const Trade *trade, u64 field) { return pool_has(trade, field, 1) ? *pool_at(trade, field) : 0; }
INLINE const Key *coin_creator_of(const Trade *trade) { return (const Key *)pool_at(trade, POOL_COIN_CREATOR); }

OUTLINE void name_accounts(const Call *call, int is_buy, Trade *trade) {
  Account *at = call->accounts;
  trade->program = call->program;
  trade->pool = at;
  trade->user = at + 1;
  trade->global = at + 2;
  trade->base_mint = at + 3;
  trade->quote_mint = at + 4;
  trade->user_base = at + 5;
  trade->user_quote = at + 6;
  trade->pool_base = at + 7;
  trade->pool_quote = at + 8;
  trade->fee_recipient = at + 9;
  trade->fee_recipient_quote = at + 10;
  trade->base_program = at + 11;
  trade->quote_program = at + 12;
  trade->system_program = at + 13;
  trade->creator_vault = at + 17;
  trade->creator_authority = at + 18;
  trade->user_volume = is_buy ? at + 20 : 0;
  trade->user_volume_quote = 0;
  trade->fee_config = at + (is_buy ? 21 : 19);
}

OUTLINE u64 check_programs(const Call *call, const Trade *trade) {
  const Account *at = call->accounts;
  REQUIRE_PROGRAM("system_program", trade->system_program, &SYSTEM_PROGRAM);
  REQUIRE_PROGRAM("associated_token_program", at + 14, &ASSOCIATED_TOKEN_PROGRAM);
  REQUIRE_OF("event_authority", same_key(at[15].key, &EVENT_AUTHORITY), CONSTRAINT_SEEDS);
  REQUIRE_PROGRAM("program", at + 16, call->program);
  REQUIRE_OF("fee_config", same_key(trade->fee_config->key, &FEE_CONFIG), CONSTRAINT_SEEDS);
  REQUIRE_STATE("fee_config", trade->fee_config, &FEE_PROGRAM, FEE_CONFIG_DISCRIMINATOR, FEE_CONFIG_TIERS);
  REQUIRE_PROGRAM("fee_program", trade->fee_config + 1, &FEE_PROGRAM);
  return 0;
}

OUTLINE u64 check_pool(Trade *trade) {
  REQUIRE_WRITABLE("pool", trade->pool);
  REQUIRE_STATE("pool", trade->pool, trade->program, POOL_DISCRIMINATOR, POOL_SIZE);
  REQUIRE_SIGNER("user", trade->user);
  REQUIRE_WRITABLE("user", trade->user);
  REQUIRE_OF("global_config", same_key(trade->global->key, &GLOBAL_CONFIG), CONSTRAINT_SEEDS);
  REQUIRE_STATE("global_config", trade->global, trade->program, GLOBAL_DISCRIMINATOR, GLOBAL_SIZE);
  REQUIRE(same_key(trade->base_mint->key, pool_at(trade, POOL_BASE_MINT)), INVALID_BASE_MINT);
  REQUIRE(same_key(trade->quote_mint->key, pool_at(trade, POOL_QUOTE_MINT)), INVALID_QUOTE_MINT);
  REQUIRE_MINT("base_mint", trade->base_mint);
  REQUIRE_MINT("quote_mint", trade->quote_mint);
  REQUIRE_PROGRAM("base_token_program", trade->base_program, trade->base_mint->owner);
  REQUIRE_PROGRAM("quote_token_program", trade->quote_program, trade->quote_mint->owner);
  REQUIRE(same_key(trade->pool_base->key, pool_at(trade, POOL_BASE_VAULT)), INVALID_POOL_BASE_TOKEN_ACCOUNT);
  REQUIRE(same_key(trade->pool_quote->key, pool_at(trade, POOL_QUOTE_VAULT)), INVALID_POOL_QUOTE_TOKEN_ACCOUNT);
  REQUIRE_TOKEN_ACCOUNT("pool_base_token_account", trade->pool_base);
  REQUIRE_TOKEN_ACCOUNT("pool_quote_token_account", trade->pool_quote);
  REQUIRE_TOKEN_ACCOUNT("user_base_token_account", trade->user_base);
  REQUIRE_TOKEN_ACCOUNT("user_quote_token_account", trade->user_quote);
  REQUIRE_OF("user_base_token_account", same_key(token_mint(trade->user_base), trade->base_mint->key),
             CONSTRAINT_TOKEN_MINT);
  REQUIRE_OF("user_quote_token_account", same_key(token_mint(trade->user_quote), trade->quote_mint->key),
             CONSTRAINT_TOKEN_MINT);
  trade->is_mayhem = pool_flag(trade, POOL_IS_MAYHEM);
  trade->is_cashback = pool_flag(trade, POOL_IS_CASHBACK);
  return 0;
}

OUTLINE u64 check_recipients(const Trade *trade) {
  const u8 *global = trade->global->data;
  const Key *recipient = trade->fee_recipient->key;
  int listed = trade->is_mayhem ? same_key(recipient, global + GLOBAL_RESERVED_FEE_RECIPIENT) ||
                                      is_listed(recipient, global + GLOBAL_RESERVED_FEE_RECIPIENTS,
                                                MORE_RESERVED_FEE_RECIPIENTS)
                                : is_listed(recipient, global + GLOBAL_FEE_RECIPIENTS, FEE_RECIPIENTS);
  REQUIRE(listed, INVALID_PROTOCOL_FEE_RECIPIENT);
  REQUIRE_OF("protocol_fee_recipient_token_account",
             is_associated_token_account(trade->fee_recipient_quote->key, recipient, trade->quote_mint->key,
                                         trade->quote_program->key),
             CONSTRAINT_SEEDS);
  Seed seeds[2] = {{"creator_vault", 13}, {coin_creator_of(trade), 32}};
  u8 bump;
  REQUIRE_OF("coin_creator_vault_authority",
             is_derived(trade->creator_authority->key, seeds, 2, trade->program, &bump), CONSTRAINT_SEEDS);
  REQUIRE_OF("coin_creator_vault_ata",
             is_associated_token_account(trade->creator_vault->key, trade->creator_authority->key,
                                         trade->quote_mint->key, trade->quote_program->key),
             CONSTRAINT_SEEDS);
  return 0;
}

// Behind the named accounts follow, in this order: what cashback needs, the pool-v2 address of coins whose creator takes a
// fee, and the recipient that buys back with its token account. A creator who gets nothing counts as none, and gives no
// cashback.
OUTLINE u64 check_remaining(const Call *call, int is_buy, int pays_creator, Trade *trade) {
  if (!pays_creator) trade->is_cashback = 0;
  u64 next = is_buy ? BUY_ACCOUNTS : SELL_ACCOUNTS;
  if (trade->is_cashback) {
    u64 needed = is_buy ? 1 : 2;
    REQUIRE(call->account_count >= next + needed, MISSING_CASHBACK_ACCOUNTS);
    trade->user_volume_quote = call->accounts + next;
    if (!is_buy) trade->user_volume = call->accounts + next + 1;
    REQUIRE(is_associated_token_account(trade->user_volume_quote->key, trade->user_volume->key, trade->quote_mint->key,
                                        trade->quote_program->key),
            INVALID_CASHBACK_ACCUMULATOR_ATA);
    next += needed;
  }
  if (pays_creator) {
    Seed seeds[2] = {{"pool-v2", 7}, {trade->base_mint->key, 32}};
    u8 bump;
    REQUIRE(call->account_count > next &&
                is_derived(call->accounts[next].key, seeds, 2, trade->program, &bump),
            INVALID_POOL_V2);
    next++;
  }
  REQUIRE(call->account_count >= next + 2, BUYBACK_FEE_RECIPIENT_MISSING);
  const Account *recipient = call->accounts + next;
  trade->buyback_quote = call->accounts + next + 1;
  REQUIRE(is_listed(recipient->key, trade->global->data + GLOBAL_BUYBACK_RECIPIENTS, BUYBACK_RECIPIENTS),
          BUYBACK_FEE_RECIPIENT_NOT_AUTHORIZED);
  REQUIRE_OF("buyback_fee_recipient_token_account",
             is_associated_token_account(trade->buyback_quote->key, recipient->key, trade->quote_mint->key,
                                         trade->quote_program->key),
             CONSTRAINT_SEEDS);
  return 0;
}

// What the pool prices with: its vaults, the quote side with its virtual part.
typedef struct {
  u64 base, quote;
  FeeRates rates;
} Market;

OUTLINE u64 read_market(const Trade *trade, Market *market) {
  market->base = token_amount(trade->pool_base);
  u128 quote = token_amount(trade->pool_quote);
  if (pool_has(trade, POOL_VIRTUAL_QUOTE, 16)) {
    quote += from_halves(read64(pool_at(trade, POOL_VIRTUAL_QUOTE + 8)), read64(pool_at(trade, POOL_VIRTUAL_QUOTE)));
  }
  REQUIRE(high_half(quote) == 0 && market->base != 0, OVERFLOW);
  market->quote = low_half(quote);

  FeeSchedule schedule;
  REQUIRE_OF("fee_config", parse_fee_schedule(trade->fee_config, &schedule), ACCOUNT_DID_NOT_DESERIALIZE);
  Seed seeds[2] = {{"pool-authority", 14}, {trade->base_mint->key, 32}};
  u8 bump;
  if (is_derived((const Key *)pool_at(trade, POOL_CREATOR), seeds, 2, &PUMP_PROGRAM, &bump)) {
    u64 supply = trade->is_mayhem ? ONE_BILLION_SUPPLY : read64(trade->base_mint->data + MINT_SUPPLY);
    u128 market_cap = divide_floor(multiply(market->quote, supply), market->base);
    fees_by_market_cap(&schedule, trade->quote_mint->key, &market_cap, &market->rates);
  } else {
    read_fees(schedule.flat, &market->rates);
  }
  const Account *global = trade->global;
  if (global->data_len > GLOBAL_CREATOR_FEE_CONFIGURABLE && global->data[GLOBAL_CREATOR_FEE_CONFIGURABLE] &&
      pool_has(trade, POOL_CREATOR_FEE, 8) && read64(pool_at(trade, POOL_CREATOR_FEE)) != 0) {
    market->rates.creator = read64(pool_at(trade, POOL_CREATOR_FEE));
  }
  if (is_zero_key(coin_creator_of(trade))) market->rates.creator = 0;
  return 0;
}

OUTLINE u64 load_trade(const Call *call, int is_buy, Trade *trade, Market *market) {
  u64 needed = is_buy ? BUY_ACCOUNTS : SELL_ACCOUNTS;
  if (call->account_count < needed) return THROWN(ACCOUNT_NOT_ENOUGH_KEYS);
  name_accounts(call, is_buy, trade);
  TRY(check_programs(call, trade));
  TRY(check_pool(trade));
  TRY(check_recipients(trade));
  TRY(read_market(trade, market));
  u8 disabled = trade->global->data[GLOBAL_DISABLE_FLAGS];
  if (!is_buy) {
    REQUIRE(!(disabled & DISABLED_SELL_FLAG), DISABLED_SELL);
    return 0;
  }
  REQUIRE(!(disabled & DISABLED_BUY_FLAG), DISABLED_BUY);
  REQUIRE_OF("global_volume_accumulator", same_key(call->accounts[19].key, &GLOBAL_VOLUME_ACCUMULATOR),
             CONSTRAINT_SEEDS);
  REQUIRE_WRITABLE("user_volume_accumulator", trade->user_volume);
  return 0;
}

// Makes the accounts fees can go to, whether or not this trade pays them, at the user's expense.
OUTLINE u64 ensure_accounts(const Trade *trade) {
  AssociatedOwner of = {trade->user, trade->fee_recipient, trade->quote_mint, trade->system_program,
                        trade->quote_program};
  TRY(ensure_associated(&of, trade->fee_recipient_quote));
  of.owner = trade->creator_authority;
  TRY(ensure_associated(&of, trade->creator_vault));
  if (!trade->is_cashback) return 0;
  of.owner = trade->user_volume;
  return ensure_associated(&of, trade->user_volume_quote);
}

// Pays `transfer.to`; nothing is sent for nothing.
INLINE u64 pay(Transfer *transfer, const Account *to, u64 amount, const SignerSeeds *signer) {
  if (amount == 0) return 0;
  transfer->to = to;
  return transfer_checked(transfer, amount, signer);
}

// Sends each fee but the liquidity providers' to its place.
OUTLINE u64 pay_fees(const Trade *trade, Transfer *transfer, const QuoteParts *parts, const SignerSeeds *signer) {
  u64 buyback = buyback_part(parts->protocol, read64(trade->global->data + GLOBAL_BUYBACK_RATE));
  TRY(pay(transfer, trade->fee_recipient_quote, parts->protocol - buyback, signer));
  TRY(pay(transfer, trade->buyback_quote, buyback, signer));
  TRY(pay(transfer, trade->is_cashback ? trade->user_volume_quote : trade->creator_vault, parts->creator, signer));
  if (trade->is_cashback) {
    int is_sol = is_sol_like(trade->quote_mint->key);
    add_saturating(trade->user_volume->data + (is_sol ? USER_VOLUME_CASHBACK : USER_VOLUME_STABLE_CASHBACK),
                   parts->creator);
  }
  return 0;
}

#define POOL_SEEDS(pool, bump)                                                                                         \
  {                                                                                                                    \
    {"pool", 4}, {(pool)->data + POOL_INDEX, 2}, {(pool)->data + POOL_CREATOR, 32},                                    \
        {(pool)->data + POOL_BASE_MINT, 32}, {(pool)->data + POOL_QUOTE_MINT, 32}, {                                   \
      (bump), 1                                                                                                        \
    }                                                                                                                  \
  }

OUTLINE u64 settle_buy(const Trade *trade, u64 tokens, const QuoteParts *parts) {
  TRY(ensure_user_volume(trade->user, trade->user_volume, trade->program));
  TRY(ensure_accounts(trade));
  Transfer quote = {trade->quote_program, trade->user_quote, trade->quote_mint, 0, trade->user};
  TRY(pay(&quote, trade->pool_quote, parts->net + parts->lp, 0));
  TRY(pay_fees(trade, &quote, parts, 0));
  Seed seeds[6] = POOL_SEEDS(trade->pool, trade->pool->data + POOL_BUMP);
  SignerSeeds signer = {seeds, 6};
  Transfer base = {trade->base_program, trade->pool_base, trade->base_mint, trade->user_base, trade->pool};
  TRY(transfer_checked(&base, tokens, &signer));
  Clock clock;
  sol_get_clock_sysvar(&clock);
  if (is_sol_like(trade->quote_mint->key)) {
    add_saturating(trade->user_volume->data + USER_VOLUME_SOL_VOLUME, parts->net);
  }
  write64(trade->user_volume->data + USER_VOLUME_UPDATED_AT, clock.unix_timestamp);
  return 0;
}

INLINE u128 total_of(const QuoteParts *parts) {
  return (u128)parts->net + parts->lp + parts->protocol + parts->creator;
}

OUTLINE u64 buy(const Call *call, u64 tokens, u64 maximum_quote) {
  Trade trade;
  Market market;
  QuoteParts parts;
  LOG_INSTRUCTION("Buy");
  TRY(load_trade(call, 1, &trade, &market));
  TRY(check_remaining(call, 1, market.rates.creator != 0, &trade));
  REQUIRE(tokens > 0, ZERO_BASE_AMOUNT);
  REQUIRE(tokens < market.base, BUY_MORE_BASE_AMOUNT_THAN_POOL_RESERVES);
  u128 cost = divide_ceil(multiply(market.quote, tokens), market.base - tokens);
  REQUIRE(high_half(cost) == 0, OVERFLOW);
  fees_on(low_half(cost), &market.rates, &parts);
  REQUIRE(total_of(&parts) <= maximum_quote, EXCEEDED_SLIPPAGE);
  return settle_buy(&trade, tokens, &parts);
}

OUTLINE u64 buy_exact_quote_in(const Call *call, u64 budget, u64 minimum_tokens) {
  Trade trade;
  Market market;
  QuoteParts parts;
  LOG_INSTRUCTION("BuyExactQuoteIn");
  TRY(load_trade(call, 1, &trade, &market));
  TRY(check_remaining(call, 1, market.rates.creator != 0, &trade));
  REQUIRE(minimum_tokens > 0, ZERO_BASE_AMOUNT);
  REQUIRE(budget > 0, ZERO_QUOTE_AMOUNT);
  REQUIRE(split_budget(budget, &market.rates, &parts), BUY_NOT_ENOUGH_QUOTE_TOKENS_TO_COVER_FEES);
  u64 moved = moving(&parts);
  u64 tokens = low_half(divide_floor(multiply(market.base, moved), (u128)market.quote + moved));
  REQUIRE(tokens >= minimum_tokens, BUY_SLIPPAGE_BELOW_MIN_BASE_AMOUNT_OUT);
  REQUIRE(tokens > 0, ZERO_BASE_AMOUNT);
  return settle_buy(&trade, tokens, &parts);
}

OUTLINE u64 sell(const Call *call, u64 tokens, u64 minimum_quote) {
  Trade trade;
  Market market;
  QuoteParts parts;
  LOG_INSTRUCTION("Sell");
  TRY(load_trade(call, 0, &trade, &market));
  REQUIRE(tokens > 0, ZERO_BASE_AMOUNT);
  u64 gross = low_half(divide_floor(multiply(market.quote, tokens), (u128)market.base + tokens));
  fees_on(gross, &market.rates, &parts);
  u128 fees = (u128)parts.lp + parts.protocol + parts.creator;
  REQUIRE(fees <= gross, OVERFLOW);
  u64 output = gross - low_half(fees);
  REQUIRE(output >= minimum_quote, EXCEEDED_SLIPPAGE);
  REQUIRE(gross - parts.lp <= token_amount(trade.pool_quote), INSUFFICIENT_REAL_QUOTE_RESERVES);
  TRY(check_remaining(call, 0, parts.creator != 0, &trade));

  if (trade.is_cashback) TRY(ensure_user_volume(trade.user, trade.user_volume, trade.program));
  TRY(ensure_accounts(&trade));
  Transfer base = {trade.base_program, trade.user_base, trade.base_mint, trade.pool_base, trade.user};
  TRY(transfer_checked(&base, tokens, 0));
  Seed seeds[6] = POOL_SEEDS(trade.pool, trade.pool->data + POOL_BUMP);
  SignerSeeds signer = {seeds, 6};
  Transfer quote = {trade.quote_program, trade.pool_quote, trade.quote_mint, 0, trade.pool};
  TRY(pay(&quote, trade.user_quote, output, &signer));
  return pay_fees(&trade, &quote, &parts, &signer);
}

#define NEW_POOL_INDEX 8
#define NEW_POOL_BASE_IN 10
#define NEW_POOL_QUOTE_IN 18
#define NEW_POOL_COIN_CREATOR 26
#define NEW_POOL_FLAGS 58 // mayhem and cashback
#define NEW_POOL_CREATOR_FEE 60
#define NEW_POOL_LAST_FLAGS 68 // editable creator fee and holder reward
#define LP_DECIMALS 9

typedef struct {
  const Key *program;
  Account *pool;
  const Account *global;
  Account *creator;
  const Account *base_mint, *quote_mint;
  Account *lp_mint, *creator_base, *creator_quote, *creator_lp, *pool_base, *pool_quote;
  const Account *system_program, *token_2022, *base_program, *quote_program;
  const u8 *index;
  u8 pool_bump, lp_bump;
} NewPool;

OUTLINE u64 load_new_pool(const Call *call, NewPool *new) {
  if (call->account_count < CREATE_POOL_ACCOUNTS) return THROWN(ACCOUNT_NOT_ENOUGH_KEYS);
  Account *at = call->accounts;
  new->program = call->program;
  new->pool = at;
  new->global = at + 1;
  new->creator = at + 2;
  new->base_mint = at + 3;
  new->quote_mint = at + 4;
  new->lp_mint = at + 5;
  new->creator_base = at + 6;
  new->creator_quote = at + 7;
  new->creator_lp = at + 8;
  new->pool_base = at + 9;
  new->pool_quote = at + 10;
  new->system_program = at + 11;
  new->token_2022 = at + 12;
  new->base_program = at + 13;
  new->quote_program = at + 14;
  new->index = call->data + NEW_POOL_INDEX;
  REQUIRE_OF("global_config", same_key(new->global->key, &GLOBAL_CONFIG), CONSTRAINT_SEEDS);
  REQUIRE_STATE("global_config", new->global, call->program, GLOBAL_DISCRIMINATOR, GLOBAL_SIZE);
  REQUIRE(!(new->global->data[GLOBAL_DISABLE_FLAGS] & DISABLED_CREATE_POOL_FLAG), DISABLED_CREATE_POOL);
  REQUIRE_SIGNER("creator", new->creator);
  REQUIRE_MINT("base_mint", new->base_mint);
  REQUIRE_MINT("quote_mint", new->quote_mint);
  REQUIRE_PROGRAM("system_program", new->system_program, &SYSTEM_PROGRAM);
  REQUIRE_PROGRAM("token_2022_program", new->token_2022, &TOKEN_2022_PROGRAM);
  REQUIRE_PROGRAM("base_token_program", new->base_program, new->base_mint->owner);
  REQUIRE_PROGRAM("quote_token_program", new->quote_program, new->quote_mint->owner);
  Seed pool[5] = {{"pool", 4},
                  {new->index, 2},
                  {new->creator->key, 32},
                  {new->base_mint->key, 32},
                  {new->quote_mint->key, 32}};
  REQUIRE_OF("pool", is_derived(new->pool->key, pool, 5, call->program, &new->pool_bump), CONSTRAINT_SEEDS);
  Seed lp[2] = {{"pool_lp_mint", 12}, {new->pool->key, 32}};
  REQUIRE_OF("lp_mint", is_derived(new->lp_mint->key, lp, 2, call->program, &new->lp_bump), CONSTRAINT_SEEDS);
  return 0;
}

OUTLINE u64 square_root(const u128 *value) {
  u128 root = 0;
  for (u128 bit = (u128)1 << 63; bit != 0; bit >>= 1) {
    u128 next = root | bit;
    if (multiply(low_half(next), low_half(next)) <= *value) root = next;
  }
  return low_half(root);
}

OUTLINE void write_pool(const Call *call, const NewPool *new, u64 liquidity) {
  u8 *pool = new->pool->data;
  write64(pool, POOL_DISCRIMINATOR);
  pool[POOL_BUMP] = new->pool_bump;
  pool[POOL_INDEX] = call->data[NEW_POOL_INDEX];
  pool[POOL_INDEX + 1] = call->data[NEW_POOL_INDEX + 1];
  copy_key(pool + POOL_CREATOR, new->creator->key);
  copy_key(pool + POOL_BASE_MINT, new->base_mint->key);
  copy_key(pool + POOL_QUOTE_MINT, new->quote_mint->key);
  copy_key(pool + POOL_LP_MINT, new->lp_mint->key);
  copy_key(pool + POOL_BASE_VAULT, new->pool_base->key);
  copy_key(pool + POOL_QUOTE_VAULT, new->pool_quote->key);
  write64(pool + POOL_LP_SUPPLY, liquidity);
  copy_key(pool + POOL_COIN_CREATOR, call->data + NEW_POOL_COIN_CREATOR);
  pool[POOL_IS_MAYHEM] = call->data[NEW_POOL_FLAGS];
  pool[POOL_IS_CASHBACK] = call->data[NEW_POOL_FLAGS + 1];
  if (call->data_len >= NEW_POOL_LAST_FLAGS) write64(pool + POOL_CREATOR_FEE, read64(call->data + NEW_POOL_CREATOR_FEE));
  for (u64 i = 0; i < 2 && NEW_POOL_LAST_FLAGS + i < call->data_len; i++) {
    pool[POOL_CREATOR_FEE + 8 + i] = call->data[NEW_POOL_LAST_FLAGS + i];
  }
}

// Makes the pool, the mint of its shares and its vaults; the creator pays their rent.
OUTLINE u64 make_pool_accounts(const NewPool *new) {
  Seed pool_seeds[6] = {{"pool", 4},
                        {new->index, 2},
                        {new->creator->key, 32},
                        {new->base_mint->key, 32},
                        {new->quote_mint->key, 32},
                        {&new->pool_bump, 1}};
  SignerSeeds pool_signer = {pool_seeds, 6};
  TRY(create_account(new->creator, new->pool, NEW_POOL_SIZE, new->program, &pool_signer));
  Seed lp_seeds[3] = {{"pool_lp_mint", 12}, {new->pool->key, 32}, {&new->lp_bump, 1}};
  SignerSeeds lp_signer = {lp_seeds, 3};
  TRY(create_account(new->creator, new->lp_mint, MINT_SIZE, &TOKEN_2022_PROGRAM, &lp_signer));
  TRY(initialize_mint(new->lp_mint, LP_DECIMALS, new->pool->key));
  AssociatedOwner of = {new->creator, new->pool, new->base_mint, new->system_program, new->base_program};
  TRY(ensure_associated(&of, new->pool_base));
  of.mint = new->quote_mint;
  of.token_program = new->quote_program;
  TRY(ensure_associated(&of, new->pool_quote));
  of.owner = new->creator;
  of.mint = new->lp_mint;
  of.token_program = new->token_2022;
  return ensure_associated(&of, new->creator_lp);
}

OUTLINE u64 create_pool(const Call *call) {
  NewPool new;
  LOG_INSTRUCTION("CreatePool");
  REQUIRE(call->data_len >= CREATE_POOL_ARGUMENTS_SIZE, INSTRUCTION_DID_NOT_DESERIALIZE);
  u64 base_in = read64(call->data + NEW_POOL_BASE_IN), quote_in = read64(call->data + NEW_POOL_QUOTE_IN);
  TRY(load_new_pool(call, &new));
  REQUIRE(base_in > 0, ZERO_BASE_AMOUNT);
  REQUIRE(quote_in > 0, ZERO_QUOTE_AMOUNT);
  TRY(make_pool_accounts(&new));
  u128 product = multiply(base_in, quote_in);
  u64 liquidity = square_root(&product);
  write_pool(call, &new, liquidity);

  Transfer base = {new.base_program, new.creator_base, new.base_mint, new.pool_base, new.creator};
  TRY(transfer_checked(&base, base_in, 0));
  Transfer quote = {new.quote_program, new.creator_quote, new.quote_mint, new.pool_quote, new.creator};
  TRY(transfer_checked(&quote, quote_in, 0));
  Seed seeds[6] = POOL_SEEDS(new.pool, new.pool->data + POOL_BUMP);
  SignerSeeds signer = {seeds, 6};
  return mint_to(new.lp_mint, new.creator_lp, new.pool, liquidity, &signer);
}

u64 entrypoint(u8 *input) {
  Call call;
  if (!parse_call(input, &call)) return THROWN(ACCOUNT_NOT_ENOUGH_KEYS);
  u64 instruction = call.data_len < 8 ? 0 : read64(call.data);
  if (instruction != BUY && instruction != BUY_EXACT_QUOTE_IN && instruction != SELL && instruction != CREATE_POOL) {
    return THROWN(INSTRUCTION_FALLBACK_NOT_FOUND);
  }
  REQUIRE(call.data_len >= ARGUMENTS_SIZE, INSTRUCTION_DID_NOT_DESERIALIZE);
  u64 first = read64(call.data + 8), second = read64(call.data + 16);
  if (instruction == BUY) return buy(&call, first, second);
  if (instruction == CREATE_POOL) return create_pool(&call);
  if (instruction == BUY_EXACT_QUOTE_IN) return buy_exact_quote_in(&call, first, second);
  return sell(&call, first, second);
}
