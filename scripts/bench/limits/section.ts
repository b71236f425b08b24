// Limits that three replicas share, under 500 calls a second: accepted calls beside the number that the buckets give in the
// time that passed. Throws if they differ by more than 2 %, also after Redis was killed and started again.

import { setTimeout as pause } from 'node:timers/promises';
import type { RateLimitFields } from '#contracts/gate/rate-limiting.ts';
import { type RedisServer, startRedis } from '../../../test/harness/redis.ts';
import { startModule } from '../processes.ts';
import { startProxyIssuer } from '../proxy/issuer.ts';
import type { Place } from '../sections.ts';
import type { Report, Row } from '../table.ts';
import { type Counted, type OfferedCall, startSteadyLoad } from './load.ts';
import { callsCountedAlone, type LimitedWorld, type Replica, startReplicas } from './world.ts';

const PER_SECOND = 500;
const USERS = 4;
/** Long enough that 2 % are many more calls than those under way at its ends. */
const COUNTED_MS = 15_000;
const TOLERANCE = 0.02;

interface Scenario {
  readonly name: string;
  readonly limits: RateLimitFields;
  readonly group: (call: OfferedCall) => string;
  /** Tokens in a second, and those of a full bucket, by group. Undefined: the group has no limit. */
  readonly buckets: (group: string) => { readonly perSecond: number; readonly maxTokens: number } | undefined;
}

function bucket(maxTokens: number, seconds: number) {
  return { fields: { maxTokens, refillPeriod: `${seconds}s` }, counts: { perSecond: maxTokens / seconds, maxTokens } };
}

const ALL = bucket(200, 2);
const USER = bucket(40, 2);
const TOOL = bucket(120, 3);
const TOOL_USER = bucket(30, 3);

const SCENARIOS: readonly Scenario[] = [
  { name: 'shared', limits: { shared: ALL.fields }, group: () => 'all', buckets: () => ALL.counts },
  { name: 'per-user', limits: { perUser: USER.fields }, group: ({ token }) => token, buckets: () => USER.counts },
  {
    name: 'per-tool',
    limits: { tools: [{ name: 'echo', shared: TOOL.fields }] },
    group: ({ tool }) => tool,
    buckets: (tool) => (tool === 'echo' ? TOOL.counts : undefined),
  },
  {
    name: 'per-tool-and-user',
    limits: { tools: [{ name: 'echo', perUser: TOOL_USER.fields }] },
    group: ({ tool, token }) => `${tool} ${token}`,
    buckets: (group) => (group.startsWith('echo ') ? TOOL_USER.counts : undefined),
  },
];

export async function benchLimits(place: Place): Promise<Report> {
  const redis = await startRedis();
  if (redis === undefined) return { rows: [], notices: ['limits: redis-server is not installed'] };
  const backend = await startModule<number>(new URL('../proxy/backend-process.ts', import.meta.url), '');
  const issuer = await startProxyIssuer(USERS);
  const world = { place, issuer, backendPort: backend.ready, redisAddress: redis.address };
  let last: RedisServer | undefined = redis;
  try {
    const rows: Row[] = [];
    for (const scenario of SCENARIOS) rows.push(...(await countScenario(world, scenario)));
    rows.push(...(await countOutage(world, redis, (started) => (last = started))));
    return { rows, notices: [] };
  } finally {
    issuer.stop();
    await backend.stop();
    await last?.stop();
  }
}

/** Users change with each call and tools with each round of users, so that every replica gets all of both. */
function callOf(tokens: readonly string[], index: number): OfferedCall {
  const tool = Math.floor(index / tokens.length) % 2 === 0 ? 'echo' : 'other';
  return { tool, token: tokens[index % tokens.length] ?? '' };
}

