// Mints and token accounts of both token programs, and transfers between them.
#ifndef TOKEN_H
#define TOKEN_H

#include "anchor.h"

#define MINT_SIZE 82
#define MINT_SUPPLY 36
#define MINT_DECIMALS 44
#define MINT_INITIALIZED 45
#define TOKEN_ACCOUNT_SIZE 165
#define TOKEN_ACCOUNT_MINT 0
#define TOKEN_ACCOUNT_OWNER 32
#define TOKEN_ACCOUNT_AMOUNT 64
#define TOKEN_ACCOUNT_STATE 108
// In Token-2022 the kind of an account stands where a plain token account ends, and extensions follow.
#define ACCOUNT_KIND 165
#define KIND_MINT 1
#define KIND_TOKEN_ACCOUNT 2
#define EXTENSION_TRANSFER_FEE_CONFIG 1
#define OLDER_FEE 72
#define NEWER_FEE 90
#define ONE_IN_BASIS_POINTS 10000

#define TOKEN_MINT_TO 7
#define TOKEN_TRANSFER_CHECKED 12
#define TOKEN_SYNC_NATIVE 17
#define TOKEN_INITIALIZE_MINT 20

INLINE int is_token_program(const Key *key) {
  return same_key(key, &TOKEN_PROGRAM) || same_key(key, &TOKEN_2022_PROGRAM);
}

INLINE u64 token_amount(const Account *account) { return read64(account->data + TOKEN_ACCOUNT_AMOUNT); }
INLINE const Key *token_mint(const Account *account) { return (const Key *)(account->data + TOKEN_ACCOUNT_MINT); }
INLINE const Key *token_owner(const Account *account) { return (const Key *)(account->data + TOKEN_ACCOUNT_OWNER); }

INLINE int is_token_account(const Account *account) {
  if (account->data_len < TOKEN_ACCOUNT_SIZE || account->data[TOKEN_ACCOUNT_STATE] == 0) return 0;
  return account->data_len == TOKEN_ACCOUNT_SIZE || account->data[ACCOUNT_KIND] == KIND_TOKEN_ACCOUNT;
}

INLINE int is_mint(const Account *account) {
  if (account->data_len < MINT_SIZE || account->data[MINT_INITIALIZED] != 1) return 0;
  return account->data_len == MINT_SIZE || (account->data_len > ACCOUNT_KIND && account->data[ACCOUNT_KIND] == KIND_MINT);
}

#define REQUIRE_TOKEN_STATE(name, account, test)                                                                       \
  do {                                                                                                                 \
    const Account *state = (account);                                                                                  \
    REQUIRE_OF(name, *state->lamports != 0 || state->data_len != 0, ACCOUNT_NOT_INITIALIZED);                          \
    REQUIRE_OF(name, is_token_program(state->owner), ACCOUNT_OWNED_BY_WRONG_PROGRAM);                                  \
    REQUIRE_OF(name, test(state), ACCOUNT_DID_NOT_DESERIALIZE);                                                        \
  } while (0)
#define REQUIRE_TOKEN_ACCOUNT(name, account) REQUIRE_TOKEN_STATE(name, account, is_token_account)
#define REQUIRE_MINT(name, account) REQUIRE_TOKEN_STATE(name, account, is_mint)
#define REQUIRE_TOKEN_PROGRAM(name, account) REQUIRE_OF(name, is_token_program((account)->key), INVALID_PROGRAM_ID)

typedef struct {
  u64 maximum;
  u64 basis_points;
} TransferFee;

// The transfer fee of a mint in force in `epoch`; a mint without one charges nothing.
OUTLINE void transfer_fee_of(const Account *mint, u64 epoch, TransferFee *fee) {
  fee->maximum = 0;
  fee->basis_points = 0;
  if (same_key(mint->owner, &TOKEN_PROGRAM)) return;
  const u8 *at = mint->data + ACCOUNT_KIND + 1;
  const u8 *end = mint->data + mint->data_len;
  while (at + 4 <= end) {
    u64 type = read16(at), length = read16(at + 2);
    if (type == 0) return;
    if (type == EXTENSION_TRANSFER_FEE_CONFIG) {
      const u8 *config = at + 4;
      const u8 *setting = config + (epoch >= read64(config + NEWER_FEE) ? NEWER_FEE : OLDER_FEE);
      fee->maximum = read64(setting + 8);
      fee->basis_points = read16(setting + 16);
      return;
    }
    at += 4 + length;
  }
}

