// Reading manifests: YAML, schema and CEL rules beside a bare parse of the same texts, and how the cost grows.

import assert from 'node:assert/strict';
import { parse } from 'yaml';
import { bundledSchema } from '#kubernetes/rules/schemas/bundled.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { type Loaded, load } from '#reconciler/run/read/load.ts';
import type { LoadCache, SourceFile } from '#reconciler/run/read/source-file.ts';
import { validate } from '#reconciler/run/validate.ts';
import { sha256 } from '#std/hash.ts';
import { API_GROUP, fleetOf } from './manifests.ts';
import { medians } from './measure.ts';
import type { Report, Row } from './table.ts';

const SERVERS = 5000;
const FEW_SERVERS = 500;
const ROUNDS = 3;

export async function benchLoad(): Promise<Report> {
  const documents = documentsOf(SERVERS);
  const kept: LoadCache = new Map();
  function loadAll(cache: LoadCache): Loaded {
    return load({ source: 'bench', documents, kinds: KINDS, apiGroup: API_GROUP, builtin: bundledSchema, cache });
  }
  const { problems, resources } = loadAll(kept);
  assert.deepEqual(problems, []);
  assert.equal(resources.length, documents.length);

  const { cold, warm, bare } = await medians(ROUNDS, {
    cold: () => loadAll(new Map()),
    warm: () => loadAll(kept),
    bare: () => documents.map(({ text }): unknown => parse(text)),
  });
  const name = `load of ${documents.length} manifests`;
  const against = 'parse() of the package yaml';
  const rows = [
    { name: `${name}, nothing cached`, ours: cold, baseline: bare, unit: 'ms', against },
    { name: `${name}, unchanged`, ours: warm, baseline: bare, unit: 'ms', against },
    await growth(),
  ];
  return { rows, notices: [] };
}

/** A ratio far above 1 means that something looks at everything for each manifest. */
async function growth(): Promise<Row> {
  const [many, few] = [validator(SERVERS), validator(FEW_SERVERS)];
  // As many manifests in both.
  const times = SERVERS / FEW_SERVERS;
  const measured = await medians(ROUNDS, {
    many,
    few: () => {
      for (let time = 0; time < times; time += 1) few();
    },
  });
  const [ours, baseline] = [measured.many, measured.few].map((ms) => (ms * 1000) / SERVERS);
  assert(ours !== undefined && baseline !== undefined);
  const against = `the same with ${FEW_SERVERS} servers`;
  return { name: `validate ${SERVERS} servers, unchanged: one`, ours, baseline, unit: 'µs', against };
}

function validator(servers: number): () => void {
  const documents = documentsOf(servers);
  const cache: LoadCache = new Map();
  function run(): void {
    const { problems } = validate({ documents, kinds: KINDS, apiGroup: API_GROUP, cache });
    assert.deepEqual(problems, []);
  }
  run();
  return run;
}

function documentsOf(servers: number): SourceFile[] {
  return fleetOf(servers).map(({ path, content }) => ({ path, oid: sha256(content), text: content }));
}
