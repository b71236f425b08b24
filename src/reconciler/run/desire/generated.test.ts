import { describe, expect, it } from 'vitest';
import { idOf, type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import type { JsonObject } from '#std/json.ts';
import { diff } from '../diff/diff.ts';
import { NO_REUSE } from '../reuse.ts';
import type { Desired } from './desire.ts';
import { keepValues, withValues } from './generated.ts';

const BYTES = 4;
const SECRET: KubeObject = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'hmac', namespace: 'agents' } };
const DESIRED: Desired = { object: SECRET, id: idOf(SECRET), key: keyOf(idOf(SECRET)), random: { key: BYTES } };

/** Returns the bytes as a Secret stores them: base64 of their base64 text. */
function stored(bytes: readonly number[]): string {
  return Buffer.from(Buffer.from(bytes).toString('base64')).toString('base64');
}

function kept(live: KubeObject | undefined): Desired | undefined {
  const desires = { objects: [DESIRED], heldOwners: new Set<string>() };
  return keepValues(desires, () => live, NO_REUSE).objects[0];
}

describe('a value that is generated once', () => {
  it('is generated later if it does not exist', () => {
    expect(kept(undefined)).toEqual({ ...DESIRED, object: { ...SECRET, data: {} } });
  });

  it('is kept if it exists', () => {
    const data = { key: stored([1, 2, 3, 4]) };
    const { random: _made, ...rest } = DESIRED;
    expect(kept({ ...SECRET, data })).toEqual({ ...rest, object: { ...SECRET, data } });
  });

  it.each([
    { reason: 'the key is missing', data: { other: stored([1, 2, 3, 4]) } },
    { reason: 'it is too short', data: { key: stored([1, 2, 3]) } },
    { reason: 'it is nothing but zeros', data: { key: stored([0, 0, 0, 0]) } },
    { reason: 'it is not base64', data: { key: Buffer.from('%%%').toString('base64') } },
  ] satisfies { reason: string; data: JsonObject }[])('is generated again if $reason', ({ data }) => {
    const desired = kept({ ...SECRET, data });
    expect(desired).toEqual({ ...DESIRED, object: { ...SECRET, data: {} } });
    const live = { ...SECRET, data };
    const living = () => live;
    const typeOf = () => undefined;
    const compared = diff({
      ...{ desired: desired === undefined ? [] : [desired], living, live: [live], typeOf },
      ...{ manager: 'skep-test', applySet: 'ours', force: true },
    }).compared[0];
    expect(compared).toMatchObject({
      result: 'changed',
      diff: [{ path: '.data.key', after: '*** (generated at random)' }],
    });
  });

  it('is generated in its stored form', () => {
    const made = withValues(SECRET, DESIRED.random, (bytes) => new Uint8Array(bytes).fill(7));
    expect(made.data).toEqual({ key: stored([7, 7, 7, 7]) });
    expect(kept(made)?.random).toBeUndefined();
  });
});
