// Sets flags of V8 before any other code of the program or of the tests runs.

import { constants, PerformanceObserver } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';

/**
 * Modules of Node.js that are imported before flags are set. Node.js ships them as compiled code, which V8 uses only
 * while its flags are unchanged. Importing the modules first saves an eighth of the time until a proxy responds.
 */
export const LOADED_BEFORE = [
  'node:http2',
  'node:crypto',
  'node:worker_threads',
  'node:child_process',
  'node:fs/promises',
  'node:perf_hooks',
  'node:fs',
  'node:util',
  'node:net',
  'node:zlib',
  'node:timers/promises',
  'node:dns/promises',
];

export const V8_FLAGS = [
  // V8 13 (Node.js 24) compiles wrappers for WebAssembly functions that are called often, such as the HTTP parser.
  // Threads share these wrappers, and a thread that replaces a wrapper can end the process ("Check failed:
  // jit_page.has_value()"). This flag prevents wrappers: a call takes 27 ns instead of 12 ns.
  '--wasm-wrapper-tiering-budget=2147483647',
  // Without this flag, V8 predicts from objects of the start that objects of requests live long. The flag makes calls
  // a third cheaper.
  '--no-allocation-site-pretenuring',
];

/**
 * Makes V8 collect the whole heap after it has grown by a quarter of its live objects. The flag saves memory in
 * processes that keep a fleet in memory. It costs processes that serve calls up to a tenth of their time.
 */
export const MEMORY_V8_FLAG = '--heap-growing-percent=25';

let watching: PerformanceObserver | undefined;

/**
 * Sets MEMORY_V8_FLAG after the next major collection. During a start, few objects are live, so V8 would collect again
 * and again: a run of 2,000 objects in a new process would take a twelfth longer.
 */
export function saveMemory(setFlag = setFlagsFromString): void {
  watching = new PerformanceObserver((list) => {
    if (!list.getEntries().some(isOfWholeHeap)) return;
    stopWatching();
    setFlag(MEMORY_V8_FLAG);
  });
  watching.observe({ type: 'gc' });
}

/**
 * Sets flags for a process that makes only one run, unless its first major collection has happened. The heap may then
 * grow to seven times its live objects, so most runs end before the second major collection. Two more collections took
 * 0.2 seconds of a creation of 2,000 objects. TurboFan optimises only code that ran ten times as often as by default,
 * because most optimisations would not pay off in one run.
 */
export function prepareForOneRun(setFlag = setFlagsFromString): void {
  if (watching === undefined) return;
  setFlag('--heap-growing-percent=600');
  setFlag('--invocation-count-for-turbofan=30000');
}

/** Restores V8's default, for processes that serve calls. */
export function spendMemory(setFlag = setFlagsFromString): void {
  stopWatching();
  setFlag('--heap-growing-percent=0');
}

function stopWatching(): void {
  watching?.disconnect();
  watching = undefined;
}

/** Node.js sets `detail` on these entries, but its types do not declare the field. */
function isOfWholeHeap(entry: object): boolean {
  const { detail } = entry as { readonly detail?: { readonly kind?: number } };
  return detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}
