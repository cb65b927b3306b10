// Stand-in for Raydium LaunchLab on the embedded chain: the four trades over the program's account layouts, on all three
// curve shapes. The program is closed and no public build of it was found, so what is followed is Raydium's documentation
// and published interface: accounts, layouts, fees and formulas. Not known, and chosen here: how a total fee divides among
// those who earn it (parts rounded down, the protocol takes the rest), that they are paid out of the quote vault, which
// refusal comes first, that buying more than is left by output is refused, where on a linear curve a trade starts (at what
// was raised, not at what was sold: the two differ by what roundings left), and the shape of a fee vault a trade creates (a
// plain token account, so its quote mint must be of the plain token program). No event is emitted.
#define SOURCE "raydium_launchlab.c"

#define BUY_EXACT_IN 0xec139cd57b0deafaull
#define BUY_EXACT_OUT 0x389903692874d318ull
#define SELL_EXACT_IN 0x1a987cd39bde2795ull
#define SELL_EXACT_OUT 0xa60b09082247c85full
#define ARGUMENTS_SIZE 32

#define POOL_DISCRIMINATOR 0x46dec3d7f5e3edf7ull
#define POOL_SIZE 429
#define POOL_EPOCH 8
#define POOL_STATUS 17
#define POOL_BASE_FOR_SALE 29
#define POOL_VIRTUAL_BASE 37
#define POOL_VIRTUAL_QUOTE 45
#define POOL_REAL_BASE 53
#define POOL_REAL_QUOTE 61
#define POOL_QUOTE_TO_RAISE 69
#define POOL_PROTOCOL_FEE 77
#define POOL_CONFIG 141
#define POOL_PLATFORM 173
#define POOL_BASE_MINT 205
#define POOL_QUOTE_MINT 237
#define POOL_BASE_VAULT 269
#define POOL_QUOTE_VAULT 301
#define POOL_CREATOR 333
#define STATUS_FUNDING 0
#define STATUS_AWAITING_MIGRATION 1

#define CONFIG_DISCRIMINATOR 0xd9b0fca0ca9c0895ull
#define CONFIG_SIZE 371
#define CONFIG_CURVE 16
#define CONFIG_TRADE_FEE_RATE 27
#define CONFIG_MAX_SHARE_FEE_RATE 35

#define PLATFORM_DISCRIMINATOR 0xa0e653f800804ea0ull
#define PLATFORM_SIZE 944
#define PLATFORM_FEE_RATE 104
#define PLATFORM_CREATOR_FEE_RATE 720

#define CONSTANT_PRODUCT 0
#define FIXED_PRICE 1
#define LINEAR_PRICE 2

#define INVALID_INPUT InvalidInput, 6002, "InvalidInput"
#define INPUT_NOT_MATCH_CURVE_CONFIG InputNotMatchCurveConfig, 6003, "Input not match curve config"
#define EXCEEDED_SLIPPAGE ExceededSlippage, 6004, "Exceeds desired slippage limit"
#define POOL_MIGRATED PoolMigrated, 6006, "Pool migrated"
#define MATH_OVERFLOW MathOverflow, 6008, "Math overflow"
#define NOT_ENOUGH_REMAINING_ACCOUNTS NotEnoughRemainingAccounts, 6018, "Not enough remaining accounts"
#define TRANSFER_FEE_CALCULATE_NOT_MATCH TransferFeeCalculateNotMatch, 6019, "TransferFee calculate not match"

#include "raydium.h"

#define NAMED_ACCOUNTS 15
#define TRAILING_ACCOUNTS 3
#define TOKEN_INITIALIZE_ACCOUNT_3 18

static const char AUTHORITY_SEED[] = "vault_auth_seed";
#define AUTHORITY_BUMP 250
// WLHv2UAZm6z4KyaaELi5pjdbJh6RESMva1Rnn8pJVVh
static const Key AUTHORITY = {
    {0x940f212615a88307ull, 0x3b0087204de8e8a0ull, 0xac9de79cd260423aull, 0x28a61f77eaa421feull}};
// 2DPAtwB8L12vrMRExbLuyGnC7n2J5LNoZQSejeQGpwkr
static const Key EVENT_AUTHORITY = {
    {0x8ee2dd359bb90712ull, 0x63d7497ee9de9e4bull, 0xd2af3fc9a0a4b597ull, 0x6fdd8e06a086c774ull}};

