import { listSettings } from "../src/config/describe-settings.ts";

const HEAD = `# Settings

<!-- Written by \`npm run generate\` from the tables in src/config. -->

Everything is set by environment variables, and every one has a default or is optional. An empty variable counts as absent. \`npm start -- --help\` prints this
table. \`npm start -- --check\` checks the settings and what they name (files, folders, ports) and reports every problem; a start runs the same checks.
A variable whose name looks like a mistyped setting is reported with the name of that setting, in the log or below the answer, and stops nothing.
[operating.md](operating.md) and [mainnet.md](mainnet.md) explain what to set when.
`;

const inCells = (text: string): string => text.replaceAll("|", "\\|");

/** The page \`docs/settings.md\`, from the one table of settings. */
export function settingsPage(): string {
  const sections = listSettings().map(({ title, settings }) => {
    const lines = settings.map(({ names, about, bound, unit, fallback }) => {
      const name = names.map((one) => `\`${one}\``).join(" or ");
      const ending = fallback === undefined ? "–" : fallback === "" ? "none" : `\`${fallback}\``;
      return `| ${name} | ${inCells(about)} | ${inCells(bound)} (${unit}) | ${ending} |`;
    });
    return [
      `## ${title}`,
      "",
      "| setting | what it is | what it takes | default |",
      "|---|---|---|---|",
      ...lines,
    ].join("\n");
  });
  return `${HEAD}\n${sections.join("\n\n")}\n`;
}
