// Stand-in for pump's bonding curve on the embedded chain: `buy_v2`, `buy_exact_quote_in_v2`, `sell_v2` and `migrate_v2`
// over the program's own account layouts, for coins quoted in SOL (lamports move) and in tokens, and the older `buy`,
// `buy_exact_sol_in` and `sell` for coins quoted in SOL. No public source of the
// program exists: prices, fees and rent follow its published interface and official SDK, and were held against a build of
// it that the crate pump-rust-client carries. What a migration leaves of its lamports goes to the withdraw authority; the
// token accounts it passes through stay open, at the sender's expense, where the program closes them. Events are not
// emitted.
//
// See pump-fun/pump-public-docs `docs/instructions/{BUY,SELL}.md` and @pump-fun/pump-sdk `idl/pump.json`, `fees.ts`.
#define SOURCE "pump_fun.c"
#include "pump_fees.h"

#define BUY_V2 0x3dd3c56761ee17b8ull
#define BUY_EXACT_QUOTE_IN_V2 0x2f5b4d68461cabc2ull
#define SELL_V2 0xb240e9e73c82f65dull
#define BUY 0xeaebda01123d0666ull
#define BUY_EXACT_SOL_IN 0x5fcddf9e0874fc38ull
#define SELL 0xad837f01a485e633ull
#define MIGRATE_V2 0x29feedce1f12cbbbull
#define ARGUMENTS_SIZE 24
#define BUY_ACCOUNTS 27
#define SELL_ACCOUNTS 26
#define OLDER_BUY_ARGUMENTS_SIZE 25
#define OLDER_BUY_ACCOUNTS 16
#define OLDER_SELL_ACCOUNTS 14
#define MIGRATE_ACCOUNTS 27

#define CURVE_DISCRIMINATOR 0x60acd86037f8b717ull
#define CURVE_SIZE 81 // the oldest accounts end behind the creator; what is missing counts as zero
#define CURVE_VIRTUAL_TOKEN 8
#define CURVE_VIRTUAL_QUOTE 16
#define CURVE_REAL_TOKEN 24
#define CURVE_REAL_QUOTE 32
#define CURVE_TOTAL_SUPPLY 40
#define CURVE_COMPLETE 48
#define CURVE_CREATOR 49
#define CURVE_IS_MAYHEM 81
#define CURVE_IS_CASHBACK 82
#define CURVE_QUOTE_MINT 83
#define CURVE_CREATOR_FEE 115
#define CURVE_LAST_FLAGS 123 // editable creator fee and holder reward

#define GLOBAL_DISCRIMINATOR 0x7f726cc8b1e8e8a7ull
#define GLOBAL_SIZE 1045
#define GLOBAL_FEE_RECIPIENT 41
#define GLOBAL_FEE_RECIPIENTS 162
#define GLOBAL_WITHDRAW_AUTHORITY 113
#define GLOBAL_ENABLE_MIGRATE 145
#define GLOBAL_MIGRATION_FEE 146
#define GLOBAL_RESERVED_FEE_RECIPIENT 483
#define GLOBAL_RESERVED_FEE_RECIPIENTS 516
#define MORE_FEE_RECIPIENTS 7
#define GLOBAL_BUYBACK_RECIPIENTS 741
#define BUYBACK_RECIPIENTS 8
#define GLOBAL_BUYBACK_RATE 997
#define GLOBAL_CREATOR_FEE_CONFIGURABLE 1045

#define NOT_AUTHORIZED NotAuthorized, 6000, "The given account is not authorized to execute this instruction."
#define TOO_MUCH_SOL_REQUIRED TooMuchSolRequired, 6002, "slippage: Too much SOL required to buy the given amount of tokens"
#define TOO_LITTLE_SOL_RECEIVED TooLittleSolReceived, 6003, "slippage: Too little SOL received to sell the given amount of tokens"
#define BONDING_CURVE_COMPLETE BondingCurveComplete, 6005, "The bonding curve has completed and liquidity migrated to raydium."
#define BONDING_CURVE_NOT_COMPLETE BondingCurveNotComplete, 6006, "The bonding curve has not completed."
#define DISABLED_MIGRATE DisabledMigrate, 6018, "Migrate instruction is disabled"
#define BUY_ZERO_AMOUNT BuyZeroAmount, 6020, "Buy zero amount"
#define NOT_ENOUGH_TOKENS_TO_BUY NotEnoughTokensToBuy, 6021, "Not enough tokens to buy"
#define SELL_ZERO_AMOUNT SellZeroAmount, 6022, "Sell zero amount"
#define NOT_ENOUGH_TOKENS_TO_SELL NotEnoughTokensToSell, 6023, "Not enough tokens to sell"
#define OVERFLOW Overflow, 6024, "Overflow"
#define BUY_NOT_ENOUGH_SOL_TO_COVER_RENT BuyNotEnoughSolToCoverRent, 6040, "Buy: Not enough SOL to cover for rent exemption."
#define BUY_NOT_ENOUGH_SOL_TO_COVER_FEES BuyNotEnoughSolToCoverFees, 6041, "Buy: Not enough SOL to cover for fees."
#define BUY_SLIPPAGE_BELOW_MIN_TOKENS_OUT BuySlippageBelowMinTokensOut, 6042, "Slippage: Would buy less tokens than expected min_tokens_out"
#define BUYBACK_FEE_RECIPIENT_NOT_AUTHORIZED BuybackFeeRecipientNotAuthorized, 6057, "Buyback fee recipient not authorized"
#define BUYBACK_FEE_RECIPIENT_MISSING BuybackFeeRecipientMissing, 6062, "Buyback fee recipient missing"
#define INVALID_BONDING_CURVE_V2 InvalidBondingCurveV2, 6074, "Invalid bonding curve v2"
#define BONDING_CURVE_ALREADY_MIGRATED BondingCurveAlreadyMigrated, 6081, "Bonding curve has already migrated"
#define UNSUPPORTED_QUOTE_MINT UnsupportedQuoteMint, 6063, "Unsupported quote mint"

