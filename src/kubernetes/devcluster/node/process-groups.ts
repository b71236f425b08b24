// Processes of this machine, each with a group of its own that ends when this process ends, however it does.

import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { clearRecord, forgetProcess, killLeftovers, recordProcess } from './leftovers.ts';

export interface LocalCommand {
  readonly program: string;
  readonly args: readonly string[];
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly directory?: string;
}

export interface ProcessGroups {
  start(command: LocalCommand): ChildProcessWithoutNullStreams;
  /** To the whole group; nothing where it has ended. */
  signal(child: ChildProcess, signal: NodeJS.Signals): void;
  /** Kills what still runs. */
  close(): Promise<void>;
}

/**
 * Its arguments are the numbers of groups. It reads those of more, and of those that have ended; once no one can write any
 * more, it ends the groups that are left. Words of its own would go into a pipe that no one reads.
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

/** The process itself names its group to the watchdog, before it is what was asked for: there is no moment between. */
const LAUNCH = `echo "+ $$" >&3; exec 3>&-; unset PWD OLDPWD SHLVL _; exec "$@"`;

/** `record`: a file in which the groups are, for the start after a crash that took the watchdog with it. */
export function openProcessGroups(record?: string): ProcessGroups {
  if (record !== undefined) killLeftovers(record);
  const running = new Set<ChildProcess>();
  let watchdog: ChildProcessWithoutNullStreams | undefined;
  let closed = false;

  function watched(): ChildProcessWithoutNullStreams {
    if (watchdog !== undefined) return watchdog;
    // What runs goes along as arguments: there is no moment in which it is there and knows of nothing.
    const started = spawnWatchdog([...running].flatMap(({ pid }) => (pid === undefined ? [] : [String(pid)])));
    started.once('exit', () => {
      watchdog = undefined;
      // Killed: another one takes over what runs.
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
        // What it has started ends with it.
        signalGroup(child, 'SIGKILL');
        watchdog?.stdin.write(`- ${child.pid}\n`);
        if (record !== undefined && child.pid !== undefined) forgetProcess(record, child.pid);
      });
      // Never started, as in a folder that is gone: there will be no exit.
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
    // ESRCH: none of the group is left. EPERM: macOS says so of a group of zombies.
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}
