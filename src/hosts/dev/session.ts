// Runs a session of `skep dev`, from the start of its parts to Ctrl-C.

import { join, relative, resolve } from 'node:path';
import { freePort } from '#kubernetes/devcluster/node/free-port.ts';
import type { FindProgram } from '#kubernetes/devcluster/node/ports.ts';
import { countCreated, tellOutcomes, textOfChanges, textOfNewCommits } from '#reconciler/report/news.ts';
import { textOfEnding } from '#reconciler/report/text.ts';
import { exitCodeOf, type RunResult } from '#reconciler/run/result.ts';
import type { PackageType } from '#registry/catalogue/packages.ts';
import { Failure } from '#std/failure.ts';
import type { CommandOf } from '#std/words/command-of.ts';
import { DEFAULT_API_GROUP } from '../config/api-group.ts';
import type { Config } from '../config/config.ts';
import { commandOf } from '../own-command.ts';
import { type FleetFeed, openFleetFeed } from '../reconciler/console/fleet.ts';
import { type Instance, openInstance } from '../reconciler/instance/instance.ts';
import { startRuns } from '../reconciler/loop/runs.ts';
import { awaitSignal } from '../signals.ts';
import { type FollowedPackages, followPackages } from './followed-packages.ts';
import { formatGuide } from './guide.ts';
import { openInstaller } from './package-install.ts';
import { openPackagePrograms, type PackagePrograms } from './package-programs.ts';
import { checkPort, claimFolder } from './preconditions.ts';
import { findPrograms } from './programs.ts';
import { reportReady } from './report-ready.ts';
import { openServing, type Serving } from './serving.ts';
import { type DevWorld, kubeconfigIn, openDevWorld } from './world.ts';

/**
 * Seconds that a run with --once waits for ready servers. A session does not wait, because servers become ready while
 * it runs.
 */
const ONLY_RUN_WAIT_SECONDS = 120;

export interface DevOptions {
  readonly port: number;
  readonly dir: string;
  readonly once: boolean;
  /** If true, a new token replaces the token of earlier starts. */
  readonly newToken: boolean;
  /** If true, prints each object that the first run creates. */
  readonly verbose: boolean;
  /** Types of the catalogue's packages that may run in place of images. The configuration contains the default. */
  readonly run?: readonly PackageType[];
  /** Configuration with the sources and the allowed programs. If not set, the sample fleet is used. */
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

async function runSession(options: DevOptions): Promise<void> {
  const { port, dir, once, newToken, given, say } = options;
  let stopping = false;
  const interrupted = awaitSignal().then(() => {
    stopping = true;
    say('stopping');
  });
  const origin = `http://127.0.0.1:${port === 0 ? await freePort() : port}`;
  const packages = packagesOf(options);
  const programs = programsOf(options, origin, packages);
  // A run with --once starts no processes, because it would stop them at once.
  const find = once ? undefined : programs;
  // Pods start after the first run: starting dozens of processes at once would slow that run down.
  const { promise: begin, resolve: beginPods } = Promise.withResolvers<void>();
  const world = await openDevWorld({ dir, say, find, begin, given });
  try {
    const start = countCreated(say);
    const tell = options.verbose ? tellOutcomes(say) : start.tell;
    const feed = openFleetFeed(world.config, say);
    const instance = await openInstance(world.config, tell, { looked: feed.looked }, undefined, { alone: true });
    const followed = followPackages(packages, instance, world);
    try {
      if (stopping) return;
      const first = await instance.run({ waitSeconds: once ? ONLY_RUN_WAIT_SECONDS : 0 });
      feed.ended(first);
      const typed = typedFor(world);
      start.end();
      const source = world.fleetDir === undefined ? world.config.name : relative(process.cwd(), world.fleetDir);
      say(`first run done, of ${source}:\n${textOfEnding(first, typed).trimEnd()}`);
      if (once) return finishOnce(first);
      if (stopping) return;
      await followed.ran(first);
      beginPods();
      const wake: Kept['wake'] = {};
      const opened = { instance, feed, world, origin, newToken, say, inOrder: port !== 0, commandOf: typed };
      const serving = await openServing({ ...opened, runNow: () => wake.runNow?.() });
      try {
        process.stdout.write(formatGuide(world, origin, serving, await serving.running()));
        await keepRunning({ instance, feed, world, followed, serving, first, wake, say }, interrupted);
      } finally {
        await serving.stop();
      }
    } finally {
      await followed.close();
      await instance.close();
    }
  } finally {
    await world.close();
  }
}

interface Kept {
  readonly instance: Instance;
  readonly feed: FleetFeed;
  readonly world: DevWorld;
  readonly followed: FollowedPackages;
  readonly serving: Serving;
  readonly first: RunResult;
  /** Receives the function that requests a run, once runs follow one another. */
  readonly wake: { runNow?: () => void };
  readonly say: (text: string) => void;
}

async function keepRunning(
  { instance, feed, world, followed, serving, first, wake, say }: Kept,
  interrupted: Promise<void>,
): Promise<void> {
  const stopReporting = reportReady(serving.running, say);
  const report = reportChanges(say, typedFor(world));
  const complain = complainTo(say);
  const listener = {
    began: (_reason: unknown, runId: string) => feed.began(runId),
    result(result: RunResult, before: RunResult | undefined) {
      feed.ended(result);
      report(result, before);
      void followed.ran(result);
      serving.ran(result);
    },
    failure(failure: Failure) {
      feed.failed(failure);
      complain(failure);
    },
  };
  const runs = startRuns(instance, world.config, listener, first);
  wake.runNow = () => void runs.trigger('request');
  await interrupted;
  await runs.stop();
  await stopReporting();
}

function programsOf({ dir, given }: DevOptions, origin: string, packages: PackagePrograms | undefined): FindProgram {
  const { proxy, vmcp, registry } = given?.images ?? {};
  return findPrograms({
    origin,
    kubeconfig: kubeconfigIn(dir),
    self: selfCommand(),
    apiGroup: given?.apiGroup ?? DEFAULT_API_GROUP,
    ownImages: [proxy, vmcp, registry].filter((image) => image !== undefined),
    rules: given?.dev?.images ?? [],
    packages,
  });
}

/** Returns undefined if no types of packages are allowed. */
function packagesOf({ dir, given, run = given?.dev?.run ?? [] }: DevOptions): PackagePrograms | undefined {
  if (run.length === 0) return undefined;
  const variables = Object.entries(process.env).filter((each): each is [string, string] => each[1] !== undefined);
  const installer = openInstaller({ folder: join(dir, 'packages'), environment: Object.fromEntries(variables) });
  return openPackagePrograms(run, installer);
}

/** Returns the paths of Node.js and of this program. */
function selfCommand(): readonly [string, string] {
  return [process.execPath, resolve(process.argv[1] ?? '')];
}

function finishOnce(first: RunResult): void {
  if (exitCodeOf(first) !== 0)
    throw new Failure('dev-first-run-failed', 'the first run had problems, which are listed above');
}

function typedFor({ configFile }: DevWorld): CommandOf {
  return commandOf({ config: relative(process.cwd(), configFile) });
}

function reportChanges(
  say: (text: string) => void,
  typed: CommandOf,
): (result: RunResult, before: RunResult | undefined) => void {
  return (result, before) => {
    const text = textOfChanges(result, before, typed).trimEnd() || textOfNewCommits(result, before);
    if (text !== '') say(text);
  };
}

function complainTo(say: (text: string) => void): (failure: Failure) => void {
  return (failure) => say(`error ${failure.code}: ${failure.message}`);
}
