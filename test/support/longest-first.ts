import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take more than ten seconds each. */
const LONG =
  /^test\/(conformance\/conformance|docs\/(release|snippets)|integration\/(accounts|api-flow|api-wires|chain-cut|client-proof|command|every-pair|exact-costs|refused-methods|shadow-(checks|execution)|trading|watch-trade)|slow\/client\/(attacks|verify-(hostile|worlds))|slow\/edge\/(processes|rolling)|spec\/spec)\.test\.ts$/;

/**
 * Begins with what takes long, which vitest knows only after a first run: by size alone, two small files that wait for many slots came
 * last on a fresh clone, and most of the machine waited for them.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const path = relative(this.ctx.config.root, moduleId);
      if (LONG.test(path)) return 0;
      return path.startsWith("test/") ? 1 : 2;
    };
    const sorted = await super.sort(files);
    const projects = [...new Set(sorted.map(({ project }) => project))];
    return projects.flatMap((project) => {
      const own = sorted.filter((file) => file.project === project);
      return [0, 1, 2].flatMap((each) => own.filter((file) => rank(file) === each));
    });
  }
}
