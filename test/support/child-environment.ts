/**
 * The environment of a process that a test starts: nothing of this one but the path to programs, and the run's cache of compiled
 * code, which the second start of the same program uses.
 */
export function childEnvironment(own: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { PATH, ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }), ...own };
}
