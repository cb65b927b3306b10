import { readFileSync } from "node:fs";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import type { Plugin } from "esbuild";

/** Files that only the service reads: validation rules and REST routes. Clients need neither, and they are half of the size. */
const SERVER_ONLY = ["buf/validate/validate.proto", "google/api/annotations.proto"];

const EMBEDDED = /fileDesc\("([^"]+)"(?:, \[([^\]]*)\])?\)/;
const FILE_DESC_IMPORT = /^import \{[^}]*\bfileDesc\b[^}]*\} from .*;$/m;
const SERVER_ONLY_IMPORT = /^import \{ (file_buf_validate_validate|file_google_api_annotations) \} from .*;\n/gm;

/**
 * Bundles the generated definition without the options that only the service reads. The descriptors stay whole: every
 * service, message and field is present, and nothing in them refers to a missing file.
 */
export const plainDefinition: Plugin = {
  name: "plain-definition",
  setup(build) {
    build.onLoad({ filter: /[\\/]gen[\\/]tradewire[\\/].*_pb\.ts$/ }, ({ path }) => ({
      contents: withoutServerOptions(readFileSync(path, "utf8")),
      loader: "ts",
    }));
  },
};

/** The source of a generated file with its embedded descriptor stripped of server-only options and imports. */
export function withoutServerOptions(source: string): string {
  return source
    .replace(SERVER_ONLY_IMPORT, "")
    .replace(EMBEDDED, (_, embedded: string, dependencies: string | undefined) => {
      const kept = (dependencies ?? "")
        .split(",")
        .map((name) => name.trim())
        .filter(
          (name) => name !== "" && name !== "file_buf_validate_validate" && name !== "file_google_api_annotations",
        );
      const text = JSON.stringify(String.fromCharCode(...strip(embedded)));
      return `fileDesc(/*@__PURE__*/ asBase64(/*@__PURE__*/ Uint8Array.from(${text}, (c) => c.charCodeAt(0)))${kept.length === 0 ? "" : `, [${kept.join(", ")}]`})`;
    })
    .replace(
      FILE_DESC_IMPORT,
      (line) => `${line}\nimport { base64Encode as asBase64 } from "@bufbuild/protobuf/wire";`,
    );
}

function strip(embedded: string): Uint8Array {
  const file = fromBinary(FileDescriptorProtoSchema, base64Decode(embedded));
  file.dependency = file.dependency.filter((name) => !SERVER_ONLY.includes(name));
  for (const message of file.messageType) {
    delete message.options;
    for (const field of message.field) delete field.options;
  }
  for (const service of file.service) for (const method of service.method) delete method.options;
  return toBinary(FileDescriptorProtoSchema, file);
}
