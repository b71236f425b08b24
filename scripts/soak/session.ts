// One soak from the first commit to the last: commits on their beat, readers on theirs, samples of every process in between.

import { setTimeout as pause } from 'node:timers/promises';
import { request } from 'undici';
import { seeded } from '../../test/harness/random.ts';
import { percentile } from '../bench/paced.ts';
import type { Watched } from './assess.ts';
import type { Complaints } from './complaints.ts';
import { type Control, metricsOf, openControl } from './control.ts';
import { type Read, readFor } from './readers.ts';
import { createStory, MARKER, type Step, type Story } from './story.ts';
import { openTokens, type Tokens } from './tokens.ts';
import { repeat, watchProcesses } from './watch.ts';
import type { WatchedProcess } from './watched-process.ts';
import { openSurroundings, type Surroundings, startRun, startServe } from './world.ts';

export interface SessionOptions {
  readonly minutes: number;
  readonly seed: number;
  /** Empty; logs, and heap snapshots where they are asked for, are written here. */
  readonly folder: string;
  /** The compiled `skep.js`. */
  readonly program: string;
  readonly snapshots: boolean;
  readonly complaints: Complaints;
  readonly say: (text: string) => void;
}

export interface Soaked {
  readonly watched: readonly Watched[];
  readonly read: Read;
  readonly commits: number;
  /** Runs that have ended, by how. */
  readonly runs: ReadonlyMap<string, number>;
  /** 99th percentiles of the delay of the event loop between scrapes, ascending, by process. */
  readonly loopSeconds: ReadonlyMap<string, readonly number[]>;
  readonly notified: number;
}

const COMMIT_EVERY_MS = 5_000;
const READS_PER_SECOND = 100;
const LOOK_EVERY_MS = 2_000;
/** Keys and tokens change. */
const TOKENS_EVERY_MS = 60_000;
const SETTLED_WITHIN_MS = 120_000;
const ASK_AGAIN_MS = 250;

/** Everybody who takes part. */
interface Cast {
  readonly options: SessionOptions;
  readonly world: Surroundings;
  readonly story: Story;
  readonly run: WatchedProcess;
  readonly serve: WatchedProcess;
  readonly serveUrl: string;
  readonly metricsUrl: string;
  readonly control: Control;
  readonly tokens: Tokens;
}

