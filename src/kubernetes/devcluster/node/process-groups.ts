// Starts processes of this machine, each in its own group. The groups are ended when this process ends, even if it is
// killed.

import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { clearRecord, forgetProcess, killLeftovers, recordProcess } from './leftovers.ts';

export interface LocalCommand {
  readonly program: string;
  readonly args: readonly string[];
  /** The complete environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly directory?: string;
}

export interface ProcessGroups {
  start(command: LocalCommand): ChildProcessWithoutNullStreams;
  /** Sends the signal to the whole group. Does nothing if the group has ended. */
  signal(child: ChildProcess, signal: NodeJS.Signals): void;
  /** Kills the groups that still run. */
  close(): Promise<void>;
}

/**
 * Shell script that kills the groups when this process ends. Its arguments are ids of groups. It reads ids of started
 * and ended groups from its input. The input is closed when this process ends. Errors are discarded, because no process
 * reads them.
 */
const WATCHDOG = `exec 2>/dev/null
all=" $* "
while read -r sign pid; do
  case $sign in
    +) all="$all$pid " ;;
    -) case $all in *" $pid "*) all="\${all%% $pid *} \${all#* $pid }" ;; esac ;;
  esac
done
case $all in *[0-9]*) ;; *) exit 0 ;; esac
for pid in $all; do kill -s TERM -- "-$pid"; done
sleep 1
for pid in $all; do kill -s KILL -- "-$pid"; done`;

/**
 * Shell script that reports its group to the watchdog and then executes the requested program. The watchdog thus knows
 * every group.
 */
const LAUNCH = `echo "+ $$" >&3; exec 3>&-; unset PWD OLDPWD SHLVL _; exec "$@"`;

/**
 * Opens the groups. `record` is a file for the group ids. The next start reads this file after a crash that also ended
 * the watchdog.
 */
export function openProcessGroups(record?: string): ProcessGroups {
  if (record !== undefined) killLeftovers(record);
  const running = new Set<ChildProcess>();
  let watchdog: ChildProcessWithoutNullStreams | undefined;
  let closed = false;

  function watched(): ChildProcessWithoutNullStreams {
    if (watchdog !== undefined) return watchdog;
    // Running groups are passed as arguments, so that the new watchdog knows them at once.
    const started = spawnWatchdog([...running].flatMap(({ pid }) => (pid === undefined ? [] : [String(pid)])));
    started.once('exit', () => {
      watchdog = undefined;
      // The watchdog was killed. A new watchdog takes over the running groups.
      if (!closed && running.size > 0) watched();
    });
    watchdog = started;
    return started;
  }

  return {
    start({ program, args, env, directory }) {
      const { stdin: fence } = watched();
      const child = spawn('/bin/sh', ['-c', LAUNCH, 'sh', program, ...args], {
        ...{ env: { ...env }, cwd: directory, detached: true },
        stdio: ['pipe', 'pipe', 'pipe', fence],
      }) as ChildProcessWithoutNullStreams;
      running.add(child);
      if (record !== undefined && child.pid !== undefined) recordProcess(record, child.pid, directory);
      child.once('exit', () => {
        running.delete(child);
        // Kills remaining children of the process.
        signalGroup(child, 'SIGKILL');
        watchdog?.stdin.write(`- ${child.pid}\n`);
        if (record !== undefined && child.pid !== undefined) forgetProcess(record, child.pid);
      });
      // A process that could not be started, such as in a deleted folder, emits no exit event.
      child.once('error', () => child.pid === undefined && running.delete(child));
      return child;
    },
    signal: signalGroup,
    async close() {
      closed = true;
      const ended = [...running].map((child) => new Promise((resolve) => child.once('exit', resolve)));
      for (const child of running) signalGroup(child, 'SIGKILL');
      await Promise.all(ended);
      if (watchdog !== undefined) await endWatchdog(watchdog);
      if (record !== undefined) clearRecord(record);
    },
  };
}

function spawnWatchdog(groups: readonly string[]): ChildProcessWithoutNullStreams {
  const options = { env: {}, cwd: '/', detached: true, stdio: 'pipe' } as const;
  const started = spawn('/bin/sh', ['-c', WATCHDOG, 'sh', ...groups], options);
  started.stdin.on('error', () => started.stdin.destroy());
  return started;
}

async function endWatchdog(watchdog: ChildProcessWithoutNullStreams): Promise<void> {
  const gone = new Promise((resolve) => watchdog.once('exit', resolve));
  watchdog.stdin.end();
  await gone;
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // ESRCH: the group has no processes. EPERM: macOS reports this for a group of zombies.
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}