// 4wTV1YmiEkRvAtNtsSGPtUrqRYQMe5SKy2uB4Jjaxnjf
static const Key GLOBAL = {{0x80540fee695e863aull, 0x2fdce45763f6bccaull, 0x8974eac1458dd518ull, 0xa6723c79d92337fbull}};
// Ce6TQqeHC9p8KetsN6JsjHK7UTZk7nasjjnr7XxXp9F1
static const Key EVENT_AUTHORITY = {
    {0x4e1cfc01eb36f1acull, 0xb54a84b5c8233d88ull, 0xe9c557dd6af6379aull, 0x645cd359e0533bacull}};
// Hq2wp8uJ9jCPsYgNHex8RtqdvMPfVGoYwjvF1ATiwn2Y
static const Key GLOBAL_VOLUME_ACCUMULATOR = {
    {0x2d416348a51109faull, 0x6c290387074e1f63ull, 0xc8d9a033130d5f03ull, 0x2d6efe10b7738d83ull}};
// 8Wf5TiAheLUqBrKXeYg2JtAFFMWtKdG2BSFgqUcPVwTt
static const Key FEE_CONFIG = {
    {0xc08d95f1a4b49a6full, 0x99072cb73f4cc9a9ull, 0x4fa2e385a4ed4358ull, 0x0f9419f89993c610ull}};

// pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA
static const Key POOL_PROGRAM = {
    {0x76c65e82fcde140cull, 0x654065bb18082594ull, 0xb471d556318d29f4ull, 0x63a8e9180c09f8d4ull}};

typedef struct {
  const Key *program;
  const Account *global, *base_mint, *quote_mint, *base_program, *quote_program;
  Account *fee_recipient, *fee_recipient_quote, *buyback_recipient, *buyback_quote;
  Account *curve, *curve_base, *curve_quote;
  Account *user, *user_base, *user_quote;
  Account *creator_vault, *creator_vault_quote;
  const Account *sharing_config, *global_volume;
  Account *user_volume, *user_volume_quote;
  const Account *fee_config, *fee_program, *system_program;
  u8 curve_bump;
  u8 native; // the quote is SOL and moves as lamports
  u8 is_cashback, is_mayhem;
  u8 is_older;
  Account sol; // in the place of the quote mint, which older instructions do not name
} Trade;

INLINE u64 curve_u64(const Trade *trade, u64 field) { return read64(trade->curve->data + field); }
INLINE void set_curve(const Trade *trade, u64 field, u64 value) { write64(trade->curve->data + field, value); }
INLINE u8 curve_flag(const Trade *trade, u64 field) {
  return trade->curve->data_len > field ? trade->curve->data[field] : 0;
}
INLINE const Key *creator_of(const Trade *trade) { return (const Key *)(trade->curve->data + CURVE_CREATOR); }

OUTLINE void name_accounts(const Call *call, int is_buy, Trade *trade) {
  Account *at = call->accounts;
  trade->is_older = 0;
  trade->program = call->program;
  trade->global = at;
  trade->base_mint = at + 1;
  trade->quote_mint = at + 2;
  trade->base_program = at + 3;
  trade->quote_program = at + 4;
  trade->fee_recipient = at + 6;
  trade->fee_recipient_quote = at + 7;
  trade->buyback_recipient = at + 8;
  trade->buyback_quote = at + 9;
  trade->curve = at + 10;
  trade->curve_base = at + 11;
  trade->curve_quote = at + 12;
  trade->user = at + 13;
  trade->user_base = at + 14;
  trade->user_quote = at + 15;
  trade->creator_vault = at + 16;
  trade->creator_vault_quote = at + 17;
  trade->sharing_config = at + 18;
  trade->global_volume = is_buy ? at + 19 : 0;
  at += is_buy ? 20 : 19;
  trade->user_volume = at;
  trade->user_volume_quote = at + 1;
  trade->fee_config = at + 2;
  trade->fee_program = at + 3;
  trade->system_program = at + 4;
}

// Names what older instructions list. What they list not at all stays unset: accounts of wrapped SOL, and at most the
// wallet's volume record, which is found after the curve has said whether its coin pays cashback.
OUTLINE void name_older_accounts(const Call *call, int is_buy, Trade *trade) {
  Account *at = call->accounts;
  trade->is_older = 1;
  trade->program = call->program;
  trade->global = at;
  trade->fee_recipient = at + 1;
  trade->base_mint = at + 2;
  trade->sol.key = (Key *)&WRAPPED_SOL;
  trade->quote_mint = &trade->sol;
  trade->curve = at + 3;
  trade->curve_base = at + 4;
  trade->user_base = at + 5;
  trade->user = at + 6;
  trade->system_program = at + 7;
  trade->base_program = is_buy ? at + 8 : at + 9;
  trade->creator_vault = is_buy ? at + 9 : at + 8;
  trade->global_volume = is_buy ? at + 12 : 0;
  trade->user_volume = is_buy ? at + 13 : 0;
  trade->fee_config = is_buy ? at + 14 : at + 12;
  trade->fee_program = trade->fee_config + 1;
}

