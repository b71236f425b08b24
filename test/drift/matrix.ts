// Drift, field by field, told on the embedded API server and on a real one: each field of each kind is changed, removed and
// added to by another manager, and what a run makes of it is what skep.yaml and the manifest say.

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { FieldState } from '#reconciler/run/diff/field-states.ts';
import type { RunOptions } from '#reconciler/run/run.ts';
import { isObject, type Json, type JsonObject, jsonEquals, pointerToken, valueAtPointer } from '#std/json.ts';
import type { SuiteServer } from '../cluster/server.ts';
import type { Deed } from './hands.ts';
import { type Drifted, EDITOR, openStage, type Seen, type Stage } from './stage.ts';
import { driftingKinds, type Target } from './targets.ts';

const KINDS = driftingKinds('example.com').length;
const REPORT: Partial<RunOptions> = { conflicts: 'report' };
let stage: Stage;

/** `most`: of so many fields of each kind. */
export function tellOfDrift(open: () => Promise<SuiteServer>, most: number): void {
  beforeAll(async () => {
    stage = await openStage(await open(), most);
    expect(await stage.commit()).toEqual([]);
  }, 300_000);
  afterEach(() => stage.restore(), 300_000);
  afterAll(() => stage?.close(), 300_000);

  test.each(['changed', 'removed'] as const)(
    `every field of ${KINDS} kinds that another manager has %s is set back, and is reported`,
    async (deed) => {
      const drifted = await stage.drift(deed);
      tellCount(deed, drifted);
      expect(wrongOf(drifted, await stage.run(), isSetBack)).toEqual([]);
      expect(await stage.writes()).toEqual([]);
      expect(kindsWithout(drifted)).toEqual([]);
    },
    600_000,
  );

  test.each(['changed', 'removed'] as const)(
    "with `conflicts: report` what another manager has %s stays as far as it is that one's, and is reported",
    async (deed) => {
      const drifted = await stage.drift(deed);
      const seen = await stage.run(REPORT);
      expect(wrongOf(drifted, seen, isShared('kept'))).toEqual([]);
      expect(refusedOf(drifted, seen).length).toBeLessThan(drifted.length / 20);
      expect(await stage.writes(REPORT)).toEqual([]);
      expect(kindsWithout(drifted)).toEqual([]);
    },
    600_000,
  );

  test('a field that the manifest leaves to others stays as another manager has changed it', async () => {
    const names = namesOf(await stage.drift('changed'), await stage.run());
    expect(await stage.commit((target) => names.get(target))).toEqual([]);
    const drifted = (await stage.drift('changed')).filter(({ target }) => names.has(target));
    const seen = await stage.run();
    expect(wrongOf(drifted, seen, isShared('left'))).toEqual([]);
    expect(refusedOf(drifted, seen).length).toBeLessThan(drifted.length / 20);
    expect(await stage.writes()).toEqual([]);
    expect(kindsWithout(drifted)).toEqual([]);
  }, 600_000);

  test('what another manager has added beside stays; in what is one value it is set back, and is reported', async () => {
    const drifted = await stage.drift('added');
    tellCount('added', drifted);
    const check = (each: Drifted, seen: Seen) => (isInOurs(each) ? isAsBefore : isUntouched)(each, seen);
    expect(wrongOf(drifted, await stage.run(), check)).toEqual([]);
    expect(await stage.writes()).toEqual([]);
    expect(drifted.filter(isInOurs).length).toBeGreaterThan(0);
    expect(drifted.length - drifted.filter(isInOurs).length).toBeGreaterThan(0);
  }, 600_000);
}

function tellCount(deed: Deed, drifted: readonly Drifted[]): void {
  process.stdout.write(`${drifted.length} fields ${deed} of ${stage.targets.length} of ${KINDS} kinds\n`);
}

/** Of which nothing has drifted: then nothing was shown. */
function kindsWithout(drifted: readonly Drifted[]): readonly string[] {
  const seen = new Set(drifted.map(({ target }) => target.object.kind));
  return [...new Set(stage.targets.map(({ object }) => object.kind))].filter((kind) => !seen.has(kind));
}

type Check = (drifted: Drifted, seen: Seen) => string | undefined;

function wrongOf(drifted: readonly Drifted[], seen: (drifted: Drifted) => Seen, check: Check): readonly string[] {
  return drifted.flatMap((each) => {
    const wrong = check(each, seen(each));
    const { object, pointer } = each.target;
    return wrong === undefined ? [] : [`${object.kind} ${pointer} ${JSON.stringify(each.operation)}: ${wrong}`];
  });
}