// What a transfer of `amount` withholds: ceil(amount × basis points / 10 000), at most the maximum.
INLINE u64 fee_on_transfer(const TransferFee *fee, u64 amount) {
  if (fee->basis_points == 0 || amount == 0) return 0;
  u128 raw = divide_ceil(multiply(amount, fee->basis_points), ONE_IN_BASIS_POINTS);
  return raw < fee->maximum ? low_half(raw) : fee->maximum;
}

// The amount to send so that `received` arrives, as the token program inverts its fee. Wider than 64 bits: no such amount.
INLINE u128 amount_before_fee(const TransferFee *fee, u64 received) {
  if (fee->basis_points == 0 || received == 0) return received;
  if (fee->basis_points == ONE_IN_BASIS_POINTS) return (u128)received + fee->maximum;
  u128 before = divide_ceil(multiply(received, ONE_IN_BASIS_POINTS), ONE_IN_BASIS_POINTS - fee->basis_points);
  return before - received >= fee->maximum ? (u128)received + fee->maximum : before;
}

typedef struct {
  const Account *token_program, *from, *mint, *to, *authority;
} Transfer;

// Moves `amount` by the token program of the mint; `signer` is null when the authority signed the transaction.
OUTLINE u64 transfer_checked(const Transfer *transfer, u64 amount, const SignerSeeds *signer) {
  u8 data[16] __attribute__((aligned(8)));
  data[0] = TOKEN_TRANSFER_CHECKED;
  write64(data + 1, amount);
  data[9] = transfer->mint->data[MINT_DECIMALS];
  AccountMeta metas[4] = {
      {transfer->from->key, 1, 0}, {transfer->mint->key, 0, 0}, {transfer->to->key, 1, 0}, {transfer->authority->key, 0, 1}};
  Account infos[4] = {*transfer->from, *transfer->mint, *transfer->to, *transfer->authority};
  Instruction instruction = {transfer->token_program->key, metas, 4, data, 10};
  return sol_invoke_signed_c(&instruction, infos, 4, signer, signer != 0);
}

// Makes a mint of Token-2022 out of an account already owned by it; nobody can freeze its tokens.
OUTLINE u64 initialize_mint(const Account *mint, u64 decimals, const Key *authority) {
  u8 data[40] __attribute__((aligned(8)));
  data[0] = TOKEN_INITIALIZE_MINT;
  data[1] = (u8)decimals;
  copy_key(data + 2, authority);
  data[34] = 0;
  AccountMeta metas[1] = {{mint->key, 1, 0}};
  Instruction instruction = {&TOKEN_2022_PROGRAM, metas, 1, data, 35};
  return sol_invoke_signed_c(&instruction, mint, 1, 0, 0);
}

OUTLINE u64 mint_to(const Account *mint, const Account *to, const Account *authority, u64 amount,
                    const SignerSeeds *signer) {
  u8 data[16] __attribute__((aligned(8)));
  data[0] = TOKEN_MINT_TO;
  write64(data + 1, amount);
  AccountMeta metas[3] = {{mint->key, 1, 0}, {to->key, 1, 0}, {authority->key, 0, 1}};
  Account infos[3] = {*mint, *to, *authority};
  Instruction instruction = {mint->owner, metas, 3, data, 9};
  return sol_invoke_signed_c(&instruction, infos, 3, signer, 1);
}

// Makes a wrapped-SOL account's balance follow its lamports.
OUTLINE u64 sync_native(const Account *account) {
  u8 data = TOKEN_SYNC_NATIVE;
  AccountMeta metas[1] = {{account->key, 1, 0}};
  Instruction instruction = {&TOKEN_PROGRAM, metas, 1, &data, 1};
  return sol_invoke_signed_c(&instruction, account, 1, 0, 0);
}

#endif