OUTLINE u64 check_curve(Trade *trade) {
  REQUIRE_ADDRESS("global", trade->global, &GLOBAL);
  REQUIRE_STATE("global", trade->global, trade->program, GLOBAL_DISCRIMINATOR, GLOBAL_SIZE);
  REQUIRE_MINT("base_mint", trade->base_mint);
  REQUIRE_PROGRAM("base_token_program", trade->base_program, trade->base_mint->owner);
  if (!trade->is_older) {
    REQUIRE_MINT("quote_mint", trade->quote_mint);
    REQUIRE_PROGRAM("quote_token_program", trade->quote_program, trade->quote_mint->owner);
  }
  REQUIRE_WRITABLE("bonding_curve", trade->curve);
  Seed seeds[2] = {{"bonding-curve", 13}, {trade->base_mint->key, 32}};
  REQUIRE_OF("bonding_curve", is_derived(trade->curve->key, seeds, 2, trade->program, &trade->curve_bump),
             CONSTRAINT_SEEDS);
  REQUIRE_STATE("bonding_curve", trade->curve, trade->program, CURVE_DISCRIMINATOR, CURVE_SIZE);
  trade->is_mayhem = curve_flag(trade, CURVE_IS_MAYHEM);
  trade->is_cashback = curve_flag(trade, CURVE_IS_CASHBACK);
  int has_quote_mint = trade->curve->data_len >= CURVE_QUOTE_MINT + 32;
  const Key *quote = has_quote_mint ? (const Key *)(trade->curve->data + CURVE_QUOTE_MINT) : &SYSTEM_PROGRAM;
  trade->native = is_zero_key(quote);
  REQUIRE(same_key(trade->quote_mint->key, trade->native ? &WRAPPED_SOL : quote), UNSUPPORTED_QUOTE_MINT);
  return 0;
}

OUTLINE u64 check_recipients(const Trade *trade) {
  const u8 *global = trade->global->data;
  const u8 *first = global + (trade->is_mayhem ? GLOBAL_RESERVED_FEE_RECIPIENT : GLOBAL_FEE_RECIPIENT);
  const u8 *more = global + (trade->is_mayhem ? GLOBAL_RESERVED_FEE_RECIPIENTS : GLOBAL_FEE_RECIPIENTS);
  const Key *recipient = trade->fee_recipient->key;
  REQUIRE(same_key(recipient, first) || is_listed(recipient, more, MORE_FEE_RECIPIENTS), NOT_AUTHORIZED);
  REQUIRE(is_listed(trade->buyback_recipient->key, global + GLOBAL_BUYBACK_RECIPIENTS, BUYBACK_RECIPIENTS),
          BUYBACK_FEE_RECIPIENT_NOT_AUTHORIZED);
  REQUIRE_WRITABLE("fee_recipient", trade->fee_recipient);
  REQUIRE_WRITABLE("buyback_fee_recipient", trade->buyback_recipient);
  Seed seeds[2] = {{"creator-vault", 13}, {creator_of(trade), 32}};
  u8 bump;
  REQUIRE_WRITABLE("creator_vault", trade->creator_vault);
  REQUIRE_OF("creator_vault", is_derived(trade->creator_vault->key, seeds, 2, trade->program, &bump), CONSTRAINT_SEEDS);
  if (trade->is_older) return 0;
  Seed sharing[2] = {{"sharing-config", 14}, {trade->base_mint->key, 32}};
  REQUIRE_OF("sharing_config", is_derived(trade->sharing_config->key, sharing, 2, &FEE_PROGRAM, &bump),
             CONSTRAINT_SEEDS);
  return 0;
}

#define REQUIRE_ASSOCIATED(name, account, wallet, mint, token_program)                                                 \
  do {                                                                                                                 \
    REQUIRE_WRITABLE(name, account);                                                                                   \
    REQUIRE_OF(name, is_associated_token_account((account)->key, (wallet)->key, (mint)->key, (token_program)->key),    \
               CONSTRAINT_SEEDS);                                                                                      \
  } while (0)

OUTLINE u64 check_base_accounts(const Trade *trade) {
  REQUIRE_ASSOCIATED("associated_base_bonding_curve", trade->curve_base, trade->curve, trade->base_mint,
                     trade->base_program);
  REQUIRE_WRITABLE("associated_base_user", trade->user_base);
  REQUIRE_TOKEN_ACCOUNT("associated_base_user", trade->user_base);
  REQUIRE_OF("associated_base_user", same_key(token_mint(trade->user_base), trade->base_mint->key),
             CONSTRAINT_TOKEN_MINT);
  REQUIRE_OF("associated_base_user", same_key(token_owner(trade->user_base), trade->user->key), CONSTRAINT_TOKEN_OWNER);
  return 0;
}

OUTLINE u64 check_quote_accounts(const Trade *trade) {
  const Account *quote = trade->quote_mint, *program = trade->quote_program;
  REQUIRE_ASSOCIATED("associated_quote_fee_recipient", trade->fee_recipient_quote, trade->fee_recipient, quote, program);
  REQUIRE_ASSOCIATED("associated_quote_buyback_fee_recipient", trade->buyback_quote, trade->buyback_recipient, quote,
                     program);
  REQUIRE_ASSOCIATED("associated_quote_bonding_curve", trade->curve_quote, trade->curve, quote, program);
  REQUIRE_ASSOCIATED("associated_creator_vault", trade->creator_vault_quote, trade->creator_vault, quote, program);
  REQUIRE_ASSOCIATED("associated_user_volume_accumulator", trade->user_volume_quote, trade->user_volume, quote, program);
  if (trade->native) {
    REQUIRE_ASSOCIATED("associated_quote_user", trade->user_quote, trade->user, quote, program);
    return 0;
  }
  REQUIRE_WRITABLE("associated_quote_user", trade->user_quote);
  REQUIRE_TOKEN_ACCOUNT("associated_quote_user", trade->user_quote);
  REQUIRE_OF("associated_quote_user", same_key(token_mint(trade->user_quote), quote->key), CONSTRAINT_TOKEN_MINT);
  REQUIRE_OF("associated_quote_user", same_key(token_owner(trade->user_quote), trade->user->key),
             CONSTRAINT_TOKEN_OWNER);
  return 0;
}

