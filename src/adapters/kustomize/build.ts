// Builds kustomizations with kustomize in a child process, which receives a copy of the needed files and none of our
// environment variables. Time, memory and output are limited.

import { spawn } from 'node:child_process';
import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { KustomizeBuilder } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';
import { type BuildFolders, openBuildFolders } from './folders.ts';
import { findProgram, type KustomizeProgram } from './program.ts';

export interface KustomizeOptions {
  /** Search path for programs, in the format of PATH. */
  readonly searchPath: string;
  readonly temporary: string;
  readonly now: () => number;
  readonly limits?: Partial<BuildLimits>;
}

interface BuildLimits {
  readonly milliseconds: number;
  readonly memoryBytes: number;
  readonly outputBytes: number;
}

const MIB = 1024 * 1024;
/**
 * A kustomization of 1,000 objects takes 2 s of processor time and 60 MiB. The time grows with the square of the number
 * of objects. A file of a few KiB can exhaust the memory of a machine within seconds.
 */
const LIMITS: BuildLimits = { milliseconds: 120_000, memoryBytes: 1024 * MIB, outputBytes: 64 * MIB };

export function createKustomize({ searchPath, temporary, now, limits }: KustomizeOptions): KustomizeBuilder {
  const folders = openBuildFolders(temporary, now);
  const all = { ...LIMITS, ...limits };
  return {
    async identity() {
      return (await findProgram(searchPath)).identity;
    },
    async build(folder, files) {
      const program = await findProgram(searchPath);
      return folders.use((place) => buildIn(place, program, folder, files, all));
    },
  };
}

async function buildIn(
  { tree, home }: Parameters<Parameters<BuildFolders['use']>[0]>[0],
  program: KustomizeProgram,
  folder: string,
  files: ReadonlyMap<string, Uint8Array>,
  limits: BuildLimits,
): Promise<string> {
  for (const [path, bytes] of files) {
    const place = join(tree, path);
    await mkdir(dirname(place), { recursive: true });
    await writeFile(place, bytes, { mode: 0o600, flag: 'wx' });
  }
  const ended = await runProgram(program, { tree, home, folder }, limits);
  if (ended.code === 0) return ended.output;
  const roots = [await realpath(tree), tree];
  throw new Failure('kustomize-failed', `kustomize says: ${readableWords(ended.complaint, roots)}`);
}

interface BuildExit {
  readonly code: number | null;
  readonly output: string;
  readonly complaint: string;
}

interface BuildPaths {
  readonly tree: string;
  readonly home: string;
  /** Folder of the kustomization, relative to the tree. */
  readonly folder: string;
}

/** Throws Failure `kustomize-too-costly`. Throws Failure `kustomize-missing` if the program does not start. */
function runProgram(program: KustomizeProgram, paths: BuildPaths, limits: BuildLimits): Promise<BuildExit> {
  const { tree, home, folder } = paths;
  // By default, kustomize refuses bases and patches outside the kustomization's folder. Here they are allowed, because
  // the tree contains only checked files.
  const args = [...program.args, '--load-restrictor', 'LoadRestrictionsNone', join(tree, folder)];
  const env = {
    HOME: home,
    TMPDIR: home,
    PATH: '',
    GOMEMLIMIT: `${limits.memoryBytes}`,
    GOMAXPROCS: '2',
  };
  const child = spawn(program.path, args, { cwd: tree, env, stdio: ['ignore', 'pipe', 'pipe'] });
  return new Promise((resolve, reject) => {
    let excess: string | undefined;
    const stop = (reason: string): void => {
      excess ??= reason;
      child.kill('SIGKILL');
    };
    const output: Buffer[] = [];
    const complaint: Buffer[] = [];
    let bytes = 0;
    const keep = (kept: Buffer[]) => (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > limits.outputBytes) stop(`printed more than ${limits.outputBytes / MIB} MiB`);
      else kept.push(chunk);
    };
    child.stdout.on('data', keep(output));
    child.stderr.on('data', keep(complaint));
    const timer = setTimeout(() => stop(`took more than ${limits.milliseconds / 1000} s`), limits.milliseconds);
    const watch = watchMemory(child.pid, limits.memoryBytes, () =>
      stop(`took more than ${limits.memoryBytes / MIB} MiB of memory`),
    );
    const finish = (): void => {
      clearTimeout(timer);
      clearInterval(watch);
    };
    child.on('error', (cause) => {
      finish();
      reject(new Failure('kustomize-missing', `${program.path} does not start: ${cause.message}`, { cause }));
    });
    child.on('close', (code) => {
      finish();
      if (excess !== undefined)
        reject(new Failure('kustomize-too-costly', `the build ${excess}: split the kustomization`));
      else resolve({ code, output: Buffer.concat(output).toString(), complaint: Buffer.concat(complaint).toString() });
    });
  });
}

const MEMORY_EVERY_MS = 50;

/**
 * Calls `exceeded` if the process uses more memory than `max`. On systems without /proc, only the limit of Go's runtime
 * applies.
 */
function watchMemory(pid: number | undefined, max: number, exceeded: () => void): NodeJS.Timeout {
  return setInterval(() => {
    readFile(`/proc/${pid}/status`, 'utf8').then(
      (status) => {
        const kib = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
        if (kib * 1024 > max) exceeded();
      },
      () => undefined,
    );
  }, MEMORY_EVERY_MS);
}

const WORDS_MAX = 400;

/** Removes paths of this machine and quoted contents of files from the error. The contents may be secret. */
function readableWords(complaint: string, roots: readonly string[]): string {
  const lines = complaint.split('\n').filter((each) => each.trim() !== '' && !/^(?:#|Warning:)/i.test(each));
  const line = lines.find((each) => each.toLowerCase().startsWith('error: ')) ?? lines[0] ?? 'nothing';
  const relative = roots.reduce((text, root) => text.replaceAll(`${root}/`, '').replaceAll(root, '.'), line);
  return relative
    .replaceAll(/`[^`]*`?/g, '...')
    .replaceAll(/\[[^\]]*\]?/g, '[...]')
    .replaceAll(/\{.*\}?/g, '{...}')
    .replaceAll(/\p{Cc}/gu, ' ')
    .replace(/^error: /i, '')
    .replace(/^[EF]\d{4} .*?\] /, '')
    .slice(0, WORDS_MAX);
}
