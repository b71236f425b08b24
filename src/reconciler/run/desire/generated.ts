// Generates the random values of a Secret when the Secret is first applied, and keeps them in later runs.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import { isObject, type JsonObject, jsonEquals } from '#std/json.ts';
import type { ResourceId } from '#std/problem.ts';
import type { Reuse } from '../reuse.ts';
import type { Desired, Desires } from './desire.ts';

export type Random = (bytes: number) => Uint8Array;

/**
 * Adds the values of the live Secrets. Missing and malformed values stay in `random`; `withValues` generates them at
 * the apply.
 */
export function keepValues<D extends Desires>(
  desires: D,
  living: (id: ResourceId) => KubeObject | undefined,
  reuse: Reuse,
): D {
  const objects = desires.objects.map((desired): Desired => {
    if (desired.random === undefined) return desired;
    const live = living(desired.id);
    return reuse.result({
      stage: 'generated',
      key: desired.key,
      given: [desired, live],
      questions: {},
      work: () => kept(desired, live),
      equal: jsonEquals,
    });
  });
  return { ...desires, objects };
}

function kept({ random = {}, ...desired }: Desired, live: KubeObject | undefined): Desired {
  const data = isObject(live?.data) ? live.data : {};
  const sizes = Object.entries(random);
  const sound = sizes.filter(([key, bytes]) => isSound(data[key], bytes)).map(([key]) => key);
  const missing = sizes.filter(([key]) => !sound.includes(key));
  const values = Object.fromEntries(sound.map((key) => [key, data[key]]));
  return {
    ...desired,
    object: withData(desired.object, values),
    random: missing.length === 0 ? undefined : Object.fromEntries(missing),
  };
}

/** Returns the object with a new random value for each key. `sizes` are the bytes by key. */
export function withValues(
  object: KubeObject,
  sizes: Readonly<Record<string, number>> | undefined,
  random: Random,
): KubeObject {
  if (sizes === undefined) return object;
  const made = Object.entries(sizes).map(([key, bytes]) => [key, base64(base64(random(bytes)))]);
  return withData(object, Object.fromEntries(made));
}

function withData(object: KubeObject, values: JsonObject): KubeObject {
  const data = isObject(object.data) ? object.data : {};
  return { ...object, data: { ...data, ...values } };
}

/** Returns true if the value is the doubly encoded base64 of `bytes` bytes that are not all zero. */
function isSound(value: unknown, bytes: number): boolean {
  if (typeof value !== 'string') return false;
  const decoded = Buffer.from(Buffer.from(value, 'base64').toString('latin1'), 'base64');
  return decoded.length === bytes && decoded.some((byte) => byte !== 0);
}

function base64(data: string | Uint8Array): string {
  return Buffer.from(data).toString('base64');
}
