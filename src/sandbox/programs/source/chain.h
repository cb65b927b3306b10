// What the runtime gives a program: its input, its system calls, derived addresses and calls into other programs.
#ifndef CHAIN_H
#define CHAIN_H

#include "wide.h"

typedef struct {
  u64 words[4];
} Key;

// The layouts below are the runtime's own: they are handed to `sol_invoke_signed_c` as they are.
typedef struct {
  Key *key;
  u64 *lamports;
  u64 data_len;
  u8 *data;
  Key *owner;
  u64 rent_epoch;
  u8 is_signer;
  u8 is_writable;
  u8 executable;
} Account;

typedef struct {
  const Key *key;
  u8 is_writable;
  u8 is_signer;
} AccountMeta;

typedef struct {
  const Key *program;
  const AccountMeta *accounts;
  u64 account_count;
  const u8 *data;
  u64 data_len;
} Instruction;

typedef struct {
  const void *bytes;
  u64 length;
} Seed;

typedef struct {
  const Seed *seeds;
  u64 count;
} SignerSeeds;

typedef struct {
  u64 slot;
  u64 epoch_start;
  u64 epoch;
  u64 leader_schedule_epoch;
  u64 unix_timestamp;
} Clock;

typedef struct {
  u64 lamports_per_byte_year;
  u64 exemption_threshold; // the bits of a double
  u8 burn_percent;
} Rent;

extern void sol_log_(const char *text, u64 length);
extern u64 sol_invoke_signed_c(const Instruction *instruction, const Account *accounts, u64 account_count,
                               const SignerSeeds *signers, u64 signer_count);
extern u64 sol_create_program_address(const Seed *seeds, u64 count, const Key *program, Key *address);
extern u64 sol_try_find_program_address(const Seed *seeds, u64 count, const Key *program, Key *address, u8 *bump);
extern u64 sol_get_clock_sysvar(Clock *clock);
extern u64 sol_get_rent_sysvar(Rent *rent);
extern void abort(void) __attribute__((noreturn));

// Evaluates a call that answers 0 or an error code, and hands an error to the caller.
#define TRY(call)                                                                                                      \
  do {                                                                                                                 \
    u64 try_code = (call);                                                                                             \
    if (try_code) return try_code;                                                                                     \
  } while (0)

INLINE u64 read64(const u8 *at) { return *(const u64 *)at; }
INLINE u32 read32(const u8 *at) { return *(const u32 *)at; }
INLINE u16 read16(const u8 *at) { return *(const u16 *)at; }
INLINE void write64(u8 *at, u64 value) { *(u64 *)at = value; }
INLINE void write32(u8 *at, u32 value) { *(u32 *)at = value; }

INLINE int same_key(const void *a, const void *b) {
  const u64 *x = a, *y = b;
  return x[0] == y[0] && x[1] == y[1] && x[2] == y[2] && x[3] == y[3];
}

INLINE int is_zero_key(const void *key) {
  const u64 *words = key;
  return (words[0] | words[1] | words[2] | words[3]) == 0;
}

INLINE void copy_key(void *to, const void *from) {
  u64 *target = to;
  const u64 *source = from;
  for (int i = 0; i < 4; i++) target[i] = source[i];
}

// Program ids as little-endian words of their bytes.
static const Key SYSTEM_PROGRAM = {{0, 0, 0, 0}};
// TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA
static const Key TOKEN_PROGRAM = {
    {0x93a165d7e1f6dd06ull, 0xac79ebce46e1cbd9ull, 0x91375b5fed85b41cull, 0xa900ff7e85f58c3aull}};
// TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb
static const Key TOKEN_2022_PROGRAM = {
    {0xde8f75eee1f6dd06ull, 0xdacd6ce4bc5d4218ull, 0x270db9834dfc1ab6ull, 0xfc8ba1d828f9bdfeull}};
// ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL
static const Key ASSOCIATED_TOKEN_PROGRAM = {
    {0xf189244e8f25978cull, 0x830d8e1429103dbbull, 0x8410ffda99135a0bull, 0x59f8e9dbd87b8e04ull}};
// So11111111111111111111111111111111111111112
static const Key WRAPPED_SOL = {
    {0x8481abfe57889b06ull, 0x35c01846637f68fbull, 0x553beb1adc39c4daull, 0x0100000000f0a098ull}};