typedef struct {
  const Account *payer, *authority, *config, *platform;
  Account *pool;
  const Account *user_base, *user_quote, *base_vault, *quote_vault;
  const Account *base_mint, *quote_mint, *base_program, *quote_program;
  const Account *share_receiver; // null when nobody shares in the fee
  Account *platform_vault, *creator_vault;
  u64 share_rate;
} Trade;

// What a trade is priced from. `sold` and `raised` are what the curve has given and taken since it opened.
typedef struct {
  u64 shape;
  u64 virtual_base, virtual_quote, sold, raised, left;
  u64 fee_rate; // all four rates together
  TransferFee base_fee, quote_fee;
} Market;

// What moves on the curve, the fee beside it, and what the wallet's transfer and the vault's transfer carry.
typedef struct {
  u64 base, quote, fee, sent_in, sent_out;
} Fill;

OUTLINE u64 load_accounts(const Call *call, Trade *trade) {
  u64 trailing = TRAILING_ACCOUNTS + (trade->share_rate != 0);
  if (call->account_count < NAMED_ACCOUNTS) return THROWN(ACCOUNT_NOT_ENOUGH_KEYS);
  Account *accounts = call->accounts;
  trade->payer = &accounts[0];
  trade->authority = &accounts[1];
  trade->config = &accounts[2];
  trade->platform = &accounts[3];
  trade->pool = &accounts[4];
  trade->user_base = &accounts[5];
  trade->user_quote = &accounts[6];
  trade->base_vault = &accounts[7];
  trade->quote_vault = &accounts[8];
  trade->base_mint = &accounts[9];
  trade->quote_mint = &accounts[10];
  trade->base_program = &accounts[11];
  trade->quote_program = &accounts[12];

  REQUIRE_SIGNER("payer", trade->payer);
  REQUIRE_STATE("global_config", trade->config, call->program, CONFIG_DISCRIMINATOR, CONFIG_SIZE);
  REQUIRE_STATE("platform_config", trade->platform, call->program, PLATFORM_DISCRIMINATOR, PLATFORM_SIZE);
  REQUIRE_STATE("pool_state", trade->pool, call->program, POOL_DISCRIMINATOR, POOL_SIZE);
  REQUIRE_TOKEN_ACCOUNT("user_base_token", trade->user_base);
  REQUIRE_TOKEN_ACCOUNT("user_quote_token", trade->user_quote);
  REQUIRE_TOKEN_ACCOUNT("base_vault", trade->base_vault);
  REQUIRE_TOKEN_ACCOUNT("quote_vault", trade->quote_vault);
  REQUIRE_MINT("base_token_mint", trade->base_mint);
  REQUIRE_MINT("quote_token_mint", trade->quote_mint);
  REQUIRE_TOKEN_PROGRAM("base_token_program", trade->base_program);
  REQUIRE_TOKEN_PROGRAM("quote_token_program", trade->quote_program);
  REQUIRE_PROGRAM("program", accounts + 14, call->program);
  REQUIRE(call->account_count >= NAMED_ACCOUNTS + trailing, NOT_ENOUGH_REMAINING_ACCOUNTS);
  Account *rest = accounts + NAMED_ACCOUNTS;
  trade->share_receiver = trade->share_rate == 0 ? 0 : rest++;
  REQUIRE_PROGRAM("system_program", rest, &SYSTEM_PROGRAM);
  trade->platform_vault = rest + 1;
  trade->creator_vault = rest + 2;
  REQUIRE_OF("event_authority", same_key(accounts[13].key, &EVENT_AUTHORITY), CONSTRAINT_SEEDS);
  return 0;
}