// What an older instruction is followed by: the volume record of a cashback coin's seller, the coin's second curve account
// and a buyback recipient.
OUTLINE u64 find_more_accounts(const Call *call, u64 listed, Trade *trade) {
  Account *at = call->accounts + listed, *end = call->accounts + call->account_count;
  if (trade->user_volume == 0 && trade->is_cashback && at < end) trade->user_volume = at++;
  REQUIRE(end - at >= 2, BUYBACK_FEE_RECIPIENT_MISSING);
  Seed seeds[2] = {{"bonding-curve-v2", 16}, {trade->base_mint->key, 32}};
  u8 bump;
  REQUIRE(is_derived(at->key, seeds, 2, trade->program, &bump), INVALID_BONDING_CURVE_V2);
  trade->buyback_recipient = at + 1;
  return 0;
}

OUTLINE u64 load_accounts(const Call *call, int is_buy, Trade *trade) {
  u64 needed = is_buy ? BUY_ACCOUNTS : SELL_ACCOUNTS;
  if (call->account_count < needed) return THROWN(ACCOUNT_NOT_ENOUGH_KEYS);
  name_accounts(call, is_buy, trade);
  REQUIRE_PROGRAM("associated_token_program", call->accounts + 5, &ASSOCIATED_TOKEN_PROGRAM);
  REQUIRE_OF("event_authority", same_key((trade->system_program + 1)->key, &EVENT_AUTHORITY), CONSTRAINT_SEEDS);
  REQUIRE_PROGRAM("program", trade->system_program + 2, call->program);
  TRY(check_curve(trade));
  TRY(check_recipients(trade));
  TRY(check_base_accounts(trade));
  TRY(check_quote_accounts(trade));
  REQUIRE_WRITABLE("user_volume_accumulator", trade->user_volume);
  return 0;
}

OUTLINE u64 load_older_accounts(const Call *call, int is_buy, Trade *trade) {
  u64 listed = is_buy ? OLDER_BUY_ACCOUNTS : OLDER_SELL_ACCOUNTS;
  if (call->account_count < listed) return THROWN(ACCOUNT_NOT_ENOUGH_KEYS);
  name_older_accounts(call, is_buy, trade);
  REQUIRE_OF("event_authority", same_key((call->accounts + 10)->key, &EVENT_AUTHORITY), CONSTRAINT_SEEDS);
  REQUIRE_PROGRAM("program", call->accounts + 11, call->program);
  TRY(check_curve(trade));
  TRY(find_more_accounts(call, listed, trade));
  TRY(check_recipients(trade));
  TRY(check_base_accounts(trade));
  if (trade->user_volume != 0) REQUIRE_WRITABLE("user_volume_accumulator", trade->user_volume);
  return 0;
}

OUTLINE u64 load_trade(const Call *call, int is_buy, int is_older, Trade *trade) {
  TRY(is_older ? load_older_accounts(call, is_buy, trade) : load_accounts(call, is_buy, trade));
  REQUIRE_PROGRAM("fee_program", trade->fee_program, &FEE_PROGRAM);
  REQUIRE_PROGRAM("system_program", trade->system_program, &SYSTEM_PROGRAM);
  REQUIRE_SIGNER("user", trade->user);
  REQUIRE_WRITABLE("user", trade->user);
  REQUIRE_OF("fee_config", same_key(trade->fee_config->key, &FEE_CONFIG), CONSTRAINT_SEEDS);
  REQUIRE_STATE("fee_config", trade->fee_config, &FEE_PROGRAM, FEE_CONFIG_DISCRIMINATOR, FEE_CONFIG_TIERS);
  if (is_buy) {
    REQUIRE_OF("global_volume_accumulator", same_key(trade->global_volume->key, &GLOBAL_VOLUME_ACCUMULATOR),
               CONSTRAINT_SEEDS);
  }
  REQUIRE(!trade->curve->data[CURVE_COMPLETE] && curve_u64(trade, CURVE_VIRTUAL_TOKEN) != 0, BONDING_CURVE_COMPLETE);
  return 0;
}

// The rates of this curve at its present market cap. A mayhem coin's cap is counted with the supply it started from.
OUTLINE u64 fee_rates(const Trade *trade, FeeRates *rates) {
  FeeSchedule schedule;
  REQUIRE_OF("fee_config", parse_fee_schedule(trade->fee_config, &schedule), ACCOUNT_DID_NOT_DESERIALIZE);
  u64 supply = trade->is_mayhem ? curve_u64(trade, CURVE_TOTAL_SUPPLY) : read64(trade->base_mint->data + MINT_SUPPLY);
  u128 market_cap = divide_floor(multiply(curve_u64(trade, CURVE_VIRTUAL_QUOTE), supply),
                                 curve_u64(trade, CURVE_VIRTUAL_TOKEN));
  fees_by_market_cap(&schedule, trade->quote_mint->key, &market_cap, rates);
  rates->lp = 0;
  const Account *global = trade->global, *curve = trade->curve;
  if (global->data_len > GLOBAL_CREATOR_FEE_CONFIGURABLE && global->data[GLOBAL_CREATOR_FEE_CONFIGURABLE] &&
      curve->data_len >= CURVE_CREATOR_FEE + 8 && read64(curve->data + CURVE_CREATOR_FEE) != 0) {
    rates->creator = read64(curve->data + CURVE_CREATOR_FEE);
  }
  if (is_zero_key(creator_of(trade))) rates->creator = 0;
  return 0;
}

