// The code of a tagged release in a folder of its own, run as its users run it.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Release {
  readonly tag: string;
  readonly commit: string;
  readonly dir: string;
  /** Runs `skep` to its end in a folder; throws where it ends with anything but the codes that are given, 0 otherwise. */
  skep(
    cwd: string,
    args: readonly string[],
    codes?: readonly number[],
    environment?: NodeJS.ProcessEnv,
  ): Promise<string>;
  /** Starts `skep` and gives how to end it, once it has printed the text. */
  start(cwd: string, args: readonly string[], until: string, environment?: NodeJS.ProcessEnv): Promise<Started>;
}

interface Started {
  readonly output: string;
  stop(): Promise<void>;
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export function openRelease(tag: string, dir: string): Release {
  mkdirSync(dir, { recursive: true });
  const commit = git('rev-parse', `${tag}^{commit}`).trim();
  execFileSync('tar', ['-x', '-C', dir], { input: execFileSync('git', ['-C', ROOT, 'archive', commit], BUFFER) });
  install(dir);
  const program = join(dir, 'src/skep.ts');
  return {
    tag,
    commit,
    dir,
    skep: (cwd, args, codes = [0], environment = {}) => run(spawnSkep(program, cwd, args, environment), codes),
    start: (cwd, args, until, environment = {}) => started(spawnSkep(program, cwd, args, environment), until),
  };
}

function spawnSkep(program: string, cwd: string, args: readonly string[], environment: NodeJS.ProcessEnv): Child {
  const env = { ...process.env, ...environment };
  const child = spawn(process.execPath, [program, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const running = { child, stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    running.stdout += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    running.stderr += chunk;
  });
  return running;
}

interface Child {
  readonly child: ChildProcess;
  stdout: string;
  stderr: string;
}

function run(running: Child, codes: readonly number[]): Promise<string> {
  return new Promise((resolve, reject) => {
    running.child.once('close', (code) => {
      if (codes.includes(code ?? -1)) resolve(running.stdout);
      else reject(ended(running));
    });
  });
}

function started(running: Child, until: string): Promise<Started> {
  const { child } = running;
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await closed;
  };
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', () => {
      if (running.stdout.includes(until)) resolve({ output: running.stdout, stop });
    });
    void closed.then(() => reject(ended(running)));
  });
}

function ended({ child, stdout, stderr }: Child): Error {
  return new Error(
    `${child.spawnargs.slice(2).join(' ')} ended with ${child.exitCode}:\n${stdout.slice(-2000)}${stderr}`,
  );
}

const BUFFER = { maxBuffer: 1 << 30 } as const;

function git(...args: readonly string[]): string {
  return execFileSync('git', ['-C', ROOT, ...args], { encoding: 'utf8' });
}

/** The packages of this tree where they are the same ones. */
function install(dir: string): void {
  const lock = (root: string) => readFileSync(join(root, 'package-lock.json'), 'utf8');
  const own = join(ROOT, 'node_modules');
  if (lock(dir) === lock(ROOT) && existsSync(own)) symlinkSync(own, join(dir, 'node_modules'));
  else execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: dir, stdio: 'inherit' });
}
