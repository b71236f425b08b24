// Records in a file the process groups that we have started. If a crash also ends the watchdog, the next start kills
// the remaining groups. Process ids are reused, so the start time and the folder of each process are recorded too.

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { writePrivatelyNow } from '../storage/private-file.ts';

interface RecordedProcess {
  readonly started: string;
  /** A folder that only this process and its children use. */
  readonly directory?: string;
}

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

/** Kills the recorded groups whose first process is still the recorded process, or has ended before its children. */
export function killLeftovers(file: string): void {
  for (const [pid, recorded] of Object.entries(read(file))) {
    if (startOf(Number(pid)) !== recorded.started && !isLeftBehind(pid, recorded)) continue;
    try {
      process.kill(-Number(pid), 'SIGKILL');
    } catch {
      // The group has ended in the meantime.
    }
  }
  clearRecord(file);
}

export function clearRecord(file: string): void {
  rmSync(file, { force: true });
}

/**
 * True if processes of a group still run after its first process has ended. Always false on systems other than Linux,
 * which do not report the folder of a process. No new process gets the id of an existing group.
 */
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
    // The process has ended, or belongs to another user.
    return undefined;
  }
}

/** Indices of fields in /proc/<pid>/stat (proc(5)). Index 0 is the state. */
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

/**
 * Returns the start time of a process: since boot on Linux, elsewhere in the format of `ps`. undefined if the process
 * does not exist.
 */
function startOf(pid: number): string | undefined {
  if (process.platform === 'linux') return statOf(String(pid))?.[START_TIME];
  const { status, stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

function read(file: string): Recorded {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    // The file does not exist, or a crash left it incomplete. Normally the watchdog ends the processes.
    return {};
  }
}

function write(file: string, recorded: Recorded): void {
  writePrivatelyNow(file, JSON.stringify(recorded));
}
