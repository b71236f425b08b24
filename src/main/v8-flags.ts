// Flags of V8 that the program and the tests set before anything else runs. Knows nothing about what is run.

/**
 * V8 13 (Node.js 24) compiles a wrapper for what WebAssembly calls often, as the HTTP parser does; all threads of a process share
 * them, and a thread that replaces one can end the process ("Check failed: jit_page.has_value()"). They are never compiled: a
 * call takes 27 ns in place of 12.
 */
export const V8_FLAGS = ['--wasm-wrapper-tiering-budget=2147483647'];