OUTLINE u64 check_accounts(const Trade *trade) {
  const u8 *pool = trade->pool->data;
  REQUIRE_OF("authority", same_key(trade->authority->key, &AUTHORITY), CONSTRAINT_SEEDS);
  REQUIRE_WRITABLE("payer", trade->payer);
  REQUIRE_WRITABLE("pool_state", trade->pool);
  REQUIRE_WRITABLE("user_base_token", trade->user_base);
  REQUIRE_WRITABLE("user_quote_token", trade->user_quote);
  REQUIRE_WRITABLE("base_vault", trade->base_vault);
  REQUIRE_WRITABLE("quote_vault", trade->quote_vault);
  REQUIRE_ADDRESS("global_config", trade->config, pool + POOL_CONFIG);
  REQUIRE_ADDRESS("platform_config", trade->platform, pool + POOL_PLATFORM);
  REQUIRE_ADDRESS("base_token_mint", trade->base_mint, pool + POOL_BASE_MINT);
  REQUIRE_ADDRESS("quote_token_mint", trade->quote_mint, pool + POOL_QUOTE_MINT);
  REQUIRE_ADDRESS("base_vault", trade->base_vault, pool + POOL_BASE_VAULT);
  REQUIRE_ADDRESS("quote_vault", trade->quote_vault, pool + POOL_QUOTE_VAULT);
  REQUIRE_ADDRESS("base_token_program", trade->base_program, trade->base_mint->owner);
  REQUIRE_ADDRESS("quote_token_program", trade->quote_program, trade->quote_mint->owner);
  REQUIRE_OF("user_base_token", same_key(token_mint(trade->user_base), pool + POOL_BASE_MINT), CONSTRAINT_TOKEN_MINT);
  REQUIRE_OF("user_quote_token", same_key(token_mint(trade->user_quote), pool + POOL_QUOTE_MINT), CONSTRAINT_TOKEN_MINT);
  REQUIRE_OF("user_base_token", same_key(token_owner(trade->user_base), trade->payer->key), CONSTRAINT_TOKEN_OWNER);
  REQUIRE_OF("user_quote_token", same_key(token_owner(trade->user_quote), trade->payer->key), CONSTRAINT_TOKEN_OWNER);
  if (trade->share_receiver) {
    REQUIRE_TOKEN_ACCOUNT("share_fee_receiver", trade->share_receiver);
    REQUIRE_WRITABLE("share_fee_receiver", trade->share_receiver);
    REQUIRE_OF("share_fee_receiver", same_key(token_mint(trade->share_receiver), pool + POOL_QUOTE_MINT),
               CONSTRAINT_TOKEN_MINT);
  }
  return 0;
}

INLINE int exists(const Account *account) { return *account->lamports != 0 || account->data_len != 0; }

// The vault for the quote-mint fees of one earner: a derived address, created by the first trade that needs it.
OUTLINE u64 open_fee_vault(const Call *call, const Trade *trade, Account *vault, const void *earner) {
  u8 bump;
  Seed seeds[3] = {{earner, 32}, {trade->quote_mint->key, 32}, {&bump, 1}};
  REQUIRE_OF("fee_vault", is_derived(vault->key, seeds, 2, call->program, &bump), CONSTRAINT_SEEDS);
  REQUIRE_WRITABLE("fee_vault", vault);
  if (exists(vault)) return 0;
  REQUIRE_OF("fee_vault", same_key(trade->quote_program->key, &TOKEN_PROGRAM), ACCOUNT_NOT_INITIALIZED);
  SignerSeeds signer = {seeds, 3};
  TRY(create_account(trade->payer, vault, TOKEN_ACCOUNT_SIZE, &TOKEN_PROGRAM, &signer));
  u8 data[40] __attribute__((aligned(8)));
  data[0] = TOKEN_INITIALIZE_ACCOUNT_3;
  copy_key(data + 1, &AUTHORITY);
  AccountMeta metas[2] = {{vault->key, 1, 0}, {trade->quote_mint->key, 0, 0}};
  Account infos[2] = {*vault, *trade->quote_mint};
  Instruction instruction = {&TOKEN_PROGRAM, metas, 2, data, 33};
  return sol_invoke_signed_c(&instruction, infos, 2, 0, 0);
}

