// As many versions of servers as the official registry has: the sample registry under many names.

import assert from 'node:assert/strict';
import { parseRegistry } from '#registry/catalogue/formats/registry.ts';
import { registryOf } from '../manifests.ts';

/** Three versions of each: as many as the official registry has. */
export const NAMES = 7000;
export const VERSIONS = ['0.9.0', '1.0.0', '1.1.0'];

/** The sample registry under many names, in the official format, in three versions each. */
export function versionsOf(names: number): string {
  const parsed = parseRegistry('toolhive', JSON.stringify(registryOf(names)), 'registry.json');
  assert(parsed.ok);
  const servers = parsed.entries.flatMap(({ document }) => VERSIONS.map((version) => ({ ...document, version })));
  return JSON.stringify({ version: '1.0.0', meta: {}, data: { servers } });
}