INLINE const Account *creator_share_holder(const Trade *trade) {
  return trade->is_cashback ? trade->user_volume : trade->creator_vault;
}

// Lamports the user must add so that the creator's vault keeps its rent when the fee arrives.
INLINE u64 creator_vault_rent(const Trade *trade, u64 creator_fee) {
  if (!trade->native || trade->is_cashback || creator_fee == 0) return 0;
  u64 least = rent_exempt(0), held = *trade->creator_vault->lamports;
  return held < least ? least - held : 0;
}

// Makes the accounts fees can go to, whether or not this trade pays them, at the user's expense.
OUTLINE u64 ensure_accounts(const Trade *trade, u64 creator_fee) {
  if (trade->user_volume != 0) TRY(ensure_user_volume(trade->user, trade->user_volume, trade->program));
  TRY(transfer_lamports(trade->user, trade->creator_vault, creator_vault_rent(trade, creator_fee), 0));
  if (trade->native) return 0;
  AssociatedOwner of = {trade->user, trade->fee_recipient, trade->quote_mint, trade->system_program,
                        trade->quote_program};
  TRY(ensure_associated(&of, trade->fee_recipient_quote));
  of.owner = trade->buyback_recipient;
  TRY(ensure_associated(&of, trade->buyback_quote));
  of.owner = trade->creator_vault;
  TRY(ensure_associated(&of, trade->creator_vault_quote));
  of.owner = trade->user_volume;
  return ensure_associated(&of, trade->user_volume_quote);
}

OUTLINE void count_cashback(const Trade *trade, u64 creator_fee) {
  if (!trade->is_cashback) return;
  add_saturating(trade->user_volume->data + (trade->native ? USER_VOLUME_CASHBACK : USER_VOLUME_STABLE_CASHBACK),
                 creator_fee);
}

INLINE u64 transfer_quote(const Trade *trade, const Account *to, u64 amount) {
  if (amount == 0) return 0;
  Transfer transfer = {trade->quote_program, trade->user_quote, trade->quote_mint, to, trade->user};
  return transfer_checked(&transfer, amount, 0);
}

// Trades of mayhem coins buy nothing back.
INLINE u64 buyback_of(const Trade *trade, const QuoteParts *parts) {
  return trade->is_mayhem ? 0 : buyback_part(parts->protocol, read64(trade->global->data + GLOBAL_BUYBACK_RATE));
}

// The user pays the curve and every fee.
OUTLINE u64 pay_in(const Trade *trade, const QuoteParts *parts) {
  u64 buyback = buyback_of(trade, parts);
  if (trade->native) {
    TRY(transfer_lamports(trade->user, trade->curve, parts->net, 0));
    TRY(transfer_lamports(trade->user, trade->fee_recipient, parts->protocol - buyback, 0));
    TRY(transfer_lamports(trade->user, trade->buyback_recipient, buyback, 0));
    return transfer_lamports(trade->user, creator_share_holder(trade), parts->creator, 0);
  }
  TRY(transfer_quote(trade, trade->curve_quote, parts->net));
  TRY(transfer_quote(trade, trade->fee_recipient_quote, parts->protocol - buyback));
  TRY(transfer_quote(trade, trade->buyback_quote, buyback));
  return transfer_quote(trade, trade->is_cashback ? trade->user_volume_quote : trade->creator_vault_quote,
                        parts->creator);
}

// Hands over the tokens and moves the curve.
OUTLINE u64 settle_buy(const Trade *trade, u64 tokens, const QuoteParts *parts) {
  Seed seeds[3] = {{"bonding-curve", 13}, {trade->base_mint->key, 32}, {&trade->curve_bump, 1}};
  SignerSeeds signer = {seeds, 3};
  Clock clock;
  TRY(ensure_accounts(trade, parts->creator));
  TRY(pay_in(trade, parts));
  Transfer transfer = {trade->base_program, trade->curve_base, trade->base_mint, trade->user_base, trade->curve};
  TRY(transfer_checked(&transfer, tokens, &signer));

  u64 left = curve_u64(trade, CURVE_REAL_TOKEN) - tokens;
  set_curve(trade, CURVE_VIRTUAL_TOKEN, curve_u64(trade, CURVE_VIRTUAL_TOKEN) - tokens);
  set_curve(trade, CURVE_VIRTUAL_QUOTE, curve_u64(trade, CURVE_VIRTUAL_QUOTE) + parts->net);
  set_curve(trade, CURVE_REAL_TOKEN, left);
  set_curve(trade, CURVE_REAL_QUOTE, curve_u64(trade, CURVE_REAL_QUOTE) + parts->net);
  if (left == 0) trade->curve->data[CURVE_COMPLETE] = 1;

  count_cashback(trade, parts->creator);
  sol_get_clock_sysvar(&clock);
  if (trade->native) add_saturating(trade->user_volume->data + USER_VOLUME_SOL_VOLUME, parts->net);
  write64(trade->user_volume->data + USER_VOLUME_UPDATED_AT, clock.unix_timestamp);
  return 0;
}

// What the curve asks for `tokens`: floor(tokens × quote / (tokens left behind)) + 1.
OUTLINE u64 cost_of(const Trade *trade, u64 tokens, const FeeRates *rates, QuoteParts *parts) {
  u64 virtual_token = curve_u64(trade, CURVE_VIRTUAL_TOKEN);
  REQUIRE(tokens < virtual_token, OVERFLOW);
  u128 cost = divide_floor(multiply(tokens, curve_u64(trade, CURVE_VIRTUAL_QUOTE)), virtual_token - tokens) + 1;
  REQUIRE(high_half(cost) == 0, OVERFLOW);
  fees_on(low_half(cost), rates, parts);
  return 0;
}

