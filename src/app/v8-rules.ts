import { setFlagsFromString } from "node:v8";

// Rules of V8 that the service changes, for as long as its process runs.

// V8 allocates objects as old where earlier ones lived long, and never takes that back. Instructions of builds that wait for their first
// read live long; then those of every later build, which live for microseconds, would wait for the full collection with all that they
// refer to. Without this rule a REST buy in spread traffic takes 15 % less.
setFlagsFromString("--no-allocation-site-pretenuring");

// V8 stops putting called functions into a compiled one at 920 bytes of bytecode. A call runs through some hundred small functions, and
// Node's HTTP/2 through as many more. With this bound a gRPC buy in spread traffic takes 6 to 14 % less, a REST buy 2 to 7.
setFlagsFromString("--max-inlined-bytecode-size-cumulative=1500");

// V8 collects type feedback of a function from its eighth call on, and looks properties up by name until then. After 400 calls it
// recompiles the function on another thread. A first buy runs some thousand functions a few times each: with feedback from the start and
// recompiling after 1,600 calls, the first 24 of a process take 12 to 50 % less (docs/performance.md).
setFlagsFromString("--no-lazy-feedback-allocation");
setFlagsFromString("--invocation-count-for-maglev=1600");