// The 32 KiB the runtime gives every call: the list of accounts first, then room for one large instruction to another
// program, which no stack frame of this compiler (512 bytes) could hold.
#define HEAP ((Account *)0x300000000ull)
#define OUTGOING_ACCOUNTS ((Account *)0x300001000ull)
#define OUTGOING_METAS ((AccountMeta *)0x300003000ull)
#define MAX_ACCOUNTS 64
#define MAX_GROWTH 10240
#define NOT_A_DUPLICATE 0xff

typedef struct {
  Account *accounts;
  u64 account_count;
  const u8 *data;
  u64 data_len;
  const Key *program;
} Call;

// Reads the runtime's input. An account named twice is laid out once; its later entries point back at the first.
OUTLINE int parse_call(u8 *at, Call *call) {
  Account *accounts = HEAP;
  u64 count = read64(at);
  if (count > MAX_ACCOUNTS) return 0;
  at += 8;
  for (u64 i = 0; i < count; i++) {
    Account *account = &accounts[i];
    if (at[0] != NOT_A_DUPLICATE) {
      *account = accounts[at[0]];
      at += 8;
      continue;
    }
    account->is_signer = at[1];
    account->is_writable = at[2];
    account->executable = at[3];
    account->key = (Key *)(at + 8);
    account->owner = (Key *)(at + 40);
    account->lamports = (u64 *)(at + 72);
    account->data_len = read64(at + 80);
    account->data = at + 88;
    at += 88 + account->data_len + MAX_GROWTH;
    at = (u8 *)(((u64)at + 7) & ~7ull);
    account->rent_epoch = read64(at);
    at += 8;
  }
  call->accounts = accounts;
  call->account_count = count;
  call->data_len = read64(at);
  call->data = at + 8;
  call->program = (const Key *)(at + 8 + call->data_len);
  return 1;
}

// A call into another program may have created the account: its length is then found before its data.
INLINE void refresh(Account *account) { account->data_len = read64(account->data - 8); }

#define DOUBLE_TWO 0x4000000000000000ull

// Lamports that keep an account of `space` bytes; the threshold is 1.0 or 2.0 years on every cluster.
OUTLINE u64 rent_exempt(u64 space) {
  Rent rent;
  if (sol_get_rent_sysvar(&rent)) abort();
  u64 lamports = (128 + space) * rent.lamports_per_byte_year;
  return rent.exemption_threshold == DOUBLE_TWO ? lamports * 2 : lamports;
}

// True when `key` is the derived address of the seeds.
OUTLINE int is_derived(const Key *key, const Seed *seeds, u64 count, const Key *program, u8 *bump) {
  Key derived;
  if (sol_try_find_program_address(seeds, count, program, &derived, bump)) return 0;
  return same_key(key, &derived);
}

INLINE int is_associated_token_account(const Key *key, const Key *owner, const Key *mint, const Key *token_program) {
  Seed seeds[3] = {{owner, 32}, {token_program, 32}, {mint, 32}};
  u8 bump;
  return is_derived(key, seeds, 3, &ASSOCIATED_TOKEN_PROGRAM, &bump);
}

#define SYSTEM_CREATE_ACCOUNT 0
#define SYSTEM_TRANSFER 2

// Moves lamports of a signing system account.
OUTLINE u64 transfer_lamports(const Account *from, const Account *to, u64 lamports, const SignerSeeds *signer) {
  if (lamports == 0) return 0;
  u64 words[2];
  u8 *data = (u8 *)words;
  write32(data, SYSTEM_TRANSFER);
  *(u64 *)(data + 4) = lamports;
  AccountMeta metas[2] = {{from->key, 1, 1}, {to->key, 1, 0}};
  Account infos[2] = {*from, *to};
  Instruction instruction = {&SYSTEM_PROGRAM, metas, 2, data, 12};
  return sol_invoke_signed_c(&instruction, infos, 2, signer, signer != 0);
}

// Creates `account` with `space` zero bytes, owned by `owner`; `payer` pays its rent.
OUTLINE u64 create_account(const Account *payer, Account *account, u64 space, const Key *owner,
                           const SignerSeeds *signer) {
  u8 data[52] __attribute__((aligned(8)));
  write32(data, SYSTEM_CREATE_ACCOUNT);
  *(u64 *)(data + 4) = rent_exempt(space);
  *(u64 *)(data + 12) = space;
  copy_key(data + 20, owner);
  AccountMeta metas[2] = {{payer->key, 1, 1}, {account->key, 1, 1}};
  Account infos[2] = {*payer, *account};
  Instruction instruction = {&SYSTEM_PROGRAM, metas, 2, data, 52};
  TRY(sol_invoke_signed_c(&instruction, infos, 2, signer, 1));
  refresh(account);
  return 0;
}

#endif
