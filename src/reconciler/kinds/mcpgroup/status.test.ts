import { expect, test } from 'vitest';
import type { JsonObject } from '#std/json.ts';
import type { Observed, Resource } from '../kind.ts';
import { MCPGroup } from './index.ts';

const SERVER = {
  apiVersion: 'toolhive.stacklok.dev/v1alpha1',
  kind: 'MCPServer',
  metadata: { name: 'clock' },
  spec: { groupRef: 'team' },
};

function group(status?: JsonObject): Resource {
  const metadata = { name: 'team', namespace: 'agents', generation: 1 };
  return {
    apiVersion: 'toolhive.stacklok.dev/v1alpha1',
    kind: 'MCPGroup',
    metadata,
    spec: {},
    ...(status && { status }),
  };
}

function observe(unlisted: readonly string[]): Observed {
  return {
    view: { find: () => undefined, all: (kind) => (kind === 'MCPServer' && !unlisted.includes(kind) ? [SERVER] : []) },
    unlisted: new Set(unlisted),
    refusals: [],
    failures: [],
    now: '2026-11-21T12:00:00Z',
  };
}

test('a group whose members cannot be listed is Failed and keeps its members, and is Ready after members can be listed', () => {
  const before = MCPGroup.status(group(), observe([]));
  expect(before).toMatchObject({ phase: 'Ready', servers: ['clock'], serverCount: 1 });
  const failed = MCPGroup.status(group(before), observe(['MCPServer']));
  expect(failed).toMatchObject({ phase: 'Failed', servers: ['clock'], serverCount: 1 });
  expect(failed.conditions).toMatchObject([
    { type: 'MCPServersChecked', status: 'False', reason: 'ListMCPServersCheckFailed' },
    { type: 'Ready', status: 'False', reason: 'MembersUnknown' },
  ]);
  expect(MCPGroup.status(group(failed), observe([]))).toMatchObject({ phase: 'Ready', servers: ['clock'] });
  expect(MCPGroup.status(group(before), observe(['Secret']))).toEqual(before);
});
