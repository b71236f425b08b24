// Programs that say on their standard output where they serve.

import { type ChildProcess, spawn } from 'node:child_process';

export interface Serving {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

const SERVING = /^serving http:\/\/[^\s/]+:(\d+)/m;
/** What it says when it cannot start. */
const KEPT_CHARACTERS = 4000;

/**
 * Resolves with the line `serving http://<host>:<port>`. What the program writes to its standard output later is read and
 * dropped; where it ends by itself, the end of what it wrote to standard error is shown.
 */
export async function startServing(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<Serving> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env });
  // A bench that breaks off leaves nothing behind.
  const kill = () => child.kill();
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  const port = await portOf(child);
  return { port, pid: child.pid ?? 0, stop: () => end(child) };
}

function portOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let said = '';
    function failed(reason: unknown): void {
      reject(new Error(`${child.spawnargs.join(' ')} does not serve: ${reason}\n${said}`));
    }
    function read(text: Buffer): void {
      said = `${said}${text}`.slice(-KEPT_CHARACTERS);
      const port = SERVING.exec(said)?.[1];
      if (port === undefined) return;
      child.off('exit', failed).off('error', failed);
      child.stdout?.off('data', read).resume();
      child.on('exit', (status, signal) => {
        if (!child.killed) process.stderr.write(`${child.spawnargs.join(' ')} ended: ${signal ?? status}\n${said}\n`);
      });
      resolve(Number(port));
    }
    child.once('exit', failed).once('error', failed);
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill();
  await exited;
}
