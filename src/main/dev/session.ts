// One session of `skep dev`, from the start of its servers to Ctrl-C.

import { relative, resolve } from 'node:path';
import { freePort } from '../../devcluster/node/free-port.ts';
import { exitCodeOf, type RunResult } from '../../reconcile/result.ts';
import type { CommandOf } from '../../report/deletion-text.ts';
import { tellOutcomes, textOfChanges, textOfEnding } from '../../report/text.ts';
import { Failure } from '../../std/failure.ts';
import type { Config } from '../config/config.ts';
import { openInstance } from '../instance/instance.ts';
import { startRuns } from '../loop/runs.ts';
import { awaitSignal } from '../signals.ts';
import { formatGuide } from './guide.ts';
import { commandOf } from './own-command.ts';
import { checkPort, claimFolder } from './preconditions.ts';
import { findPrograms } from './programs.ts';
import { reportReady } from './report-ready.ts';
import { openServing } from './serving.ts';
import { kubeconfigIn, openDevWorld } from './world.ts';

/** Where it is the only one; else servers get ready while people look. */
const ONLY_RUN_WAIT_SECONDS = 120;

export interface DevOptions {
  readonly port: number;
  readonly dir: string;
  readonly once: boolean;
  /** Whose sources are followed, and what may run; absent: the sample fleet, and what it needs. */
  readonly given?: Config;
  readonly say: (text: string) => void;
}

export async function runDev(options: DevOptions): Promise<void> {
  const lock = await claimFolder(options.dir);
  try {
    if (!options.once) await checkPort(options.port);
    await runSession(options);
  } finally {
    await lock.release();
  }
}

async function runSession({ port, dir, once, given, say }: DevOptions): Promise<void> {
  let stopping = false;
  const interrupted = awaitSignal().then(() => {
    stopping = true;
    say('stopping');
  });
  const listening = port === 0 ? await freePort() : port;
  const origin = `http://127.0.0.1:${listening}`;
  const { proxy, vmcp, registry } = given?.images ?? {};
  const programs = findPrograms({
    origin,
    kubeconfig: kubeconfigIn(dir),
    self: selfCommand(),
    ownImages: [proxy, vmcp, registry].filter((image) => image !== undefined),
    rules: given?.dev?.images ?? [],
  });
  // One run alone shows what would be: nothing is started that would be stopped at once.
  const find = once ? undefined : programs;
  // Dozens of processes that start would take the machine from the run that says what they are.
  const { promise: begin, resolve: beginPods } = Promise.withResolvers<void>();
  const world = await openDevWorld({ dir, say, find, begin, given });
  try {
    const instance = await openInstance(world.config, tellOutcomes(say));
    try {
      if (stopping) return;
      const first = await instance.run({ waitSeconds: once ? ONLY_RUN_WAIT_SECONDS : 0 });
      const source = world.fleetDir === undefined ? world.config.name : relative(process.cwd(), world.fleetDir);
      say(`first run done, of ${source}:\n${textOfEnding(first, commandOf(world.configFile)).trimEnd()}`);
      if (once) return finishOnce(first);
      if (stopping) return;
      beginPods();
      const serving = await openServing({ instance, world, find: programs, origin, inOrder: port !== 0, say });
      try {
        process.stdout.write(formatGuide(world, origin, serving, await serving.running()));
        const stopReporting = reportReady(serving.running, say);
        const runs = startRuns(
          instance,
          world.config,
          { result: reportChanges(say, commandOf(world.configFile)), failure: complain(say) },
          first,
        );
        await interrupted;
        await runs.stop();
        await stopReporting();
      } finally {
        await serving.stop();
      }
    } finally {
      await instance.close();
    }
  } finally {
    await world.close();
  }
}

/** Node and this program, as they were started. */
function selfCommand(): readonly [string, ...string[]] {
  return [process.execPath, resolve(process.argv[1] ?? '')];
}

function finishOnce(first: RunResult): void {
  if (exitCodeOf(first) !== 0)
    throw new Failure('dev-first-run-failed', 'the first run did not end well; its lines above say why');
}

function reportChanges(
  say: (text: string) => void,
  typed: CommandOf,
): (result: RunResult, before: RunResult | undefined) => void {
  return (result, before) => {
    const text = textOfChanges(result, before, typed).trimEnd();
    if (text !== '') say(text);
  };
}

function complain(say: (text: string) => void): (failure: Failure) => void {
  return (failure) => say(`error ${failure.code}: ${failure.message}`);
}