INLINE u128 total_of(const QuoteParts *parts) { return (u128)parts->net + parts->protocol + parts->creator; }

OUTLINE u64 buy(const Call *call, int is_older, u64 tokens, u64 maximum_cost) {
  Trade trade;
  FeeRates rates;
  QuoteParts parts;
  if (is_older) LOG_INSTRUCTION("Buy");
  else LOG_INSTRUCTION("BuyV2");
  TRY(load_trade(call, 1, is_older, &trade));
  REQUIRE(tokens > 0, BUY_ZERO_AMOUNT);
  REQUIRE(tokens <= curve_u64(&trade, CURVE_REAL_TOKEN), NOT_ENOUGH_TOKENS_TO_BUY);
  TRY(fee_rates(&trade, &rates));
  TRY(cost_of(&trade, tokens, &rates, &parts));
  REQUIRE(total_of(&parts) <= maximum_cost, TOO_MUCH_SOL_REQUIRED);
  return settle_buy(&trade, tokens, &parts);
}

// A SOL buyer must hold the rent of what is still to be made beside the price.
OUTLINE u64 check_rent(const Trade *trade, const QuoteParts *parts) {
  u128 needed = creator_vault_rent(trade, parts->creator);
  if (trade->user_volume->data_len == 0) needed += rent_exempt(USER_VOLUME_SIZE);
  if (trade->native) needed += total_of(parts);
  REQUIRE(*trade->user->lamports >= needed, BUY_NOT_ENOUGH_SOL_TO_COVER_RENT);
  return 0;
}

OUTLINE u64 buy_exact_quote_in(const Call *call, int is_older, u64 budget, u64 minimum_tokens) {
  Trade trade;
  FeeRates rates;
  QuoteParts parts;
  if (is_older) LOG_INSTRUCTION("BuyExactSolIn");
  else LOG_INSTRUCTION("BuyExactQuoteInV2");
  TRY(load_trade(call, 1, is_older, &trade));
  REQUIRE(budget > 0 && minimum_tokens > 0, BUY_ZERO_AMOUNT);
  TRY(fee_rates(&trade, &rates));
  REQUIRE(split_budget(budget, &rates, &parts), BUY_NOT_ENOUGH_SOL_TO_COVER_FEES);
  u64 moved = moving(&parts);
  u128 bought = divide_floor(multiply(moved, curve_u64(&trade, CURVE_VIRTUAL_TOKEN)),
                             (u128)curve_u64(&trade, CURVE_VIRTUAL_QUOTE) + moved);
  u64 left = curve_u64(&trade, CURVE_REAL_TOKEN);
  REQUIRE(bought <= left, NOT_ENOUGH_TOKENS_TO_BUY);
  u64 tokens = low_half(bought);
  REQUIRE(tokens >= minimum_tokens, BUY_SLIPPAGE_BELOW_MIN_TOKENS_OUT);
  REQUIRE(tokens > 0, BUY_ZERO_AMOUNT);
  TRY(check_rent(&trade, &parts));
  return settle_buy(&trade, tokens, &parts);
}

// The curve pays the user and every fee out of what the sale is worth. Its lamports move by its own hand, after every call
// into another program: the runtime weighs balances at each of them.
OUTLINE u64 pay_out(const Trade *trade, u64 output, const QuoteParts *parts) {
  u64 buyback = buyback_of(trade, parts);
  if (trade->native) {
    *trade->curve->lamports -= parts->net;
    *trade->user->lamports += output;
    *trade->fee_recipient->lamports += parts->protocol - buyback;
    *trade->buyback_recipient->lamports += buyback;
    *creator_share_holder(trade)->lamports += parts->creator;
    return 0;
  }
  Seed seeds[3] = {{"bonding-curve", 13}, {trade->base_mint->key, 32}, {&trade->curve_bump, 1}};
  SignerSeeds signer = {seeds, 3};
  Transfer transfer = {trade->quote_program, trade->curve_quote, trade->quote_mint, trade->user_quote, trade->curve};
  TRY(transfer_checked(&transfer, output, &signer));
  transfer.to = trade->fee_recipient_quote;
  TRY(transfer_checked(&transfer, parts->protocol - buyback, &signer));
  transfer.to = trade->buyback_quote;
  TRY(transfer_checked(&transfer, buyback, &signer));
  if (parts->creator == 0) return 0;
  transfer.to = trade->is_cashback ? trade->user_volume_quote : trade->creator_vault_quote;
  return transfer_checked(&transfer, parts->creator, &signer);
}

