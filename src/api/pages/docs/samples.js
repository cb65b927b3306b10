// A call of the API in each language of the reference. Nothing here touches the page: tests run every sample.

import { curlFor } from "../shared/curl.js";

/**
 * What a sample is made of: `verb`, `url` (whole, with its query), `needsKey`, `body` (absent without one), `isStream`,
 * `rpc` (`tradewire.v1.TradeService/Buy`) and `message`, the request in the JSON of Protocol Buffers.
 *
 * @typedef {{ verb: string, url: string, needsKey: boolean, body?: object, isStream: boolean, rpc: string, message: object }} Call
 */

/** Languages in the order of their tabs, each with its sample of a call. */
export const LANGUAGES = [
  { id: "curl", name: "curl", sample: (call) => curlFor(call.verb, call.url, keyOf(call), call.body, call) },
  { id: "typescript", name: "TypeScript", sample: inTypeScript },
  { id: "python", name: "Python", sample: inPython },
  { id: "go", name: "Go", sample: inGo },
  { id: "grpcurl", name: "grpcurl", sample: inGrpcurl },
];

const keyOf = ({ needsKey }) => (needsKey ? "$API_KEY" : undefined);

/** Text in single quotes of a shell. */
const inShell = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** The lines of a block, each below its indent. */
const indented = (text, indent) => text.replaceAll("\n", `\n${indent}`);

function inTypeScript({ verb, url, needsKey, body, isStream }) {
  const options = [
    ...(verb === "GET" ? [] : [`  method: "${verb}",`]),
    ...(needsKey || body !== undefined
      ? [
          "  headers: {",
          // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the sample's own template
          ...(needsKey ? ["    authorization: `Bearer ${process.env.API_KEY}`,"] : []),
          ...(body === undefined ? [] : ['    "content-type": "application/json",']),
          "  },",
        ]
      : []),
    ...(body === undefined ? [] : [`  body: JSON.stringify(${indented(JSON.stringify(body, null, 2), "  ")}),`]),
  ];
  const last = options.length === 0 ? ");" : `, {\n${options.join("\n")}\n});`;
  const read = isStream ? READ_EVENTS : url.endsWith("/v1/ping") ? READ_STATUS : READ_ENVELOPE;
  return `const response = await fetch("${url}"${last}\n${read}`;
}

const READ_ENVELOPE = [
  "const { success, data, error } = await response.json();",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the sample's own template
  "if (!success) throw new Error(`${error.code}: ${error.message}`);",
  "console.log(data);",
].join("\n");
const READ_STATUS = "console.log(response.status);";
const READ_EVENTS = [
  "if (!response.ok) throw new Error(await response.text());",
  'let text = "";',
  "for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {",
  '  const parts = (text + chunk).split("\\n\\n");',
  "  text = parts.pop()!;",
  "  for (const part of parts) {",
  "    const event = /^event: (\\w+)\\ndata: (.*)$/.exec(part);",
  "    if (event !== null) console.log(event[1], JSON.parse(event[2]!));",
  "  }",
  "}",
].join("\n");

/** A JSON value as a literal of Python. */
function pythonLiteral(value, indent = "") {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const inner = `${indent}    `;
  if (Array.isArray(value)) return `[${value.map((item) => pythonLiteral(item, inner)).join(", ")}]`;
  const fields = Object.entries(value).map(
    ([name, item]) => `${inner}${JSON.stringify(name)}: ${pythonLiteral(item, inner)},`,
  );
  return fields.length === 0 ? "{}" : `{\n${fields.join("\n")}\n${indent}}`;
}

function inPython({ verb, url, needsKey, body, isStream }) {
  const headers = [
    ...(needsKey ? [`"Authorization": f"Bearer {os.environ['API_KEY']}"`] : []),
    ...(body === undefined ? [] : ['"Content-Type": "application/json"']),
  ];
  const read = isStream
    ? ["        for line in response:", '            print(line.decode(), end="", flush=True)']
    : url.endsWith("/v1/ping")
      ? ["        print(response.status)"]
      : ['        print(json.load(response)["data"])'];
  return [
    ["import json", ...(needsKey ? ["import os"] : []), "import urllib.error", "import urllib.request", ""]
      // A ping and a stream decode nothing.
      .filter((line) => line !== "import json" || body !== undefined || !/status|line/.test(read[0]))
      .join("\n"),
    "request = urllib.request.Request(",
    `    "${url}",`,
    `    method="${verb}",`,
    ...(headers.length === 0 ? [] : [`    headers={${headers.join(", ")}},`]),
    ...(body === undefined ? [] : [`    data=json.dumps(${pythonLiteral(body, "    ")}).encode(),`]),
    ")",
    "try:",
    `    with urllib.request.urlopen(request${isStream ? "" : ", timeout=40"}) as response:`,
    ...read,
    "except urllib.error.HTTPError as refused:",
    "    raise SystemExit(refused.read().decode())",
  ].join("\n");
}

function inGo({ verb, url, needsKey, body }) {
  const imports = ["io", "log", "net/http", "os", ...(body === undefined ? [] : ["strings"])];
  const reader = body === undefined ? "nil" : "body";
  return [
    "package main",
    "",
    `import (\n${imports.map((name) => `\t"${name}"`).join("\n")}\n)`,
    "",
    "func main() {",
    ...(body === undefined ? [] : [`\tbody := strings.NewReader(\`${JSON.stringify(body)}\`)`]),
    `\trequest, err := http.NewRequest("${verb}", "${url}", ${reader})`,
    "\tif err != nil {\n\t\tlog.Fatal(err)\n\t}",
    ...(needsKey ? ['\trequest.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))'] : []),
    ...(body === undefined ? [] : ['\trequest.Header.Set("Content-Type", "application/json")']),
    "\tresponse, err := http.DefaultClient.Do(request)",
    "\tif err != nil {\n\t\tlog.Fatal(err)\n\t}",
    "\tdefer response.Body.Close()",
    "\tif _, err := io.Copy(os.Stdout, response.Body); err != nil {\n\t\tlog.Fatal(err)\n\t}",
    "}",
  ].join("\n");
}

function inGrpcurl({ url, needsKey, rpc, message }) {
  const { protocol, hostname, port } = new URL(url);
  const isPlain = protocol === "http:";
  const fields = JSON.stringify(message);
  return [
    `grpcurl${isPlain ? " -plaintext" : ""}`,
    ...(needsKey ? [`  -H "Authorization: Bearer $API_KEY"`] : []),
    ...(fields === "{}" ? [] : [`  -d ${inShell(fields)}`]),
    `  ${hostname}:${port || (isPlain ? "80" : "443")} ${rpc}`,
  ].join(" \\\n");
}
