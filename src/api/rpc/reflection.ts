import { type DescFile, type DescMessage, type DescService, toBinary } from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code, type ConnectRouter, type ServiceImpl } from "@connectrpc/connect";
import { ServerReflection } from "../../../gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionAlpha } from "../../../gen/grpc/reflection/v1alpha/reflection_pb.ts";

type Implementation = ServiceImpl<typeof ServerReflection>;

/**
 * Lets callers read the definition of these services from the service itself, by both versions of the gRPC reflection protocol.
 *
 * @param details files that no service imports, because their messages travel as error details
 */
export function registerReflection(
  router: ConnectRouter,
  services: readonly DescService[],
  details: readonly DescFile[],
): void {
  const implementation = createReflection([...services, ServerReflection, ServerReflectionAlpha], details);
  router.service(ServerReflection, implementation);
  // The two versions differ in their package name alone.
  router.service(ServerReflectionAlpha, implementation as unknown as ServiceImpl<typeof ServerReflectionAlpha>);
}

function createReflection(services: readonly DescService[], details: readonly DescFile[]): Implementation {
  const index = indexOf([...services.map((service) => service.file), ...details]);

  return {
    async *serverReflectionInfo(requests) {
      const sent = new Set<DescFile>();
      for await (const request of requests) {
        const question = request.messageRequest;
        const base = { validHost: request.host, originalRequest: request };
        const fail = (errorCode: Code, errorMessage: string) => ({
          ...base,
          messageResponse: { case: "errorResponse" as const, value: { errorCode, errorMessage } },
        });
        const answerFile = (file: DescFile | undefined, asked: string) =>
          file === undefined
            ? fail(Code.NotFound, `${asked} not found`)
            : {
                ...base,
                messageResponse: {
                  case: "fileDescriptorResponse" as const,
                  value: { fileDescriptorProto: withDependencies(file, sent) },
                },
              };
        switch (question.case) {
          case "listServices":
            yield {
              ...base,
              messageResponse: {
                case: "listServicesResponse" as const,
                value: { service: services.map((service) => ({ name: service.typeName })) },
              },
            };
            break;
          case "fileByFilename":
            yield answerFile(index.files.get(question.value), `file ${question.value}`);
            break;
          case "fileContainingSymbol":
            yield answerFile(index.symbols.get(question.value.replace(/^\./, "")), `symbol ${question.value}`);
            break;
          case "fileContainingExtension": {
            const { containingType, extensionNumber } = question.value;
            const file = index.extensions.get(containingType)?.get(extensionNumber);
            yield answerFile(file, `extension ${extensionNumber} of ${containingType}`);
            break;
          }
          case "allExtensionNumbersOfType": {
            const baseTypeName = question.value.replace(/^\./, "");
            yield index.symbols.has(baseTypeName)
              ? {
                  ...base,
                  messageResponse: {
                    case: "allExtensionNumbersResponse" as const,
                    value: { baseTypeName, extensionNumber: [...(index.extensions.get(baseTypeName)?.keys() ?? [])] },
                  },
                }
              : fail(Code.NotFound, `type ${baseTypeName} not found`);
            break;
          }
          default:
            yield fail(Code.InvalidArgument, "the request asks nothing");
        }
      }
    },
  };
}

interface Index {
  readonly files: ReadonlyMap<string, DescFile>;
  readonly symbols: ReadonlyMap<string, DescFile>;
  readonly extensions: ReadonlyMap<string, ReadonlyMap<number, DescFile>>;
}

/** Every file that the given ones need, and every name defined in them. */
function indexOf(roots: readonly DescFile[]): Index {
  const files = new Map<string, DescFile>();
  const symbols = new Map<string, DescFile>();
  const extensions = new Map<string, Map<number, DescFile>>();

  const addMembers = (file: DescFile, message: DescMessage) => {
    for (const member of [...message.fields, ...message.oneofs])
      symbols.set(`${message.typeName}.${member.name}`, file);
  };
  const add = (file: DescFile) => {
    if (files.has(file.proto.name)) return;
    files.set(file.proto.name, file);
    for (const type of nestedTypes(file)) {
      symbols.set(type.typeName, file);
      if (type.kind === "message") addMembers(file, type);
      if (type.kind === "service")
        for (const method of type.methods) symbols.set(`${type.typeName}.${method.name}`, file);
      if (type.kind === "enum") {
        // The values of an enum are named beside it, not inside it.
        const scope = type.typeName.slice(0, -type.name.length);
        for (const value of type.values) symbols.set(scope + value.name, file);
      }
      if (type.kind === "extension") {
        const numbers = extensions.get(type.extendee.typeName) ?? new Map<number, DescFile>();
        extensions.set(type.extendee.typeName, numbers.set(type.number, file));
      }
    }
    for (const dependency of file.dependencies) add(dependency);
  };
  for (const root of roots) add(root);
  return { files, symbols, extensions };
}

/** The file and what it needs, without what this stream has sent before; the file itself always. */
function withDependencies(file: DescFile, sent: Set<DescFile>): Uint8Array<ArrayBuffer>[] {
  const encoded: Uint8Array<ArrayBuffer>[] = [];
  const add = (next: DescFile) => {
    if (sent.has(next)) return;
    sent.add(next);
    encoded.push(encode(next));
    for (const dependency of next.dependencies) add(dependency);
  };
  add(file);
  return encoded.length > 0 ? encoded : [encode(file)];
}

function encode(file: DescFile): Uint8Array<ArrayBuffer> {
  return toBinary(FileDescriptorProtoSchema, file.proto);
}