OUTLINE u64 read_market(const Trade *trade, u64 epoch, Market *market) {
  const u8 *pool = trade->pool->data, *config = trade->config->data, *platform = trade->platform->data;
  REQUIRE(pool[POOL_STATUS] == STATUS_FUNDING, POOL_MIGRATED);
  market->shape = config[CONFIG_CURVE];
  REQUIRE(market->shape <= LINEAR_PRICE, INPUT_NOT_MATCH_CURVE_CONFIG);
  market->virtual_base = read64(pool + POOL_VIRTUAL_BASE);
  market->virtual_quote = read64(pool + POOL_VIRTUAL_QUOTE);
  market->sold = read64(pool + POOL_REAL_BASE);
  market->raised = read64(pool + POOL_REAL_QUOTE);
  REQUIRE(market->sold <= read64(pool + POOL_BASE_FOR_SALE), MATH_OVERFLOW);
  market->left = read64(pool + POOL_BASE_FOR_SALE) - market->sold;
  REQUIRE(trade->share_rate <= read64(config + CONFIG_MAX_SHARE_FEE_RATE), INVALID_INPUT);
  u128 rate = (u128)read64(config + CONFIG_TRADE_FEE_RATE) + read64(platform + PLATFORM_FEE_RATE) +
              read64(platform + PLATFORM_CREATOR_FEE_RATE) + trade->share_rate;
  REQUIRE(rate < RATE_DENOMINATOR, MATH_OVERFLOW);
  market->fee_rate = low_half(rate);
  transfer_fee_of(trade->base_mint, epoch, &market->base_fee);
  transfer_fee_of(trade->quote_mint, epoch, &market->quote_fee);
  return 0;
}

OUTLINE u64 narrow(u128 value, u64 *narrowed) {
  REQUIRE(high_half(value) == 0, MATH_OVERFLOW);
  *narrowed = low_half(value);
  return 0;
}

// floor of the square root, one bit of it at a time.
OUTLINE u64 square_root(u128 value) {
  u64 root = 0;
  for (u64 bit = 1ull << 63; bit; bit >>= 1) {
    u64 trial = root | bit;
    if (multiply(trial, trial) <= value) root = trial;
  }
  return root;
}

// Constant product: both reserves as the curve has them now, the virtual parts included.
OUTLINE u64 reserves_of(const Market *market, u64 *base, u64 *quote) {
  REQUIRE(market->virtual_base > market->sold, MATH_OVERFLOW);
  *base = market->virtual_base - market->sold;
  return narrow((u128)market->virtual_quote + market->raised, quote);
}

// Linear price: the n-th base unit costs virtual_base × n ÷ 2^64, so all that were sold have raised
// virtual_base × sold² ÷ 2^65. Trades go to a new point of that line: what roundings left in the vault counts as raised.
OUTLINE u64 raised_by(const Market *market, u64 sold, u64 *raised) {
  u128 square = multiply(sold, sold);
  REQUIRE(!multiply_overflows(square, market->virtual_base), MATH_OVERFLOW);
  u128 product = multiply_wide(square, market->virtual_base);
  *raised = (high_half(product) >> 1) + (low_half(product) != 0 || (high_half(product) & 1));
  return 0;
}

OUTLINE u64 sold_for(const Market *market, u128 raised, u64 *sold) {
  REQUIRE(market->virtual_base != 0 && raised >> 63 == 0, MATH_OVERFLOW);
  *sold = square_root(divide_floor(from_halves(low_half(raised) << 1, 0), market->virtual_base));
  return 0;
}

// later − earlier, where the program's own subtraction is checked.
OUTLINE u64 difference(u64 later, u64 earlier, u64 *by) {
  REQUIRE(later >= earlier, MATH_OVERFLOW);
  *by = later - earlier;
  return 0;
}

// Base units that `quote` buys, rounded down.
OUTLINE u64 base_bought(const Market *market, u64 quote, u64 *base) {
  if (market->shape == CONSTANT_PRODUCT) {
    u64 base_reserve, quote_reserve;
    TRY(reserves_of(market, &base_reserve, &quote_reserve));
    return narrow(divide_floor(multiply(quote, base_reserve), (u128)quote_reserve + quote), base);
  }
  if (market->shape == FIXED_PRICE) {
    REQUIRE(market->virtual_quote != 0, MATH_OVERFLOW);
    return narrow(divide_floor(multiply(quote, market->virtual_base), market->virtual_quote), base);
  }
  u64 sold;
  TRY(sold_for(market, (u128)market->raised + quote, &sold));
  return difference(sold, market->sold, base);
}

