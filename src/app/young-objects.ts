import { setFlagsFromString } from "node:v8";

// Where objects once lived long, V8 makes later ones old from the start, and never takes that back. The instructions of builds that wait
// for their first read do; then those of every later build, which live for microseconds, are left to the full collection with all that
// they refer to. Without this rule a REST buy in spread traffic takes 15 % less.
setFlagsFromString("--no-allocation-site-pretenuring");
