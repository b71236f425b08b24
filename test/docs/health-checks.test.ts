// How healthy Flux and Argo CD take our kinds for: the expressions of docs/with-flux.md and the script in manifests/argocd, on
// statuses, beside what a run of skep takes them for.

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { dynamicValue } from '#kubernetes/rules/cel/dynamic.ts';
import { kubernetesEnvironment } from '#kubernetes/rules/cel/environment.ts';
import { compileExpression } from '#kubernetes/rules/cel/expression.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { stateOf } from '#reconciler/run/settle/readiness.ts';
import type { JsonObject } from '#std/json.ts';
import { PAGES, ROOT } from './pages.ts';

interface Row {
  readonly reason: string;
  readonly status?: JsonObject;
  /** Of skep; absent: it does not ask yet. */
  readonly skep?: ReturnType<typeof stateOf>;
  readonly flux: 'current' | 'failed' | 'waits';
  readonly argo: 'Healthy' | 'Progressing' | 'Degraded' | 'Suspended';
}

const GENERATION = 3;

function withReady(status: string, reason: string, more: JsonObject = {}, observedGeneration = GENERATION): JsonObject {
  const ready = { type: 'Ready', status, reason, message: 'a "message"', observedGeneration };
  return { observedGeneration, conditions: [{ type: 'Valid', status: 'True', reason: 'Valid' }, ready], ...more };
}

const ROWS: readonly Row[] = [
  { reason: 'no status yet', flux: 'waits', argo: 'Progressing' },
  { reason: 'a status without conditions', status: { phase: 'Pending' }, flux: 'waits', argo: 'Progressing' },
  {
    reason: 'pods that come',
    status: withReady('False', 'NotReady', { phase: 'Pending' }),
    skep: 'progressing',
    flux: 'waits',
    argo: 'Progressing',
  },
  {
    reason: 'pods that run',
    status: withReady('True', 'Ready', { phase: 'Running' }),
    skep: 'ready',
    flux: 'current',
    argo: 'Healthy',
  },
  {
    reason: 'a status of the version before',
    status: withReady('True', 'Ready', { phase: 'Running' }, GENERATION - 1),
    flux: 'waits',
    argo: 'Progressing',
  },
  {
    reason: 'a failure of the version before',
    status: withReady('False', 'NotReady', { phase: 'Failed' }, GENERATION - 1),
    flux: 'waits',
    argo: 'Progressing',
  },
  {
    reason: 'what has failed',
    status: withReady('False', 'NotReady', { phase: 'Failed' }),
    skep: 'failed',
    flux: 'failed',
    argo: 'Degraded',
  },
  {
    reason: 'what someone scaled to zero',
    status: withReady('False', 'ScaledToZero', { phase: 'Stopped' }),
    skep: 'ready',
    flux: 'current',
    argo: 'Suspended',
  },
  { reason: 'settings in use', status: withReady('True', 'Ready'), skep: 'ready', flux: 'current', argo: 'Healthy' },
  {
    reason: 'settings that cannot be used',
    status: withReady('False', 'Invalid'),
    skep: 'failed',
    flux: 'failed',
    argo: 'Degraded',
  },
];

function objectWith(status: JsonObject | undefined): JsonObject {
  const metadata = { name: 'x', generation: GENERATION };
  return { kind: 'MCPServer', metadata, spec: {}, ...(status === undefined ? {} : { status }) };
}

const KUSTOMIZATION = PAGES.find(({ path }) => path === 'docs/with-flux.md')?.blocks.find(({ text }) =>
  text.includes('healthCheckExprs'),
);
const { current, failed } = parse(KUSTOMIZATION?.text ?? '').spec.healthCheckExprs[0];

/** An expression that asks for what is not there yet is in error: Flux asks again until its timeout. */
function holds(text: string, object: JsonObject): boolean {
  const environment = kubernetesEnvironment().clone();
  for (const name of ['metadata', 'spec', 'status']) environment.registerVariable(name, 'dyn');
  const compiled = compileExpression({ environment, objects: new Map() }, text);
  if (compiled.type !== 'expression') throw new Error(`${text}: ${compiled.reason}`);
  const found = compiled.evaluate(dynamicValue(object) as Record<string, unknown>);
  return found.type === 'value' && found.value === true;
}

test.each(ROWS)('Flux, for $reason: $flux', ({ status, flux }) => {
  const object = objectWith(status);
  const found = holds(failed, object) ? 'failed' : holds(current, object) ? 'current' : 'waits';
  expect(found).toBe(flux);
  // In whatever order they are asked.
  expect(holds(failed, object) && holds(current, object)).toBe(false);
});

test.each(ROWS.filter(({ skep }) => skep !== undefined))('skep itself, for $reason: $skep', ({ status = {}, skep }) => {
  expect(stateOf(status)).toBe(skep);
});

const SCRIPT = join(ROOT, 'manifests/argocd/health.lua');

/** Argo CD has Lua 5.1. */
const lua = ['lua5.1', 'luajit', 'lua'].find((program) => spawnSync(program, ['-v']).error === undefined);
if (lua === undefined) process.stderr.write('the script for Argo CD is not run: put lua5.1 on PATH\n');

function luaOf(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(luaOf).join(', ')}}`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, each]) => `[${JSON.stringify(name)}] = ${luaOf(each)}`)
    .join(', ')}}`;
}

test.skipIf(lua === undefined).each(ROWS)('Argo CD, for $reason: $argo', ({ status, argo }) => {
  const script = `obj = ${luaOf(objectWith(status))}\nlocal function check()\n${readFileSync(SCRIPT, 'utf8')}\nend\nlocal hs = check()\nprint(hs.status)\nassert(type(hs.message) == "string")`;
  expect(spawnSync(lua ?? '', ['-'], { input: script, encoding: 'utf8' })).toMatchObject({
    stdout: `${argo}\n`,
    status: 0,
  });
});

test('the script is there for every kind', () => {
  const { configMapGenerator } = parse(readFileSync(join(ROOT, 'manifests/argocd/kustomization.yaml'), 'utf8'));
  const names = KINDS.map(({ kind }) => `resource.customizations.health.toolhive.stacklok.dev_${kind}=health.lua`);
  expect(configMapGenerator[0].files).toEqual(names.toSorted());
  expect(readdirSync(join(ROOT, 'manifests/argocd')).toSorted()).toEqual(['health.lua', 'kustomization.yaml']);
});
