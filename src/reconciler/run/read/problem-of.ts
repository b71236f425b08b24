// What is found about a resource, as a problem at its place in the manifest.

import type { Finding } from '#kubernetes/rules/finding.ts';
import type { Problem } from '#std/problem.ts';
import type { LoadedResource } from './load.ts';

export function problemOf(loaded: LoadedResource, finding: Finding): Problem {
  const { code, severity, message, pointer, at } = finding;
  return { code, severity, message, pointer, place: loaded.place(pointer, at), resource: loaded.id };
}
