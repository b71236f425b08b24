// A lock that is too large for one ConfigMap: its parts are mounted into the pods of the proxy, and are the whole lock together.

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RUN_CONFIG_FILE, type RunConfig } from '#contracts/run-config.ts';
import { heldLock } from '#contracts/tool-lock/held.ts';
import { joinLock, SHARD_FILE } from '#contracts/tool-lock/shards.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { isObject } from '#std/json.ts';
import { FOLDER, readFixture, SETTINGS, viewAround } from './fixture.ts';

const kind = KINDS.find(({ kind: name }) => name === 'MCPServer');

function lockOf(count: number) {
  const tools = Array.from({ length: count }, (_, index) => ({ name: `${'n'.repeat(100)}${index}` }));
  return { server: { kind: 'MCPServer' as const }, tools, prompts: [{ name: 'ask' }] };
}

function childrenWith(count: number): readonly KubeObject[] {
  if (kind === undefined) throw new Error('no kind MCPServer');
  const file = join(FOLDER, 'mcpserver', 'locked-as-reviewed.yaml');
  const { resource } = readFixture(kind, file, 'locked-as-reviewed');
  const metadata = { name: 'weather', namespace: 'agents' };
  const lock = { apiVersion: 'skep.dev/v1', kind: 'ToolLock', metadata, spec: lockOf(count) };
  return kind.children(resource, viewAround([lock]), SETTINGS);
}

function textIn(objects: readonly KubeObject[], name: string, key: string): string | undefined {
  const data = objects.find((object) => object.kind === 'ConfigMap' && object.metadata.name === name)?.data;
  const text = isObject(data) ? data[key] : undefined;
  return typeof text === 'string' ? text : undefined;
}

const partsOf = (objects: readonly KubeObject[]) =>
  objects.flatMap(({ kind: name, metadata }) =>
    name === 'ConfigMap' && metadata.name.includes('-tools-lock-') ? [metadata.name] : [],
  );

test.each([
  { tools: 10, parts: [] },
  { tools: 8000, parts: ['weather-tools-lock-1', 'weather-tools-lock-2'] },
  { tools: 15_000, parts: ['weather-tools-lock-1', 'weather-tools-lock-2', 'weather-tools-lock-3'] },
])('$tools tools with long names', ({ tools, parts }) => {
  const objects = childrenWith(tools);
  expect(partsOf(objects)).toEqual(parts);
  const config: RunConfig = JSON.parse(textIn(objects, 'weather-runconfig', RUN_CONFIG_FILE) ?? '');
  const { tools_lock: lock } = config;
  if (lock === undefined) throw new Error('no lock in the configuration');
  const joined = joinLock(lock, ({ config_map }) => textIn(objects, config_map, SHARD_FILE));
  expect(joined).toMatchObject({ lock: heldLock('enforce', lockOf(tools)) });
  for (const name of parts) {
    expect(Buffer.byteLength(textIn(objects, name, SHARD_FILE) ?? '')).toBeLessThan(1_000_000);
    const pod = JSON.stringify(objects.find((object) => object.kind === 'Deployment')?.spec);
    expect(pod).toContain(`"configMap":{"name":"${name}"}`);
  }
  for (const part of lock.parts ?? []) {
    const without = joinLock(lock, (each) =>
      each === part ? undefined : textIn(objects, each.config_map, SHARD_FILE),
    );
    expect(without).toHaveProperty('fault');
  }
});
