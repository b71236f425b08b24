// Whether a server and `skep validate` agree about a manifest: what only rules, references and policies tell is left out,
// since no server can know it.

import { bundledSchema } from '#kubernetes/rules/schemas/bundled.ts';
import { VERSIONS } from '#reconciler/kinds/crd.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import type { Kind } from '#reconciler/kinds/kind.ts';
import { load } from '#reconciler/run/read/load.ts';
import { sha256 } from '#std/hash.ts';
import type { JsonObject } from '#std/json.ts';
import { formatProblem } from '#std/problem.ts';
import { seeded } from '../harness/random.ts';
import { readFixtures } from '../reconciler/kinds/fixture.ts';
import type { Api } from '../recordings/api.ts';
import { type Mutation, mutated } from './mutate.ts';

export interface Site {
  readonly api: Api;
  readonly group: string;
  readonly namespace: string;
}

export interface Disagreement {
  readonly kind: string;
  readonly number: number;
  readonly what: string;
  readonly ours: string;
  readonly theirs: string;
}

/** `count` mutations of the `full*` fixtures of a kind, in either version: always the same for the same seed. */
export function mutationsOf(kind: Kind, seed: number, count: number, { group, namespace }: Site): Mutation[] {
  const random = seeded(seed ^ Number.parseInt(sha256(kind.kind).slice(0, 8), 16));
  const originals = readFixtures(kind)
    .filter(({ name }) => name.startsWith('full'))
    .map(({ written }) => ({ ...written, metadata: { ...(written.metadata as JsonObject), namespace } }));
  return Array.from({ length: count }, () => {
    const original = random.pick(originals);
    return mutated(random, { ...original, apiVersion: `${group}/${random.pick(VERSIONS)}` });
  });
}

/** Found here, but a server takes it: it cannot check that either, or knows it only later. */
const TAKEN_BY_SERVERS: ReadonlySet<string> = new Set(['schema-unchecked', 'cel-unsupported']);

/** What is wrong by `skep validate`, one line each; empty where nothing is. */
export function ourVerdict(text: string, apiGroup: string): string {
  const documents = [{ path: 'mutation.json', oid: sha256(text), text }];
  const { problems } = load({ source: 'mutations', documents, kinds: KINDS, apiGroup, builtin: bundledSchema });
  const errors = problems.filter(({ severity, code }) => severity === 'error' && !TAKEN_BY_SERVERS.has(code));
  return errors.map(formatProblem).join('\n');
}

/** What a server says against it, as a dry run; empty where it takes it. */
async function theirVerdict({ api, group, namespace }: Site, kind: Kind, text: string): Promise<string> {
  const version = String(JSON.parse(text).apiVersion).split('/')[1];
  const path = `/apis/${group}/${version}/namespaces/${namespace}/${kind.plural}`;
  const query = { dryRun: 'All', fieldValidation: 'Strict' };
  const answer = await api.call({ method: 'POST', path, query, contentType: 'application/json', body: text });
  if (answer.status === 201) return '';
  const { message } = answer.body as JsonObject;
  return `${answer.status} ${message}`;
}

export async function disagreements(site: Site, kind: Kind, mutations: readonly Mutation[]): Promise<Disagreement[]> {
  const found: Disagreement[] = [];
  const queue = [...mutations.entries()];
  async function work(): Promise<void> {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [number, { what, text }] = next;
      const [ours, theirs] = [ourVerdict(text, site.group), await theirVerdict(site, kind, text)];
      if ((ours === '') !== (theirs === '')) found.push({ kind: kind.kind, number, what, ours, theirs });
    }
  }
  await Promise.all(Array.from({ length: 8 }, work));
  return found.sort((a, b) => a.number - b.number);
}

/** For people: what was done, and who says what. */
export function reported(found: readonly Disagreement[]): string {
  return found
    .map(({ kind, number, what, ours, theirs }) => {
      return `${kind} #${number}: ${what}\n  skep:   ${ours || 'valid'}\n  server: ${theirs.slice(0, 1000) || 'taken'}`;
    })
    .join('\n');
}
