import type { DescFile, DescService, MessageInitShape } from "@bufbuild/protobuf";
import { Code, type ConnectRouter, type ServiceImpl } from "@connectrpc/connect";
import {
  ServerReflection,
  type ServerReflectionRequest,
  type ServerReflectionResponseSchema,
} from "../../../gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionAlpha } from "../../../gen/grpc/reflection/v1alpha/reflection_pb.ts";
import { DefinitionIndex, withImports } from "./definition-index.ts";

type Answer = NonNullable<MessageInitShape<typeof ServerReflectionResponseSchema>["messageResponse"]>;

/**
 * Serves the definition of these services by gRPC reflection, versions v1 and v1alpha.
 *
 * @param details files that no service imports, because their messages are only sent as error details
 */
export function registerReflection(
  router: ConnectRouter,
  services: readonly DescService[],
  details: readonly DescFile[],
): void {
  const reflection = new Reflection([...services, ServerReflection, ServerReflectionAlpha], details);
  const implementation: ServiceImpl<typeof ServerReflection> = {
    async *serverReflectionInfo(requests) {
      const sent = new Set<DescFile>();
      for await (const request of requests) {
        yield {
          validHost: request.host,
          originalRequest: request,
          messageResponse: reflection.answer(request.messageRequest, sent),
        };
      }
    },
  };
  router.service(ServerReflection, implementation);
  // The two versions differ only in their package name.
  router.service(ServerReflectionAlpha, implementation as unknown as ServiceImpl<typeof ServerReflectionAlpha>);
}

class Reflection {
  readonly #services: readonly DescService[];
  readonly #index: DefinitionIndex;

  constructor(services: readonly DescService[], details: readonly DescFile[]) {
    this.#services = services;
    this.#index = new DefinitionIndex([...services.map((service) => service.file), ...details]);
  }

  /** @param sent the files that this stream has sent before */
  answer(question: ServerReflectionRequest["messageRequest"], sent: Set<DescFile>): Answer {
    const { files, symbols, extensions } = this.#index;
    switch (question.case) {
      case "listServices":
        return {
          case: "listServicesResponse",
          value: { service: this.#services.map((service) => ({ name: service.typeName })) },
        };
      case "fileByFilename":
        return answerFile(files.get(question.value), `file ${question.value}`, sent);
      case "fileContainingSymbol":
        return answerFile(symbols.get(question.value.replace(/^\./, "")), `symbol ${question.value}`, sent);
      case "fileContainingExtension": {
        const { containingType, extensionNumber } = question.value;
        const file = extensions.get(containingType)?.get(extensionNumber);
        return answerFile(file, `extension ${extensionNumber} of ${containingType}`, sent);
      }
      case "allExtensionNumbersOfType":
        return this.#answerExtensions(question.value.replace(/^\./, ""));
      default:
        return fail(Code.InvalidArgument, "the request contains no question");
    }
  }

  #answerExtensions(baseTypeName: string): Answer {
    const { symbols, extensions } = this.#index;
    if (!symbols.has(baseTypeName)) return fail(Code.NotFound, `type ${baseTypeName} not found`);
    const extensionNumber = [...(extensions.get(baseTypeName)?.keys() ?? [])];
    return { case: "allExtensionNumbersResponse", value: { baseTypeName, extensionNumber } };
  }
}

function answerFile(file: DescFile | undefined, asked: string, sent: Set<DescFile>): Answer {
  if (file === undefined) return fail(Code.NotFound, `${asked} not found`);
  return { case: "fileDescriptorResponse", value: { fileDescriptorProto: withImports(file, sent) } };
}

function fail(errorCode: Code, errorMessage: string): Answer {
  return { case: "errorResponse", value: { errorCode, errorMessage } };
}