OUTLINE u64 sell(const Call *call, int is_older, u64 tokens, u64 minimum_output) {
  Trade trade;
  FeeRates rates;
  QuoteParts parts;
  if (is_older) LOG_INSTRUCTION("Sell");
  else LOG_INSTRUCTION("SellV2");
  TRY(load_trade(call, 0, is_older, &trade));
  REQUIRE(tokens > 0, SELL_ZERO_AMOUNT);
  REQUIRE(tokens <= token_amount(trade.user_base), NOT_ENOUGH_TOKENS_TO_SELL);
  TRY(fee_rates(&trade, &rates));
  u64 virtual_token = curve_u64(&trade, CURVE_VIRTUAL_TOKEN), virtual_quote = curve_u64(&trade, CURVE_VIRTUAL_QUOTE);
  u64 gross = low_half(divide_floor(multiply(tokens, virtual_quote), (u128)virtual_token + tokens));
  fees_on(gross, &rates, &parts);
  REQUIRE(gross <= curve_u64(&trade, CURVE_REAL_QUOTE), OVERFLOW);
  REQUIRE((u128)parts.protocol + parts.creator <= gross, OVERFLOW);
  u64 output = gross - parts.protocol - parts.creator;
  REQUIRE(output >= minimum_output, TOO_LITTLE_SOL_RECEIVED);
  // The older sale looks for the recipient one account earlier where there is no cashback to pay.
  REQUIRE(!trade.is_older || !trade.is_cashback || parts.creator != 0, BUYBACK_FEE_RECIPIENT_NOT_AUTHORIZED);

  TRY(ensure_accounts(&trade, parts.creator));
  Transfer transfer = {trade.base_program, trade.user_base, trade.base_mint, trade.curve_base, trade.user};
  TRY(transfer_checked(&transfer, tokens, 0));
  set_curve(&trade, CURVE_VIRTUAL_TOKEN, virtual_token + tokens);
  set_curve(&trade, CURVE_VIRTUAL_QUOTE, virtual_quote - gross);
  set_curve(&trade, CURVE_REAL_TOKEN, curve_u64(&trade, CURVE_REAL_TOKEN) + tokens);
  set_curve(&trade, CURVE_REAL_QUOTE, curve_u64(&trade, CURVE_REAL_QUOTE) - gross);
  count_cashback(&trade, parts.creator);
  return pay_out(&trade, output, &parts);
}

#define CREATE_POOL 0xbc4068cf8ed192e9ull
#define CREATE_POOL_ACCOUNTS 18
#define CREATE_POOL_SIZE 70

// A migration names its accounts as the program does; `trade` holds the ones a trade has too.
typedef struct {
  Trade trade;
  Account *at; // the first account of the call
  Account *authority, *authority_base, *authority_quote;
  u8 authority_bump;
} Migration;

OUTLINE u64 load_migration(const Call *call, Migration *migration) {
  if (call->account_count < MIGRATE_ACCOUNTS) return THROWN(ACCOUNT_NOT_ENOUGH_KEYS);
  Account *at = call->accounts;
  Trade *trade = &migration->trade;
  migration->at = at;
  trade->is_older = 0;
  trade->program = call->program;
  trade->global = at;
  trade->base_mint = at + 2;
  trade->quote_mint = at + 3;
  trade->curve = at + 4;
  trade->curve_base = at + 5;
  trade->curve_quote = at + 6;
  trade->user = at + 7;
  trade->system_program = at + 8;
  migration->authority = at + 11;
  migration->authority_base = at + 12;
  migration->authority_quote = at + 13;
  trade->base_program = at + 19;
  trade->quote_program = at + 20;
  TRY(check_curve(trade));
  REQUIRE(trade->global->data[GLOBAL_ENABLE_MIGRATE], DISABLED_MIGRATE);
  REQUIRE(trade->curve->data[CURVE_COMPLETE], BONDING_CURVE_NOT_COMPLETE);
  REQUIRE(curve_u64(trade, CURVE_VIRTUAL_TOKEN) != 0, BONDING_CURVE_ALREADY_MIGRATED);
  REQUIRE_ADDRESS("withdraw_authority", at + 1, trade->global->data + GLOBAL_WITHDRAW_AUTHORITY);
  REQUIRE_SIGNER("user", trade->user);
  REQUIRE_PROGRAM("system_program", trade->system_program, &SYSTEM_PROGRAM);
  REQUIRE_PROGRAM("pump_amm", at + 9, &POOL_PROGRAM);
  REQUIRE_PROGRAM("associated_token_program", at + 22, &ASSOCIATED_TOKEN_PROGRAM);
  REQUIRE_ASSOCIATED("associated_base_bonding_curve", trade->curve_base, trade->curve, trade->base_mint,
                     trade->base_program);
  REQUIRE_ASSOCIATED("associated_quote_bonding_curve", trade->curve_quote, trade->curve, trade->quote_mint,
                     trade->quote_program);
  Seed seeds[2] = {{"pool-authority", 14}, {trade->base_mint->key, 32}};
  REQUIRE_OF("pool_authority",
             is_derived(migration->authority->key, seeds, 2, call->program, &migration->authority_bump),
             CONSTRAINT_SEEDS);
  return 0;
}

// Lamports the curve moves by its own hand reach other programs only in a call that names every account they moved
// between: a transfer of nothing that carries them.
OUTLINE u64 carry_lamports(const Migration *migration) {
  u8 data[16] __attribute__((aligned(8)));
  write64(data, SYSTEM_TRANSFER);
  write64(data + 4, 0);
  const Account *user = migration->trade.user, *to = migration->authority_quote;
  AccountMeta metas[4] = {
      {user->key, 1, 1}, {to->key, 1, 0}, {migration->authority->key, 1, 0}, {migration->trade.curve->key, 1, 0}};
  Account infos[4] = {*user, *to, *migration->authority, *migration->trade.curve};
  Instruction instruction = {&SYSTEM_PROGRAM, metas, 4, data, 12};
  return sol_invoke_signed_c(&instruction, infos, 4, 0, 0);
}

