import type { DescMethodUnary } from "@bufbuild/protobuf";
import { AccountService } from "../../../gen/tradewire/v1/account_pb.ts";
import { TradeService } from "../../../gen/tradewire/v1/trade_pb.ts";
import type { Random } from "../../../src/primitives/random.ts";
import { ALICE, CHALLENGE, TOKEN } from "../fake-trades.ts";

/** How JSON names the values of an enum: in REST, or as the protobuf JSON mapping does. */
export type EnumNames = "short" | "full";

/** A request as bytes of JSON, in either naming of enums. */
export interface RequestText {
  readonly method: DescMethodUnary;
  /** True if both namings give the same request: no field has a form that only one of the two knows. */
  readonly isOfBoth: boolean;
  /** True if it holds nothing that libraries for protobuf are free to take or refuse. */
  readonly isStrict: boolean;
  bytes(names: EnumNames): Buffer;
}

/** A field: its name as JSON, and its value as JSON. */
type Member = readonly [name: string, value: string];

/** Stands for an enum value until the naming is known. */
const ENUM = /@(\w+)\.(\w+)@/g;
/** Enum values have numbers in one naming alone, and their names are different texts to other fields. */
const isAlikeInBoth = (field: string, value: string): boolean =>
  ["priority", "swapMode"].includes(field) ? !/^[-\d]/.test(value) : !value.includes("@");
const json = (value: unknown): string => JSON.stringify(value);

const SOL = "So11111111111111111111111111111111111111112";
const MINT = json(TOKEN.toString());
const TERMS = { slippage: "0.05", priority: '"@PRIORITY.FAST@"' };
const MODE = '"@SWAP_MODE.EXACT_IN@"';
const { buy, sell, swap, submit, quote } = TradeService.method;
const { createChallenge, register } = AccountService.method;

/** Requests that are answered, by their methods. */
const GOOD: readonly (readonly [DescMethodUnary, Readonly<Record<string, string>>])[] = [
  [buy, { mint: MINT, solAmount: "0.1", ...TERMS }],
  [sell, { mint: MINT, tokenAmount: "12.5", ...TERMS }],
  [swap, { inputMint: '"SOL"', outputMint: MINT, amount: "3", swapMode: MODE, ...TERMS }],
  [quote, { inputMint: MINT, outputMint: json(SOL), amount: "3", swapMode: MODE, slippage: "0" }],
  [submit, { submissionToken: '"token_0"', signedTransaction: '"AQID/+8="' }],
  [createChallenge, { walletAddress: json(ALICE.wallet.toString()) }],
  [
    register,
    { walletAddress: json(ALICE.wallet.toString()), message: json(CHALLENGE), signature: `"${"2".repeat(88)}"` },
  ],
];

/** Fields that change a trade and are seldom given. */
const MORE: readonly Member[] = [
  ["maxPriceImpact", "0.5"],
  ["maxPriorityCost", "1"],
  ["requireChecked", "true"],
  ["maxPaths", "2"],
  ["maxLegs", "1"],
  ["directOnly", "false"],
  ["venues", '["pump_fun"]'],
  ["excludeVenues", "[]"],
  ["maxTransactionVersion", "1"],
  ["worstCase", "false"],
  ["totalGuard", "true"],
  ["solAmountRaw", '"1"'],
  ["tokenAmountRaw", '"18446744073709551615"'],
  ["amountRaw", '"01"'],
  ["sellPercent", "50"],
  ["revokeOthers", "true"],
  ["label", '"l\u00e4ptop"'],
].map(([name, value]) => [json(name), value!] as const);

/** Values that a field may be given instead of its own. */
const VALUES: readonly string[] = [
  ...'null true false [] {} "" 0 -0 1 -1 0.0 1e0 1.0 2.5 1E+2 -1e-2 5e-324 1e-10 1e300 1e308 1e309 -1e999'.split(" "),
  ..."9007199254740993 4294967296 2147483648 0.1000000000000000055511151231257827 99 0.99999999999999999".split(" "),
  `0.${"3".repeat(5_000)}`,
  `1${"0".repeat(5_000)}`,
  `1.0e-${"0".repeat(5_000)}1`,
  "[null]",
  "[[]]",
  '[["pump_fun"]]',
  "[1]",
  '["\\u0000"]',
  '"\\u0000"',
  '"\\ud800"',
  '"\\ud83d\\ude00"',
  '"\ufeff"',
  '"NaN"',
  '{"a":{"b":[{"__proto__":null}]}}',
  '{"__proto__":{"solAmount":1}}',
  '"toString"',
  '"sol"',
  '"@PRIORITY.FASTEST@"',
  '"@SWAP_MODE.EXACT_OUT@"',
  json("\ufffd"),
  json("x".repeat(3_000)),
  json("\u{1f600}".repeat(70)),
  '"AAAAA"',
  '"A"',
  '"AB=="',
  '"-_8"',
  '"+/8="',
  '"AQ=="',
  '"AQ="',
  "[0.5]",
  '{"value":0.5}',
];

/** Values that the protobuf JSON mapping takes for some field, and REST does not. */
const MAPPED: readonly string[] = [
  ...["1", "0.5", "1e0", "-0", "1.0", "2.50E-1", "1e-400", "Infinity", "-Infinity"].map(json),
  ..."2 4 3.0 -0 200 -1".split(" "),
  '"@PRIORITY.UNSPECIFIED@"',
];

/** Values that libraries for protobuf take and its JSON mapping does not name. */
const LENIENT: readonly string[] = [
  "01",
  " 1",
  "1 ",
  "0x10",
  "+1",
  ".5",
  "5.",
  "1e999",
  "1_0",
  "\uff11",
  " AQ==",
  "AQ=ID",
  "",
].map(json);

