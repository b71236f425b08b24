// Prepares the command of a container. Failed preparations are repeated with growing delays.

import type { EntryPoint, ImageProgram, NodeClock, ProcessPlace, RunToEnd } from './ports.ts';
import type { LocalCommand, ProcessGroups } from './process-groups.ts';

export interface EntryPointOptions {
  readonly clock: NodeClock;
  readonly groups: ProcessGroups;
  readonly place: ProcessPlace;
  /** Aborted when the pod is stopped. Running commands are then killed. */
  readonly stopping: AbortSignal;
  failed(message: string): void;
}

const FIRST_WAIT_MS = 1000;
const MAX_WAIT_MS = 60_000;
/** Maximum length of the command output that an error quotes. The end of the output is quoted. */
const LAST_WORDS = 600;

/** Returns a function that prepares the command. That function throws if the preparation fails. */
export function openEntryPoint({ command }: ImageProgram, options: EntryPointOptions): () => Promise<EntryPoint> {
  if (typeof command !== 'function') return async () => command;
  const { clock, stopping, failed, place } = options;
  let wait = 0;
  return async () => {
    if (wait > 0) await clock.sleep(wait, stopping);
    try {
      const found = await command((each) => runToEnd(options, each), place);
      wait = 0;
      return found;
    } catch (error) {
      wait = Math.min(Math.max(wait * 2, FIRST_WAIT_MS), MAX_WAIT_MS);
      if (!stopping.aborted) failed(error instanceof Error ? error.message : String(error));
      throw error;
    }
  };
}

function runToEnd({ groups, stopping }: EntryPointOptions, command: LocalCommand): ReturnType<RunToEnd> {
  return new Promise((resolve, reject) => {
    if (stopping.aborted) return reject(new Error('the pod is stopped'));
    const child = groups.start(command);
    let words = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        words = `${words}${text}`.slice(-LAST_WORDS);
      });
    }
    child.stdin.on('error', () => child.stdin.destroy()).end();
    const kill = () => groups.signal(child, 'SIGKILL');
    stopping.addEventListener('abort', kill, { once: true });
    child.once('error', reject);
    child.once('close', (code, signal) => {
      stopping.removeEventListener('abort', kill);
      if (code === 0) resolve();
      else reject(new Error(`${command.program} ended with ${signal ?? `exit code ${code}`}: ${words.trim()}`));
    });
  });
}