// Quote units that buy `base`, rounded up.
OUTLINE u64 quote_for(const Market *market, u64 base, u64 *quote) {
  if (market->shape == CONSTANT_PRODUCT) {
    u64 base_reserve, quote_reserve;
    TRY(reserves_of(market, &base_reserve, &quote_reserve));
    REQUIRE(base < base_reserve, MATH_OVERFLOW);
    return narrow(divide_ceil(multiply(base, quote_reserve), base_reserve - base), quote);
  }
  if (market->shape == FIXED_PRICE) {
    REQUIRE(market->virtual_base != 0, MATH_OVERFLOW);
    return narrow(divide_ceil(multiply(base, market->virtual_quote), market->virtual_base), quote);
  }
  u64 raised;
  TRY(raised_by(market, market->sold + base, &raised));
  return difference(raised, market->raised, quote);
}

// Quote units that selling `base` gives, rounded down.
OUTLINE u64 quote_given(const Market *market, u64 base, u64 *quote) {
  REQUIRE(base <= market->sold, MATH_OVERFLOW);
  if (market->shape == CONSTANT_PRODUCT) {
    u64 base_reserve, quote_reserve;
    TRY(reserves_of(market, &base_reserve, &quote_reserve));
    return narrow(divide_floor(multiply(base, quote_reserve), (u128)base_reserve + base), quote);
  }
  if (market->shape == FIXED_PRICE) {
    REQUIRE(market->virtual_base != 0, MATH_OVERFLOW);
    return narrow(divide_floor(multiply(base, market->virtual_quote), market->virtual_base), quote);
  }
  u64 raised;
  TRY(raised_by(market, market->sold - base, &raised));
  return difference(market->raised, raised, quote);
}

// Base units to sell so that the curve gives `quote`, rounded up.
OUTLINE u64 base_for(const Market *market, u64 quote, u64 *base) {
  if (market->shape == CONSTANT_PRODUCT) {
    u64 base_reserve, quote_reserve;
    TRY(reserves_of(market, &base_reserve, &quote_reserve));
    REQUIRE(quote < quote_reserve, MATH_OVERFLOW);
    return narrow(divide_ceil(multiply(quote, base_reserve), quote_reserve - quote), base);
  }
  if (market->shape == FIXED_PRICE) {
    REQUIRE(market->virtual_quote != 0, MATH_OVERFLOW);
    return narrow(divide_ceil(multiply(quote, market->virtual_base), market->virtual_quote), base);
  }
  u64 sold;
  REQUIRE(quote <= market->raised, MATH_OVERFLOW);
  TRY(sold_for(market, market->raised - quote, &sold));
  return difference(market->sold, sold, base);
}

// What is left is all a buyer gets: a larger payment is cut down to what that costs.
OUTLINE u64 fill_buy_in(const Trade *trade, const Market *market, u64 amount, u64 minimum, Fill *fill) {
  u64 arriving = amount - fee_on_transfer(&market->quote_fee, amount);
  fill->fee = low_half(share_ceil(arriving, market->fee_rate));
  fill->quote = arriving - fill->fee;
  fill->sent_in = amount;
  TRY(base_bought(market, fill->quote, &fill->base));
  if (fill->base > market->left) {
    u64 whole;
    fill->base = market->left;
    TRY(quote_for(market, fill->base, &fill->quote));
    TRY(narrow(before_fee(fill->quote, market->fee_rate), &whole));
    fill->fee = whole - fill->quote;
    TRY(invert_transfer_fee(trade->quote_mint, &market->quote_fee, whole, &fill->sent_in));
    REQUIRE(fill->sent_in <= amount, MATH_OVERFLOW);
  }
  fill->sent_out = fill->base;
  u64 received = fill->base - fee_on_transfer(&market->base_fee, fill->base);
  REQUIRE(received > 0, INVALID_INPUT);
  REQUIRE(received >= minimum, EXCEEDED_SLIPPAGE);
  return 0;
}

