// Reads from Linux the memory, the threads and the open files of a process.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface ProcessState {
  readonly residentMiB: number;
  readonly threads: number;
  /** Open file descriptors by sort: `socket`, `pipe`, `file`, `eventpoll`, ... */
  readonly open: Readonly<Record<string, number>>;
}

/** Undefined where the process has gone. Throws where the system has no /proc. */
export function stateOf(pid: number): ProcessState | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const kib = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
    const threads = Number(/^Threads:\s+(\d+)$/m.exec(status)?.[1]);
    return { residentMiB: kib / 1024, threads, open: openOf(pid) };
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

function openOf(pid: number): Readonly<Record<string, number>> {
  const open: Record<string, number> = {};
  for (const name of readdirSync(`/proc/${pid}/fd`)) {
    const sort = sortOf(`/proc/${pid}/fd/${name}`);
    if (sort !== undefined) open[sort] = (open[sort] ?? 0) + 1;
  }
  return open;
}

/** Undefined where it was closed meanwhile. */
function sortOf(link: string): string | undefined {
  try {
    const target = readlinkSync(link);
    if (target.startsWith('/')) return 'file';
    const [sort = '', rest = ''] = target.split(':', 2);
    return sort === 'anon_inode' ? rest.replace(/^\[|\]$/g, '') : sort;
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH');
}