async function withLoad<T>(
  world: LimitedWorld,
  name: string,
  limits: RateLimitFields,
  run: (load: ReturnType<typeof startSteadyLoad>, replicas: readonly Replica[]) => Promise<T>,
): Promise<T> {
  const replicas = await startReplicas(world, name, limits);
  try {
    const ports = replicas.map(({ port }) => port);
    const load = startSteadyLoad(ports, PER_SECOND, (index) => callOf(world.issuer.tokens, index));
    const result = await run(load, replicas);
    await load.stop();
    return result;
  } finally {
    await Promise.all(replicas.map((replica) => replica.stop()));
  }
}

async function countScenario(world: LimitedWorld, scenario: Scenario): Promise<Row[]> {
  const counted = await withLoad(world, scenario.name, scenario.limits, async (load) =>
    load.count(COUNTED_MS, scenario.group, await load.begun),
  );
  const limited = [...counted.accepted].flatMap(([group, accepted]) => {
    const counts = scenario.buckets(group);
    return counts === undefined ? [] : [{ accepted, expected: expectedCalls(counts, counted.ms) }];
  });
  for (const { accepted, expected } of limited) requireExact(scenario.name, accepted, expected);
  return [rowOf(`limit ${scenario.name}: calls accepted`, limited, counted)];
}

/** The bucket is full when the load begins. */
function expectedCalls({ perSecond, maxTokens }: { perSecond: number; maxTokens: number }, ms: number): number {
  return maxTokens + (perSecond * ms) / 1000;
}

function requireExact(name: string, accepted: number, expected: number): void {
  const share = Math.abs(accepted - expected) / expected;
  if (share > TOLERANCE)
    throw new Error(`${name}: ${accepted} calls were accepted, ${expected.toFixed(0)} are right: ${percent(share)}`);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)} % too many or too few`;
}

interface Limited {
  readonly accepted: number;
  readonly expected: number;
}

function rowOf(name: string, limited: readonly Limited[], { offered, ms }: Counted): Row {
  const sum = (key: keyof Limited) => limited.reduce((total, each) => total + each[key], 0);
  const against = `tokens in ${(ms / 1000).toFixed(1)} s; ${((offered * 1000) / ms).toFixed(0)} calls/s offered`;
  return { name, ours: sum('accepted'), baseline: Math.round(sum('expected')), unit: 'calls', against };
}

/** Redis is killed under load, and started again empty: full buckets, and scripts that it does not know. */
async function countOutage(
  world: LimitedWorld,
  redis: RedisServer,
  restarted: (redis: RedisServer | undefined) => void,
): Promise<Row[]> {
  const { perSecond } = ALL.counts;
  return withLoad(world, 'outage', { shared: ALL.fields }, async (load, replicas) => {
    const tokens = ({ ms }: Counted) => (perSecond * ms) / 1000;
    await load.count(COUNTED_MS / 3);
    await redis.kill();
    const alone = await load.count(COUNTED_MS);
    restarted(await startRedis(Number(redis.address.split(':')[1])));
    await togetherAgain(replicas);
    const together = await load.count(COUNTED_MS);
    return [
      rowOfOutage('... Redis is killed', alone, tokens(alone) * replicas.length),
      rowOfOutage('... Redis is started again', together, tokens(together)),
    ];
  });
}

function rowOfOutage(name: string, counted: Counted, expected: number): Row {
  const accepted = counted.accepted.get('all') ?? 0;
  requireExact(name, accepted, expected);
  return rowOf(name, [{ accepted, expected }], counted);
}

/** Resolves once no replica has counted a call by itself for a second, in which the bucket of the new Redis is emptied as well. */
async function togetherAgain(replicas: readonly Replica[]): Promise<void> {
  let before: readonly number[] = [];
  for (let turn = 0; turn < 60; turn += 1) {
    const now = await Promise.all(replicas.map(callsCountedAlone));
    if (turn > 0 && now.every((calls, index) => calls === before[index])) return;
    before = now;
    await pause(1000);
  }
  throw new Error('the replicas do not count together again, 60 s after Redis was started');
}
