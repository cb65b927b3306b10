import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { AccountService } from "../../../gen/tradewire/v1/account_pb.ts";
import { TradeService } from "../../../gen/tradewire/v1/trade_pb.ts";
import { commentsOf } from "./comments.ts";
import { describeRest } from "./describe.ts";
import { ANSWERS_FILE } from "./read.ts";

/**
 * Generates the committed OpenAPI document, from the generated descriptors, the comments that `buf build` reads
 * and the recorded answers.
 */
export function generateOpenApi(): string {
  const image = execFileSync("buf", ["build", "--as-file-descriptor-set", "--output", "-#format=binpb"]);
  const comments = commentsOf(fromBinary(FileDescriptorSetSchema, image).file);
  const answers = JSON.parse(readFileSync(ANSWERS_FILE, "utf8"));
  return `${JSON.stringify(describeRest([TradeService, AccountService], comments, answers), null, 2)}\n`;
}
