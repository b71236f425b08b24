// Turns a finding about a resource into a problem at its place in the manifest.

import type { Finding } from '#kubernetes/rules/finding.ts';
import type { Problem } from '#std/problem.ts';
import type { LoadedResource } from './load.ts';
import type { Sourced } from './sourced.ts';

/**
 * Returns the problem. For an object applied by hand, the place is left out, because finding the place is as slow as
 * loading the object.
 */
export function problemOf(loaded: LoadedResource & Pick<Sourced, 'byHand'>, finding: Finding): Problem {
  const { code, severity, message, pointer, at } = finding;
  const problem = { code, severity, message, pointer, resource: loaded.id };
  return loaded.byHand === true ? problem : { ...problem, place: loaded.place(pointer, at) };
}