export async function soak(options: SessionOptions): Promise<Soaked> {
  const world = await openSurroundings(options.folder);
  const closing: (() => Promise<void>)[] = [world.close];
  try {
    const story = createStory({ seed: options.seed, repository: world.repository });
    const head = await world.commit(story.first);
    const run = startRun(world, options);
    closing.push(run.stop);
    const serve = startServe(world, options);
    closing.push(serve.stop);
    const [runUrl, serveUrl, metricsUrl] = await Promise.all([
      run.after('Server listening at '),
      serve.after('serving '),
      serve.after('metrics at '),
    ]);
    const control = openControl(runUrl, options.complaints);
    closing.push(control.close);
    const tokens = await openTokens(world.issuer, options.seed);
    const cast = { options, world, story, run, serve, serveUrl, metricsUrl, control, tokens };
    await settled(cast, head, story.first);
    options.say('the first commit is a cluster, and is served');
    return await play(cast);
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

async function play(cast: Cast): Promise<Soaked> {
  const { options, world, serveUrl, tokens, control, run, serve } = cast;
  const durationMs = options.minutes * 60_000;
  const endAt = performance.now() + durationMs;
  const ended = () => performance.now() >= endAt;
  const { perSecond, seed, complaints } = { perSecond: READS_PER_SECOND, ...options };
  const loopSeconds = new Map<string, number[]>([
    ['run', []],
    ['serve', []],
  ]);
  const [read, commits, watched] = await Promise.all([
    readFor(durationMs, { origin: serveUrl, tokens, perSecond, seed, complaints }),
    commitUntil(ended, cast),
    watchProcesses({
      ...{ ended, durationMs, snapshots: options.snapshots ? options.folder : undefined, say: options.say },
      processes: [run, serve],
      others: [{ name: 'devcluster', pid: world.cluster.pid }],
      sampled: () => lookAtLoops(cast, loopSeconds),
    }),
    repeat(ended, LOOK_EVERY_MS, control.look),
    repeat(ended, TOKENS_EVERY_MS, async () => {
      await world.issuer.rotate();
      await tokens.renew();
    }),
  ]);
  await complained(cast, settled(cast, commits.head, commits.last));
  const metrics = await control.metrics();
  options.say(`${run.name} has arrived at the last commit`);
  return {
    watched,
    read,
    commits: commits.steps,
    runs: runsOf(metrics),
    loopSeconds: new Map([...loopSeconds].map(([name, values]) => [name, values.toSorted((a, b) => a - b)])),
    notified: world.receiver.received.length,
  };
}

interface Committed {
  readonly head: string;
  /** The last step. */
  readonly last: Step;
  readonly steps: number;
}

async function commitUntil(ended: () => boolean, cast: Cast): Promise<Committed> {
  const { world, story, options, control } = cast;
  const random = seeded(options.seed);
  let head = '';
  let steps = 0;
  let last: Step = story.first;
  async function commit(): Promise<void> {
    last = story.next();
    head = await world.commit(last);
    steps += 1;
  }
  await repeat(ended, COMMIT_EVERY_MS, async (number) => {
    await commit();
    // Or else the schedule finds it.
    if (random.chance(0.5)) await control.tellPush(world.repository);
    else if (random.chance(0.2)) await control.askForRun();
    if (number % 6 === 0) world.mount(10 + random.integer(20));
  });
  while (last.broken) await commit();
  return { head, last, steps };
}

async function lookAtLoops({ control, metricsUrl, options }: Cast, loop: Map<string, number[]>): Promise<void> {
  const { statusCode, body } = await request(metricsUrl);
  const text = await body.text();
  if (statusCode !== 200) options.complaints.add('answers', `/metrics of serve was answered with ${statusCode}`);
  for (const [name, metrics] of [
    ['run', await control.metrics()],
    ['serve', metricsOf(text)],
  ] as const) {
    loop.get(name)?.push(metrics.get('nodejs_eventloop_lag_p99_seconds') ?? Number.NaN);
  }
}

function runsOf(metrics: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const counted = [...metrics].flatMap(([name, value]): [string, number][] => {
    const outcome = /^skep_runs_total\{outcome="([^"]*)"\}$/.exec(name)?.[1];
    return outcome === undefined || value === 0 ? [] : [[outcome, value]];
  });
  return new Map(counted);
}

/** The commit is what the cluster has, without a problem, and what the registry serves. Rejects where it is not in time. */
async function settled({ control, tokens, serveUrl }: Cast, head: string, { marked }: Step): Promise<void> {
  const deadline = performance.now() + SETTLED_WITHIN_MS;
  let [commit, served, problems]: [string | undefined, string, number | undefined] = [undefined, '', undefined];
  while (performance.now() < deadline) {
    const metrics = await control.metrics();
    problems = metrics.get('skep_problems{severity="error"}');
    commit = await control.commit();
    served = await markerOf(serveUrl, tokens);
    if (commit === head && problems === 0 && served.includes(`${MARKER}:0.0.${marked}"`)) return;
    await pause(ASK_AGAIN_MS);
  }
  throw new Error(
    `not settled: commit ${commit} instead of ${head}, ${problems} problems, served ${served.slice(0, 300)}`,
  );
}

async function markerOf(serveUrl: string, tokens: Tokens): Promise<string> {
  const { body } = await request(`${serveUrl}/catalogue/v0.1/servers?search=${MARKER}`, { headers: tokens.reading() });
  return body.text();
}

async function complained({ options }: Cast, ending: Promise<void>): Promise<void> {
  await ending.catch((error: unknown) => options.complaints.add('the end', String(error)));
}

/** For people: the 99th percentile, and the most. */
export function ends(ascending: readonly number[]): { readonly p99: number; readonly most: number } {
  return { p99: percentile(ascending, 0.99), most: ascending.at(-1) ?? Number.NaN };
}
