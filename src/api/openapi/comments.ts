import type {
  DescriptorProto,
  EnumDescriptorProto,
  FileDescriptorProto,
  ServiceDescriptorProto,
} from "@bufbuild/protobuf/wkt";

/** Comments of a definition, by the full name of the element they describe. */
export type Comments = ReadonlyMap<string, string>;

// Field numbers of the descriptor messages: source locations name elements by paths of these.
const MESSAGES = 4;
const ENUMS = 5;
const SERVICES = 6;
const MEMBERS = 2;

/** Reads the comments from the source information of the descriptors. Nested messages and enums are not read. */
export function commentsOf(files: readonly FileDescriptorProto[]): Comments {
  const comments = new Map<string, string>();
  for (const file of files) {
    const texts = new Map<string, string>();
    for (const { path, leadingComments } of file.sourceCodeInfo?.location ?? []) {
      if (leadingComments !== "") texts.set(path.join("."), leadingComments.replace(/\s+/g, " ").trim());
    }
    const note = (name: string, ...path: readonly number[]) => {
      const text = texts.get(path.join("."));
      if (text !== undefined) comments.set(`${file.package}.${name}`, text);
    };
    const noteAll = <T extends { name: string }>(
      parents: readonly T[],
      kind: number,
      members: (parent: T) => readonly { name: string }[],
    ) => {
      parents.forEach((parent, i) => {
        note(parent.name, kind, i);
        members(parent).forEach((member, j) => {
          note(`${parent.name}.${member.name}`, kind, i, MEMBERS, j);
        });
      });
    };
    noteAll<DescriptorProto>(file.messageType, MESSAGES, (message) => message.field);
    noteAll<EnumDescriptorProto>(file.enumType, ENUMS, (type) => type.value);
    noteAll<ServiceDescriptorProto>(file.service, SERVICES, (service) => service.method);
  }
  return comments;
}