const UNKNOWN: readonly Member[] = [
  ['"slipage"', "0.1"],
  ['"__proto__"', "1"],
  ['"__proto__"', '{"slippage":0}'],
  ['"constructor"', "{}"],
  ['"toString"', "null"],
  ['"\\ud800"', "1"],
  ['"\\u0000"', "1"],
  ['"$typeName"', '"x"'],
  ['"$unknown"', "[]"],
  ['""', "1"],
  ['"[tradewire.v1.x]"', "1"],
  ['"a\\nb\\"<script>"', "1"],
  [`"${"n".repeat(2_000)}"`, "1"],
  ['"Mint"', MINT],
];

/** A request in one of the many forms that JSON has: most of them wrong in one place. */
export function randomRequestText(random: Random): RequestText {
  const [method, good] = random.pick(GOOD);
  let members: Member[] = Object.entries(good).map(([name, value]) => [json(name), value]);
  let isOfBoth = true;
  let isStrict = true;
  const at = () => random.u32() % members.length;
  const changes = random.u32() % 4;
  for (let change = 0; change < changes && members.length > 0; change++) {
    const i = at();
    const [name, value] = members[i]!;
    switch (random.u32() % 12) {
      case 0:
      case 1:
      case 2:
        members[i] = [name, random.pick(VALUES)];
        isOfBoth &&= isAlikeInBoth(JSON.parse(name), members[i]![1]);
        break;
      case 3:
      case 4:
        if (random.chance(0.7)) members[i] = [name, random.pick(MAPPED)];
        else members[i] = [name, random.pick(LENIENT)];
        isStrict &&= MAPPED.includes(members[i]![1]);
        isOfBoth = false;
        break;
      case 5:
        members.push(random.chance(0.8) ? random.pick(MORE) : [random.pick(MORE)[0], "null"]);
        break;
      case 6:
        members.splice(i, 1);
        break;
      case 7:
        members.push([name, random.chance(0.5) ? value : "1.5"]);
        break;
      case 8:
        members.splice(at(), 0, random.pick(UNKNOWN));
        break;
      case 9:
        members[i] = [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value];
        isOfBoth = false;
        break;
      case 10:
        members[i] = [
          escaped(name, random),
          value.startsWith('"') && !value.includes("@") ? escaped(value, random) : value,
        ];
        break;
      default:
        members = members
          .map((member) => [random.u32(), member] as const)
          .sort(([a], [b]) => a - b)
          .map(([, member]) => member);
    }
  }
  const space = random.pick(["", "", "", " ", "\t", "\r\n  "]);
  const text = `${space}{${members.map(([name, value]) => `${space}${name}${space}:${space}${value}`).join(`${space},`)}${space}}${space}`;
  const whole = random.chance(0.9) ? text : random.pick(WHOLE(text));
  const length = random.chance(0.02) ? LIMIT_BYTES - 1 + (random.u32() % 3) : 0;
  const broken = random.chance(0.05) ? brokenBytes(random) : undefined;
  return {
    method,
    isOfBoth,
    isStrict,
    bytes: (names) => {
      const bytes = Buffer.from(
        whole.replace(ENUM, (_, prefix: string, value: string) => enumName(prefix, value, names)),
      );
      return padded(broken === undefined ? bytes : broken(bytes), length);
    },
  };
}

const WHOLE = (text: string): string[] => [
  "",
  " ",
  "null",
  "[]",
  `[${text}]`,
  "{}",
  '"x"',
  "1",
  "{",
  `\ufeff${text}`,
  `${text}\u0000`,
  `${text},`,
  `${text}${text}`,
  `${text}// x`,
  text.replace("{", "{,"),
  text.replaceAll('"', "'"),
  text.replace(/\}\s*$/, ",}"),
  `${"[".repeat(70)}${"]".repeat(70)}`,
  text.replace("{", `{"deep":${'{"a":'.repeat(12)}1${"}".repeat(12)},`),
  text.replace("{", `{"many":[${"1,".repeat(700)}1],`),
  text.replace("{", `{"a":{"b":1,"b":2},`),
];

/** The longest body there may be by default. */
const LIMIT_BYTES = 16 * 1_024;

/** The same JSON with spaces behind it, up to this length. */
const padded = (bytes: Buffer, length: number): Buffer =>
  Buffer.concat([bytes, Buffer.alloc(Math.max(0, length - bytes.length), " ")]);

/** Changes bytes so that the text is no longer UTF-8, at the same place in either naming. */
function brokenBytes(random: Random): (bytes: Buffer) => Buffer {
  const wrong = random.pick([[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xe2, 0x82], [0xf5, 0x80, 0x80, 0x80]]);
  const quote = 1 + (random.u32() % 6);
  return (bytes) => {
    let at = -1;
    for (let seen = 0; seen < quote; seen++) {
      const next = bytes.indexOf('"', at + 1);
      if (next === -1) break;
      at = next;
    }
    return Buffer.concat([bytes.subarray(0, at + 1), Buffer.from(wrong), bytes.subarray(at + 1)]);
  };
}

/** The same text with some characters as escapes. */
function escaped(text: string, random: Random): string {
  return `"${[...text.slice(1, -1)]
    .map((character) =>
      /[\w]/.test(character) && !text.includes("\\") && random.chance(0.3)
        ? `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
        : character,
    )
    .join("")}"`;
}

function enumName(prefix: string, value: string, names: EnumNames): string {
  if (names === "full") return `${prefix}_${value}`;
  return value.toLowerCase().replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
