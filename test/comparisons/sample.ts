// Recorded cases as a file: one a line, the same bytes whenever they are recorded again. What a server chooses (uids, times,
// addresses, ports) is written as a symbol.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeObject, ManagedFieldsEntry } from '#kubernetes/rules/object.ts';
import { canonicalJson } from '#std/json.ts';
import type { Case } from './tally.ts';

export const GROUP = 'verdicts.example.com';
export const MANAGER = 'skep-verdicts';
const FILE = join(import.meta.dirname, 'sample.jsonl');

/** Names that differ from one recording to the next, and what they are called in it. */
export type Names = Readonly<Record<string, string>>;

export function writeSample(cases: readonly Case[], names: Names): void {
  const lines = cases.map((each) => JSON.stringify({ ...each, live: settled(each.live) }));
  writeFileSync(FILE, lines.map((line) => `${symbols(line, names)}\n`).join(''));
}

export function readSample(): Case[] {
  const lines = readFileSync(FILE, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Case);
}

/** Without the status and the traces that controllers leave of it: sooner or later, and no one compares them. */
function settled({ status: _, ...live }: KubeObject): KubeObject {
  const { resourceVersion: _version, generation: _generation, managedFields = [], ...metadata } = live.metadata;
  const kept = managedFields.filter(({ manager, subresource }) => {
    return manager !== 'kube-controller-manager' && subresource !== 'status';
  });
  // The server sorts them by their times, in seconds.
  const sorted = kept.sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
  const entries = managedFields.length === 0 ? {} : { managedFields: sorted };
  return { ...live, metadata: { ...metadata, ...entries } };
}

function orderOf({ time: _, ...entry }: ManagedFieldsEntry): string {
  return canonicalJson(entry);
}

const UID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;
const NODE_PORT = /(?<="nodePort\\?":)3\d{4}/g;

function symbols(line: string, names: Names): string {
  const { live } = JSON.parse(line) as Case;
  let text = line;
  for (const [name, symbol] of Object.entries({ ...names, ...addresses(live) })) text = text.replaceAll(name, symbol);
  const ports = [...new Set(text.match(NODE_PORT))].sort();
  return text
    .replaceAll(UID, '00000000-0000-4000-8000-000000000000')
    .replaceAll(TIME, '2026-01-01T00:00:00Z')
    .replaceAll(NODE_PORT, (port) => String(30_001 + ports.indexOf(port)));
}

function addresses({ spec }: KubeObject): Names {
  const { clusterIP } = (spec ?? {}) as { readonly clusterIP?: string };
  return clusterIP === undefined || clusterIP === 'None' || clusterIP === '' ? {} : { [clusterIP]: '10.96.0.99' };
}