OUTLINE u64 fill_buy_out(const Trade *trade, const Market *market, u64 amount, u64 maximum, Fill *fill) {
  u64 whole;
  TRY(invert_transfer_fee(trade->base_mint, &market->base_fee, amount, &fill->base));
  REQUIRE(fill->base <= market->left, INVALID_INPUT);
  TRY(quote_for(market, fill->base, &fill->quote));
  TRY(narrow(before_fee(fill->quote, market->fee_rate), &whole));
  fill->fee = whole - fill->quote;
  fill->sent_out = fill->base;
  TRY(invert_transfer_fee(trade->quote_mint, &market->quote_fee, whole, &fill->sent_in));
  REQUIRE(fill->sent_in > 0, INVALID_INPUT);
  REQUIRE(fill->sent_in <= maximum, EXCEEDED_SLIPPAGE);
  return 0;
}

OUTLINE u64 fill_sell_in(const Market *market, u64 amount, u64 minimum, Fill *fill) {
  fill->sent_in = amount;
  fill->base = amount - fee_on_transfer(&market->base_fee, amount);
  TRY(quote_given(market, fill->base, &fill->quote));
  fill->fee = low_half(share_ceil(fill->quote, market->fee_rate));
  fill->sent_out = fill->quote - fill->fee;
  u64 received = fill->sent_out - fee_on_transfer(&market->quote_fee, fill->sent_out);
  REQUIRE(received > 0, INVALID_INPUT);
  REQUIRE(received >= minimum, EXCEEDED_SLIPPAGE);
  return 0;
}

OUTLINE u64 fill_sell_out(const Trade *trade, const Market *market, u64 amount, u64 maximum, Fill *fill) {
  TRY(invert_transfer_fee(trade->quote_mint, &market->quote_fee, amount, &fill->sent_out));
  TRY(narrow(before_fee(fill->sent_out, market->fee_rate), &fill->quote));
  fill->fee = fill->quote - fill->sent_out;
  TRY(base_for(market, fill->quote, &fill->base));
  REQUIRE(fill->base <= market->sold, MATH_OVERFLOW);
  TRY(invert_transfer_fee(trade->base_mint, &market->base_fee, fill->base, &fill->sent_in));
  REQUIRE(fill->sent_in > 0, INVALID_INPUT);
  REQUIRE(fill->sent_in <= maximum, EXCEEDED_SLIPPAGE);
  return 0;
}

// A transfer out of one of the pool's vaults.
OUTLINE u64 pay_out(const Trade *trade, const Account *vault, const Account *to, u64 amount) {
  if (amount == 0) return 0;
  int is_base = vault == trade->base_vault;
  Transfer transfer = {is_base ? trade->base_program : trade->quote_program, vault,
                       is_base ? trade->base_mint : trade->quote_mint, to, trade->authority};
  u8 bump = AUTHORITY_BUMP;
  Seed seeds[2] = {{AUTHORITY_SEED, LITERAL_LENGTH(AUTHORITY_SEED)}, {&bump, 1}};
  SignerSeeds signer = {seeds, 2};
  return transfer_checked(&transfer, amount, &signer);
}

INLINE u64 part_of(u64 fee, u64 rate, u64 all) {
  return all == 0 ? 0 : low_half(divide_floor(multiply(fee, rate), all));
}

// The platform, the creator and the sharer are paid at once; the protocol's part stays in the quote vault and is counted.
OUTLINE u64 divide_fee(const Trade *trade, const Market *market, u64 fee) {
  const u8 *platform = trade->platform->data;
  u64 to_platform = part_of(fee, read64(platform + PLATFORM_FEE_RATE), market->fee_rate);
  u64 to_creator = part_of(fee, read64(platform + PLATFORM_CREATOR_FEE_RATE), market->fee_rate);
  u64 to_share = part_of(fee, trade->share_rate, market->fee_rate);
  add_to(trade->pool->data + POOL_PROTOCOL_FEE, fee - to_platform - to_creator - to_share);
  TRY(pay_out(trade, trade->quote_vault, trade->platform_vault, to_platform));
  TRY(pay_out(trade, trade->quote_vault, trade->creator_vault, to_creator));
  return trade->share_receiver ? pay_out(trade, trade->quote_vault, trade->share_receiver, to_share) : 0;
}

