// The groups of processes that were started here, in a file: what is left of a crash that took everything that watches over
// them is ended by the next start. A number alone says nothing, numbers are used again: the time of the start goes with it, and
// the folder that it was started in.

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { writePrivatelyNow } from '../storage/private-file.ts';

interface RecordedProcess {
  readonly started: string;
  /** Of this process and what it starts alone. */
  readonly directory?: string;
}

/** By the number of the process. */
type Recorded = Readonly<Record<string, RecordedProcess>>;

export function recordProcess(file: string, pid: number, directory?: string): void {
  const started = startOf(pid);
  if (started === undefined) return;
  const where = directory === undefined ? {} : { directory: realpathSync(directory) };
  write(file, { ...read(file), [pid]: { started, ...where } });
}

export function forgetProcess(file: string, pid: number): void {
  const { [pid]: _ended, ...others } = read(file);
  write(file, others);
}

/** Kills the groups of the file whose first process is still the one that was recorded, or has ended before those that it started. */
export function killLeftovers(file: string): void {
  for (const [pid, recorded] of Object.entries(read(file))) {
    if (startOf(Number(pid)) !== recorded.started && !isLeftBehind(pid, recorded)) continue;
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

/** Linux alone tells the folder of a process. As long as there is a group, no new process gets its number. */
function isLeftBehind(group: string, { directory }: RecordedProcess): boolean {
  if (process.platform !== 'linux' || directory === undefined || statOf(group) !== undefined) return false;
  return readdirSync('/proc')
    .filter((pid) => statOf(pid)?.[PROCESS_GROUP] === group)
    .some((pid) => directoryOf(pid) === directory);
}

function directoryOf(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    // It has ended, or is someone else's.
    return undefined;
  }
}

/** Places in what proc(5) tells of a process, from its state on. */
const PROCESS_GROUP = 2;
const START_TIME = 19;

function statOf(pid: string): readonly string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

/** Since boot; elsewhere what `ps` says. Undefined: there is no such process. */
function startOf(pid: number): string | undefined {
  if (process.platform === 'linux') return statOf(String(pid))?.[START_TIME];
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
  writePrivatelyNow(file, JSON.stringify(recorded));
}