// Hands everything the curve holds to the pool's authority, with the lamports that pay for the pool's accounts.
OUTLINE u64 empty_curve(const Migration *migration, u64 *base, u64 *quote) {
  const Trade *trade = &migration->trade;
  u64 fee = read64(trade->global->data + GLOBAL_MIGRATION_FEE), raised = curve_u64(trade, CURVE_REAL_QUOTE);
  AssociatedOwner of = {trade->user, migration->authority, trade->base_mint, trade->system_program,
                        trade->base_program};
  TRY(ensure_associated(&of, migration->authority_base));
  of.mint = trade->quote_mint;
  of.token_program = trade->quote_program;
  TRY(ensure_associated(&of, migration->authority_quote));

  Seed seeds[3] = {{"bonding-curve", 13}, {trade->base_mint->key, 32}, {&trade->curve_bump, 1}};
  SignerSeeds signer = {seeds, 3};
  *base = token_amount(trade->curve_base);
  Transfer transfer = {trade->base_program, trade->curve_base, trade->base_mint, migration->authority_base,
                       trade->curve};
  TRY(transfer_checked(&transfer, *base, &signer));
  if (!trade->native) {
    *quote = raised;
    Transfer out = {trade->quote_program, trade->curve_quote, trade->quote_mint, migration->authority_quote,
                    trade->curve};
    TRY(transfer_checked(&out, raised, &signer));
    return transfer_lamports(trade->user, migration->authority, fee, 0);
  }
  REQUIRE(raised > fee, OVERFLOW);
  *quote = raised - fee;
  *trade->curve->lamports -= raised;
  *migration->authority_quote->lamports += *quote;
  *migration->authority->lamports += fee;
  TRY(carry_lamports(migration));
  return sync_native(migration->authority_quote);
}

// Has the pool program make the coin's pool: index 0, its creator the coin's pool authority.
OUTLINE u64 create_pool(const Migration *migration, u64 base, u64 quote) {
  const Trade *trade = &migration->trade;
  const Account *at = migration->at, *curve = trade->curve;
  u8 data[72] __attribute__((aligned(8)));
  for (u64 i = 0; i < 9; i++) write64(data + 8 * i, 0);
  write64(data, CREATE_POOL);
  write64(data + 10, base);
  write64(data + 18, quote);
  copy_key(data + 26, creator_of(trade));
  data[58] = trade->is_mayhem;
  data[59] = trade->is_cashback;
  if (curve->data_len >= CURVE_CREATOR_FEE + 8) write64(data + 60, read64(curve->data + CURVE_CREATOR_FEE));
  for (u64 i = 0; i < 2; i++) data[68 + i] = curve_flag(trade, CURVE_LAST_FLAGS + i);

  // Which account of the migration stands at each place of the call; the highest bit marks a writable one.
  static const u8 places[CREATE_POOL_ACCOUNTS] = {0x80 | 10, 14,        0x80 | 11, 2,  3,  0x80 | 15, 0x80 | 12, 0x80 | 13, 0x80 | 16,
                                                  0x80 | 17, 0x80 | 18, 8,         21, 19, 20,        22,        23,        9};
  for (u64 i = 0; i < CREATE_POOL_ACCOUNTS; i++) {
    const Account *account = at + (places[i] & 0x7f);
    OUTGOING_ACCOUNTS[i] = *account;
    OUTGOING_METAS[i].key = account->key;
    OUTGOING_METAS[i].is_writable = places[i] >> 7;
    OUTGOING_METAS[i].is_signer = account == migration->authority;
  }
  Seed seeds[3] = {{"pool-authority", 14}, {trade->base_mint->key, 32}, {&migration->authority_bump, 1}};
  SignerSeeds signer = {seeds, 3};
  Instruction instruction = {&POOL_PROGRAM, OUTGOING_METAS, CREATE_POOL_ACCOUNTS, data, CREATE_POOL_SIZE};
  TRY(sol_invoke_signed_c(&instruction, OUTGOING_ACCOUNTS, CREATE_POOL_ACCOUNTS, &signer, 1));
  return transfer_lamports(migration->authority, at + 1, *migration->authority->lamports, &signer);
}

OUTLINE u64 migrate(const Call *call) {
  Migration migration;
  u64 base, quote;
  LOG_INSTRUCTION("MigrateV2");
  TRY(load_migration(call, &migration));
  TRY(empty_curve(&migration, &base, &quote));
  TRY(create_pool(&migration, base, quote));
  set_curve(&migration.trade, CURVE_VIRTUAL_TOKEN, 0);
  set_curve(&migration.trade, CURVE_VIRTUAL_QUOTE, 0);
  set_curve(&migration.trade, CURVE_REAL_TOKEN, 0);
  set_curve(&migration.trade, CURVE_REAL_QUOTE, 0);
  return 0;
}

u64 entrypoint(u8 *input) {
  Call call;
  if (!parse_call(input, &call)) return THROWN(ACCOUNT_NOT_ENOUGH_KEYS);
  u64 instruction = call.data_len < 8 ? 0 : read64(call.data);
  if (instruction == MIGRATE_V2) return migrate(&call);
  int is_older = instruction == BUY || instruction == BUY_EXACT_SOL_IN || instruction == SELL;
  if (!is_older && instruction != BUY_V2 && instruction != BUY_EXACT_QUOTE_IN_V2 && instruction != SELL_V2) {
    return THROWN(INSTRUCTION_FALLBACK_NOT_FOUND);
  }
  u64 needed = is_older && instruction != SELL ? OLDER_BUY_ARGUMENTS_SIZE : ARGUMENTS_SIZE;
  REQUIRE(call.data_len >= needed, INSTRUCTION_DID_NOT_DESERIALIZE);
  u64 first = read64(call.data + 8), second = read64(call.data + 16);
  if (instruction == BUY_V2 || instruction == BUY) return buy(&call, is_older, first, second);
  if (instruction == SELL_V2 || instruction == SELL) return sell(&call, is_older, first, second);
  return buy_exact_quote_in(&call, is_older, first, second);
}