// Moves the curve and the tokens. A curve that has sold or raised all it was to waits for its migration from then on.
OUTLINE u64 settle(const Trade *trade, const Market *market, u64 epoch, u64 buying, const Fill *fill) {
  u8 *pool = trade->pool->data;
  if (buying) {
    add_to(pool + POOL_REAL_BASE, fill->base);
    add_to(pool + POOL_REAL_QUOTE, fill->quote);
    if (fill->base == market->left || read64(pool + POOL_REAL_QUOTE) >= read64(pool + POOL_QUOTE_TO_RAISE)) {
      pool[POOL_STATUS] = STATUS_AWAITING_MIGRATION;
    }
    Transfer in = {trade->quote_program, trade->user_quote, trade->quote_mint, trade->quote_vault, trade->payer};
    TRY(transfer_checked(&in, fill->sent_in, 0));
    TRY(pay_out(trade, trade->base_vault, trade->user_base, fill->sent_out));
  } else {
    REQUIRE(fill->quote <= market->raised, MATH_OVERFLOW);
    write64(pool + POOL_REAL_BASE, market->sold - fill->base);
    write64(pool + POOL_REAL_QUOTE, market->raised - fill->quote);
    Transfer in = {trade->base_program, trade->user_base, trade->base_mint, trade->base_vault, trade->payer};
    TRY(transfer_checked(&in, fill->sent_in, 0));
    TRY(pay_out(trade, trade->quote_vault, trade->user_quote, fill->sent_out));
  }
  write64(pool + POOL_EPOCH, epoch);
  return divide_fee(trade, market, fill->fee);
}

OUTLINE u64 run(const Call *call, u64 instruction) {
  Trade trade;
  Market market;
  Fill fill;
  Clock clock;
  REQUIRE(call->data_len >= ARGUMENTS_SIZE, INSTRUCTION_DID_NOT_DESERIALIZE);
  u64 amount = read64(call->data + 8), limit = read64(call->data + 16);
  trade.share_rate = read64(call->data + 24);
  TRY(load_accounts(call, &trade));
  TRY(check_accounts(&trade));
  sol_get_clock_sysvar(&clock);
  TRY(read_market(&trade, clock.epoch, &market));
  REQUIRE(amount > 0, INVALID_INPUT);
  int buying = instruction == BUY_EXACT_IN || instruction == BUY_EXACT_OUT;
  if (instruction == BUY_EXACT_IN) TRY(fill_buy_in(&trade, &market, amount, limit, &fill));
  if (instruction == BUY_EXACT_OUT) TRY(fill_buy_out(&trade, &market, amount, limit, &fill));
  if (instruction == SELL_EXACT_IN) TRY(fill_sell_in(&market, amount, limit, &fill));
  if (instruction == SELL_EXACT_OUT) TRY(fill_sell_out(&trade, &market, amount, limit, &fill));
  TRY(open_fee_vault(call, &trade, trade.platform_vault, trade.platform->key));
  TRY(open_fee_vault(call, &trade, trade.creator_vault, trade.pool->data + POOL_CREATOR));
  return settle(&trade, &market, clock.epoch, buying, &fill);
}

OUTLINE u64 buy_exact_in(const Call *call) {
  LOG_INSTRUCTION("BuyExactIn");
  return run(call, BUY_EXACT_IN);
}

OUTLINE u64 buy_exact_out(const Call *call) {
  LOG_INSTRUCTION("BuyExactOut");
  return run(call, BUY_EXACT_OUT);
}

OUTLINE u64 sell_exact_in(const Call *call) {
  LOG_INSTRUCTION("SellExactIn");
  return run(call, SELL_EXACT_IN);
}

OUTLINE u64 sell_exact_out(const Call *call) {
  LOG_INSTRUCTION("SellExactOut");
  return run(call, SELL_EXACT_OUT);
}

u64 entrypoint(u8 *input) {
  Call call;
  if (!parse_call(input, &call)) return THROWN(ACCOUNT_NOT_ENOUGH_KEYS);
  if (call.data_len < 8) return THROWN(INSTRUCTION_FALLBACK_NOT_FOUND);
  u64 instruction = read64(call.data);
  if (instruction == BUY_EXACT_IN) return buy_exact_in(&call);
  if (instruction == BUY_EXACT_OUT) return buy_exact_out(&call);
  if (instruction == SELL_EXACT_IN) return sell_exact_in(&call);
  if (instruction == SELL_EXACT_OUT) return sell_exact_out(&call);
  return THROWN(INSTRUCTION_FALLBACK_NOT_FOUND);
}
