import { execFileSync } from "node:child_process";
import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { AccountService } from "../../../gen/tradewire/v1/account_pb.ts";
import { TradeService } from "../../../gen/tradewire/v1/trade_pb.ts";
import { commentsOf } from "./comments.ts";
import { describeRest } from "./describe.ts";

/** Generates the committed OpenAPI document, from the generated descriptors and the comments that `buf build` reads. */
export function generateOpenApi(): string {
  const image = execFileSync("buf", ["build", "--as-file-descriptor-set", "--output", "-#format=binpb"]);
  const comments = commentsOf(fromBinary(FileDescriptorSetSchema, image).file);
  return `${JSON.stringify(describeRest([TradeService, AccountService], comments), null, 2)}\n`;
}
