// The groups of processes that were started here, in a file: what is left of a crash that took everything that watches over
// them is ended by the next start. A number alone says nothing, numbers are used again: the time of the start goes with it.

import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';

/** Times of start by the number of the process. */
type Recorded = Readonly<Record<string, string>>;

export function recordProcess(file: string, pid: number): void {
  const started = startOf(pid);
  if (started !== undefined) write(file, { ...read(file), [pid]: started });
}

export function forgetProcess(file: string, pid: number): void {
  const { [pid]: _ended, ...others } = read(file);
  write(file, others);
}

/** Kills the groups of the file whose first process is still the one that was recorded. */
export function killLeftovers(file: string): void {
  for (const [pid, started] of Object.entries(read(file))) {
    if (startOf(Number(pid)) !== started) continue;
    try {
      process.kill(-Number(pid), 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
  clearRecord(file);
}

export function clearRecord(file: string): void {
  rmSync(file, { force: true });
}

/** Field 22 of proc(5), of the time since boot; elsewhere what `ps` says. Undefined: there is no such process. */
function startOf(pid: number): string | undefined {
  if (process.platform === 'linux') {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    } catch {
      return undefined;
    }
  }
  const { status, stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

function read(file: string): Recorded {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    // Never written, or cut off by the crash: the watchdog is what ends processes.
    return {};
  }
}

function write(file: string, recorded: Recorded): void {
  writeFileSync(file, JSON.stringify(recorded), { mode: 0o600 });
}
