import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { parseConfig } from "../../src/config/config.ts";

const read = (path: string) => readFileSync(path, "utf8");
const has = (program: string) => spawnSync(program, ["-v"]).error === undefined;

/** The documents of a YAML file. @throws Error where it is not YAML */
function documents(path: string) {
  return parseAllDocuments(read(path), { uniqueKeys: true, merge: true }).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS();
  });
}

/** What docker makes of a value in a compose file, the innermost variable first. */
function fillIn(value: string, given: Readonly<Record<string, string>>): string {
  const filled = value.replace(
    /\$\{(\w+):[-?]([^${}]*)\}/,
    (_, name: string, otherwise: string) => given[name] ?? otherwise,
  );
  return filled === value ? value : fillIn(filled, given);
}

it("composes two services, a database, a chain, a balancer and monitoring, with known settings", () => {
  const [compose] = documents("compose.yaml");
  expect(Object.keys(compose.services)).toEqual([
    "service-1",
    "service-2",
    "chain",
    "database",
    "balancer",
    "prometheus",
    "grafana",
  ]);
  const { environment } = compose.services["service-1"];
  const secret = "11".repeat(32);
  const given = { KEY_PEPPER: secret, TOKEN_KEYS: `k1:${secret}`, POSTGRES_PASSWORD: "password" };
  const configOf = (own: Record<string, string>) =>
    parseConfig(
      Object.fromEntries(
        Object.entries<string>(environment).map(([name, value]) => [name, fillIn(value, { ...given, ...own })]),
      ),
    );
  expect(configOf({}).trustedProxies).toBe(1);
  expect(configOf({}).solanaRpcUrls).toEqual(["http://chain:8899"]);
  // Otherwise the service would trade on the chain beside it, whose tokens are worth nothing.
  for (const name of ["SOLANA_RPC_URL", "SOLANA_RPC_URLS"])
    expect(configOf({ [name]: "https://a,https://b" }).solanaRpcUrls).toEqual(["https://a", "https://b"]);
});

/** Where what a container mounts can be written to while its file system cannot. */
const WRITTEN = ["/data", "/tmp"];

it("gives a read-only file system folders for data and for the socket of shadow execution", () => {
  const [compose] = documents("compose.yaml");
  for (const name of ["service-1", "service-2"]) {
    const { read_only, tmpfs } = compose.services[name];
    expect({ read_only, tmpfs: tmpfs.map((mount: string) => mount.split(":")[0]) }).toEqual({
      read_only: true,
      tmpfs: WRITTEN,
    });
  }
  const { spec } = documents("deploy/kubernetes/tradewire.yaml")[0].spec.template;
  const [{ securityContext, volumeMounts }] = spec.containers;
  const isEmptyDir = (one: { name: string }) =>
    spec.volumes.some(({ name, emptyDir }: { name: string; emptyDir?: object }) => name === one.name && emptyDir);
  expect(securityContext.readOnlyRootFilesystem).toBe(true);
  expect(volumeMounts.filter(isEmptyDir).map(({ mountPath }: { mountPath: string }) => mountPath)).toEqual(WRITTEN);
});

it.skipIf(!has("docker"))("is a compose file by docker's own reading", () => {
  const secret = "11".repeat(32);
  const env = { PATH: process.env.PATH, KEY_PEPPER: secret, TOKEN_KEYS: `k1:${secret}`, POSTGRES_PASSWORD: "x" };
  const { status, stderr } = spawnSync("docker", ["compose", "-f", "compose.yaml", "config", "--quiet"], { env });
  // A client without the compose command has nothing to say.
  if (!/is not a docker command|unknown/.test(stderr.toString()))
    expect({ status, stderr: stderr.toString() }).toMatchObject({ status: 0 });
});

it.skipIf(!has("haproxy"))("has a balancer that its program accepts", () => {
  const config = read("deploy/haproxy.cfg").replace(/service-\d:8080/g, "127.0.0.1:8080");
  const folder = mkdtempSync(join(tmpdir(), "tradewire-deploy-"));
  writeFileSync(join(folder, "haproxy.cfg"), config);
  execFileSync("haproxy", ["-c", "-f", join(folder, "haproxy.cfg")]);
  // As it is shipped too: it starts where a service is not there yet, and finds it later.
  execFileSync("haproxy", ["-c", "-f", "deploy/haproxy.cfg"], { stdio: "ignore" });
  rmSync(folder, { recursive: true });
});

it("bounds connections in the balancer by the part of the address space that one client owns", () => {
  const config = read("deploy/haproxy.cfg");
  expect(config).toContain("track-sc0 src,ipmask(32,64)");
  expect(config).toMatch(/reject if \{ sc0_conn_cur gt \d+ \}/);
});

it("runs on Kubernetes without root, with a readiness probe and time to drain", () => {
  const [deployment, service, budget] = documents("deploy/kubernetes/tradewire.yaml");
  expect([deployment.kind, service.kind, budget.kind]).toEqual(["Deployment", "Service", "PodDisruptionBudget"]);
  const { spec } = deployment.spec.template;
  const [container] = spec.containers;
  const env = Object.fromEntries(
    container.env.map(({ name, value }: { name: string; value: string }) => [name, value]),
  );
  const config = parseConfig(env);
  expect(spec.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(config.lameDuckMs + config.drainTimeoutMs);
  expect(container.ports.map(({ containerPort }: { containerPort: number }) => containerPort)).toEqual([
    config.port,
    config.adminPort,
  ]);
  expect(spec.securityContext.runAsNonRoot).toBe(true);
  expect(container.readinessProbe.httpGet.path).toBe("/readyz");
  // The limit is for both processes: the kernel would end the service with a shadow process that is within its own.
  const mebibytes = (size: string) => Number.parseInt(size, 10) * (size.endsWith("Gi") ? 1_024 : 1);
  const { requests, limits } = container.resources;
  expect(mebibytes(limits.memory)).toBeGreaterThanOrEqual(1.5 * config.shadowMemoryMib + mebibytes(requests.memory));
  expect(deployment.spec.selector.matchLabels).toEqual(deployment.spec.template.metadata.labels);
});

it("builds an image from existing files, on the right base version, for an unprivileged user", () => {
  const lines = read("Containerfile").split("\n");
  const copied = lines
    .filter((line) => line.startsWith("COPY ") && !line.includes("--from"))
    .flatMap((line) => line.split(" ").slice(1, -1));
  expect(copied.filter((path) => !existsSync(path))).toEqual([]);
  expect(lines.filter((line) => line.startsWith("FROM ")).every((line) => line.includes("node:24-"))).toBe(true);
  expect(lines.some((line) => /^USER (?!0\b|root\b)/.test(line))).toBe(true);
  expect(JSON.parse(read("package.json")).dependencies.node.split(".")[0]).toBe("24");
});
