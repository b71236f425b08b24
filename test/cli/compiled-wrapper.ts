// Finds out whether V8 compiles the wrapper of a function that WebAssembly calls often.

import { setFlagsFromString } from 'node:v8';

/** What is used of it: its types are a browser's, which the project does not load. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: Record<string, () => void> };
};

/** Beyond what V8 waits for by itself. */
const CALLS = 2_000;

/** A module that imports a function as m.f, and exports it as f and what calls it as g. */
const MODULE = [
  '0061736d01000000',
  '01 04 01 600000', // types: () => ()
  '02 07 01 016d 0166 00 00', // imports: m.f
  '03 02 01 00', // functions: one
  '07 09 02 0166 00 00 0167 00 01', // exports: f, g
  '0a 06 01 04 00 10 00 0b', // code: call 0
];

export function hasCompiledWrapper(): boolean {
  setFlagsFromString('--allow-natives-syntax');
  const isGeneric = new Function('called', 'return %HasUnoptimizedWasmToJSWrapper(called)');
  const module = new WebAssembly.Module(Buffer.from(MODULE.join('').replaceAll(' ', ''), 'hex'));
  const { f, g } = new WebAssembly.Instance(module, { m: { f: () => undefined } }).exports;
  for (let call = 0; call < CALLS; call++) g?.();
  return !isGeneric(f);
}
