// Checks and errors as programs built with the Anchor framework report them: one log line, and the error number as the
// program's result. A source file that includes this defines SOURCE, its own name, first.
#ifndef ANCHOR_H
#define ANCHOR_H

#include "chain.h"

#define LITERAL_LENGTH(text) (sizeof(text) - 1)

OUTLINE u64 fail_with(const char *line, u64 length, u64 number) {
  sol_log_(line, length);
  return number;
}

#define ERROR_LINE(origin, name, number, message)                                                                      \
  "AnchorError " origin ". Error Code: " #name ". Error Number: " #number ". Error Message: " message "."
#define ERROR_IN(origin, name, number, message)                                                                        \
  fail_with(ERROR_LINE(origin, name, number, message), LITERAL_LENGTH(ERROR_LINE(origin, name, number, message)), number)

// `name` may be a macro that expands to `Name, number, "message"`; both levels are needed for it to expand.
#define THROWN(...) ERROR_IN("thrown in " SOURCE, __VA_ARGS__)
#define CAUSED_BY(account, ...) ERROR_IN("caused by account: " account, __VA_ARGS__)

#define REQUIRE(condition, ...)                                                                                        \
  do {                                                                                                                 \
    if (!(condition)) return THROWN(__VA_ARGS__);                                                                      \
  } while (0)
#define REQUIRE_OF(account, condition, ...)                                                                            \
  do {                                                                                                                 \
    if (!(condition)) return CAUSED_BY(account, __VA_ARGS__);                                                          \
  } while (0)

// The line that names the instruction being run.
#define LOG_INSTRUCTION(name) sol_log_("Instruction: " name, LITERAL_LENGTH("Instruction: " name))

#define INSTRUCTION_FALLBACK_NOT_FOUND InstructionFallbackNotFound, 101, "Fallback functions are not supported"
#define INSTRUCTION_DID_NOT_DESERIALIZE InstructionDidNotDeserialize, 102, "The program could not deserialize the given instruction"
#define CONSTRAINT_MUT ConstraintMut, 2000, "A mut constraint was violated"
#define CONSTRAINT_RAW ConstraintRaw, 2003, "A raw constraint was violated"
#define CONSTRAINT_SEEDS ConstraintSeeds, 2006, "A seeds constraint was violated"
#define CONSTRAINT_ADDRESS ConstraintAddress, 2012, "An address constraint was violated"
#define CONSTRAINT_TOKEN_MINT ConstraintTokenMint, 2014, "A token mint constraint was violated"
#define CONSTRAINT_TOKEN_OWNER ConstraintTokenOwner, 2015, "A token owner constraint was violated"
#define REQUIRE_GT_VIOLATED RequireGtViolated, 2505, "A require_gt expression was violated"
#define REQUIRE_GTE_VIOLATED RequireGteViolated, 2506, "A require_gte expression was violated"
#define ACCOUNT_DISCRIMINATOR_MISMATCH AccountDiscriminatorMismatch, 3002, "Account discriminator did not match what was expected"
#define ACCOUNT_DID_NOT_DESERIALIZE AccountDidNotDeserialize, 3003, "Failed to deserialize the account"
#define ACCOUNT_NOT_ENOUGH_KEYS AccountNotEnoughKeys, 3005, "Not enough account keys given to the instruction"
#define ACCOUNT_OWNED_BY_WRONG_PROGRAM AccountOwnedByWrongProgram, 3007, "The given account is owned by a different program than expected"
#define INVALID_PROGRAM_ID InvalidProgramId, 3008, "Program ID was not as expected"
#define ACCOUNT_NOT_SIGNER AccountNotSigner, 3010, "The given account did not sign"
#define ACCOUNT_NOT_INITIALIZED AccountNotInitialized, 3012, "The program expected this account to be already initialized"

// An account of this kind: owned by `program`, starting with the discriminator, at least `size` bytes long.
#define REQUIRE_STATE(name, account, program, discriminator, size)                                                     \
  do {                                                                                                                 \
    const Account *state = (account);                                                                                  \
    REQUIRE_OF(name, *state->lamports != 0 || state->data_len != 0, ACCOUNT_NOT_INITIALIZED);                          \
    REQUIRE_OF(name, same_key(state->owner, (program)), ACCOUNT_OWNED_BY_WRONG_PROGRAM);                               \
    REQUIRE_OF(name, state->data_len >= 8 && read64(state->data) == (discriminator), ACCOUNT_DISCRIMINATOR_MISMATCH);  \
    REQUIRE_OF(name, state->data_len >= (size), ACCOUNT_DID_NOT_DESERIALIZE);                                          \
  } while (0)

#define REQUIRE_SIGNER(name, account) REQUIRE_OF(name, (account)->is_signer, ACCOUNT_NOT_SIGNER)
#define REQUIRE_WRITABLE(name, account) REQUIRE_OF(name, (account)->is_writable, CONSTRAINT_MUT)
#define REQUIRE_ADDRESS(name, account, expected)                                                                       \
  REQUIRE_OF(name, same_key((account)->key, (expected)), CONSTRAINT_ADDRESS)
#define REQUIRE_PROGRAM(name, account, expected) REQUIRE_OF(name, same_key((account)->key, (expected)), INVALID_PROGRAM_ID)

#endif
