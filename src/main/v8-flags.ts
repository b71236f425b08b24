// Flags of V8 that the program and the tests set before anything else of them runs. Knows nothing about what is run.

/**
 * Node.js brings its own modules compiled, and V8 takes them only under the flags that they were compiled with. What nearly every
 * command needs is loaded before flags are set: an eighth of the time until a proxy answers.
 */
export const LOADED_BEFORE = [
  'node:http2',
  'node:crypto',
  'node:worker_threads',
  'node:child_process',
  'node:fs/promises',
  'node:perf_hooks',
];

export const V8_FLAGS = [
  // V8 13 (Node.js 24) compiles a wrapper for what WebAssembly calls often, as the HTTP parser does; all threads of a process share
  // them, and a thread that replaces one can end the process ("Check failed: jit_page.has_value()"). They are never compiled: a
  // call takes 27 ns in place of 12.
  '--wasm-wrapper-tiering-budget=2147483647',
  // V8 does not learn from what stays (the lists of a start) that what a request makes will stay too: calls cost a third less.
  '--no-allocation-site-pretenuring',
  // All of the heap is looked at once it has grown by a quarter of what stays: memory is saved where a fleet is held.
  '--heap-growing-percent=25',
];

/** What serves calls sets, too: that last one costs them up to a tenth of their time. As V8 would without. */
export const CALLS_V8_FLAGS = ['--heap-growing-percent=0'];
