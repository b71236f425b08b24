// The program as it is installed, of this very tree, in a folder of its own so that `dist/` is left alone.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { CALLS_NODE_OPTIONS } from '#contracts/run-config.ts';
import { MEMORY_V8_FLAG, V8_FLAGS } from '#hosts/v8-flags.ts';
import { bundleTo, compile } from '../bundle.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The path of `skep.js`. What it reads beside itself is linked. */
export function compileTo(folder: string): Promise<string> {
  const root = join(folder, 'program');
  mkdirSync(root);
  for (const name of ['node_modules', 'package.json', 'manifests', 'policies', 'docs'])
    symlinkSync(join(ROOT, name), join(root, name));
  return bundleTo(join(root, 'dist'));
}

/** A module of the bench, compiled as the program is and beside it. */
export async function compileBeside(program: string, module: URL): Promise<URL> {
  await compile(fileURLToPath(module), dirname(program));
  return pathToFileURL(join(dirname(program), `${basename(module.pathname, '.ts')}.js`));
}

/** What a process is for: pods that serve calls have a NODE_OPTIONS of their own, in place of the image's. */
type Role = 'fleet' | 'calls';

/** The options of Node that the program is started with. */
export function imageNodeOptions(role: Role = 'fleet'): string[] {
  const words: string[] = JSON.parse(imageInstruction('ENTRYPOINT ', ''));
  const variable = role === 'calls' ? CALLS_NODE_OPTIONS : imageNodeVariable();
  return [...words.filter((word) => word.startsWith('--')), ...variable.split(' ')];
}

/** The same for a module of the bench that stands for the program, which sets some itself. */
export function moduleNodeOptions(role: Role = 'fleet'): string[] {
  return [...imageNodeOptions(role), ...V8_FLAGS, ...(role === 'calls' ? [] : [MEMORY_V8_FLAG])];
}

/** What the image says to the allocator of the C library. */
export function imageAllocator(): Readonly<Record<string, string>> {
  const settings = imageInstruction('ENV ', 'MALLOC_').split(' ');
  return Object.fromEntries(settings.map((setting) => setting.split('=')));
}

function imageNodeVariable(): string {
  const name = 'NODE_OPTIONS=';
  return imageInstruction('ENV ', name).slice(name.length);
}

function imageInstruction(name: string, beginning: string): string {
  const lines = readFileSync(join(ROOT, 'Dockerfile'), 'utf8').split('\n');
  const line = lines.find((each) => each.startsWith(`${name}${beginning}`));
  assert(line !== undefined, `the Dockerfile has ${name}${beginning}`);
  return line.slice(name.length);
}