/** What the server has filled in beside, for as long as the field was otherwise, may stay. */
function isSetBack({ before, after, target, operation }: Drifted, seen: Seen): string | undefined {
  const { lost, unlike, isConfigured, error, fields } = seen;
  // No manager can set that back.
  if (after.immutable === true) return error?.code === 'immutable-field' ? undefined : 'not reported as immutable';
  const wrong = target.key === 'with more' ? unlike(before) : lost(before);
  if (wrong.length > 0) return `not set back: ${wrong}`;
  const isNamed = fields.some(({ state, manager }) => state === 'set-back' && manager === EDITOR);
  const isOthers =
    operation.op !== 'remove' && target.key === undefined && valueAtPointer(after, target.pointer) !== undefined;
  return isConfigured && (isNamed || !isOthers) ? undefined : 'not reported';
}

function isAsBefore({ before }: Drifted, { unlike, isConfigured }: Seen): string | undefined {
  if (unlike(before).length > 0) return `not set back: ${unlike(before)}`;
  return isConfigured ? undefined : 'not reported';
}

/** What they have set is theirs, and said to be so, and all else ours; what cannot be both is refused, and stays. */
function isShared(state: FieldState): Check {
  return (drifted, seen) => {
    const { before, after, target } = drifted;
    const { lost, isConfigured, fields } = seen;
    if (isRefused(seen)) return undefined;
    if (target.key !== undefined) return isBothThere(drifted, seen);
    const both = overlay(before, after, '', target.whole ?? (target.isOneValue ? target.pointer : undefined));
    const wrong = lost(both).filter((line) => !isDropped(target, line));
    if (wrong.length > 0) return `neither theirs nor ours: ${wrong}`;
    if (!jsonEquals(both, before) && fields.every((field) => field.state !== state)) return `not reported as ${state}`;
    return isConfigured || jsonEquals(both, after) ? undefined : 'not reported as set back';
  };
}

/** The server takes it and stores nothing, as long as the affinity is None. */
function isDropped({ object }: Target, difference: string): boolean {
  return object.kind === 'Service' && difference.startsWith('/spec/sessionAffinityConfig/');
}

/** It is reported as an error, or kept unchanged because it would not be valid. */
function isRefused({ error, isHeld }: Seen): boolean {
  return error !== undefined || isHeld;
}

function refusedOf(drifted: readonly Drifted[], seen: (drifted: Drifted) => Seen): readonly Drifted[] {
  return drifted.filter((each) => isRefused(seen(each)));
}

/** A changed key is another item beside ours. */
function isBothThere({ before, after }: Drifted, { lost, isConfigured }: Seen): string | undefined {
  const wrong = [...lost(before), ...lost(after)];
  return isConfigured && wrong.length === 0 ? undefined : `not both: ${wrong}`;
}

/** The one with all that the other has otherwise. An item that is missing from a list has no owner. */
function overlay(ours: JsonObject, theirs: JsonObject, path: string, whole: string | undefined): JsonObject;
function overlay(ours: Json, theirs: Json | undefined, path: string, whole: string | undefined): Json;
function overlay(ours: Json, theirs: Json | undefined, path: string, whole: string | undefined): Json {
  if (theirs === undefined) return ours;
  if (path === whole) return theirs;
  if (Array.isArray(ours) && Array.isArray(theirs)) {
    if (ours.length !== theirs.length) return ours;
    return ours.map((item, index) => overlay(item, theirs[index], `${path}/${index}`, whole));
  }
  if (!isObject(ours) || !isObject(theirs)) return theirs;
  const keys = Object.keys({ ...ours, ...theirs });
  const each = (key: string) =>
    overlay(ours[key] ?? theirs[key] ?? null, theirs[key], `${path}/${pointerToken(key)}`, whole);
  return Object.fromEntries(keys.map((key) => [key, each(key)]));
}

function isUntouched({ after }: Drifted, { unlike, isConfigured }: Seen): string | undefined {
  return unlike(after).length === 0 && !isConfigured ? undefined : `does not stay: ${unlike(after)}`;
}

/** Fields as a run has named them, as the annotation has them; what is skep's own is no other's to set. */
function namesOf(drifted: readonly Drifted[], seen: (drifted: Drifted) => Seen): ReadonlyMap<Target, string> {
  const named = drifted.map((each): [Target, string] => {
    const paths = seen(each).fields.map(({ path }) => path);
    return [each.target, [...new Set(paths.filter((path) => !OWN.test(path)))].join(', ')];
  });
  return new Map(named.filter(([, paths]) => paths !== ''));
}

const OWN = /^\/metadata\/annotations\/skep\.dev~1/;

function isInOurs({ target }: Drifted): boolean {
  return target.whole !== undefined || target.isOneValue;
}
