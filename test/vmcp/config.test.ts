// Which configurations a virtual server starts with, and what it says of the others.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { formatVmcpConfig, type VmcpConfig } from '../../src/contracts/vmcp-config.ts';
import { checkVirtualConfig } from '../../src/main/services/vmcp/validate.ts';
import { createWatchedFiles } from '../../src/main/services/watched-files.ts';
import { Failure } from '../../src/std/failure.ts';
import { configOf } from './world.ts';

const folder = mkdtempSync(join(tmpdir(), 'skep-vmcp-'));
afterAll(() => rmSync(folder, { recursive: true }));

const BACKENDS = { wiki: { url: 'http://wiki:8080/mcp' } };
let count = 0;

/** Warnings, or the failure. */
function check(text: string): readonly string[] | string {
  count += 1;
  const file = join(folder, `${count}.yaml`);
  writeFileSync(file, text);
  try {
    return checkVirtualConfig(createWatchedFiles(), file);
  } catch (error) {
    if (error instanceof Failure) return `${error.code} ${error.message.replace(`${file}: `, '')}`;
    throw error;
  }
}

function checkSettings(settings: Partial<VmcpConfig>) {
  return check(formatVmcpConfig(configOf(BACKENDS, settings)));
}

it('what skep writes is valid', () => {
  expect(checkSettings({})).toEqual([]);
});

describe('is refused', () => {
  it.each([
    ['a file that is no configuration', 'a: 1', 'vmcp-config-invalid /name must have required property'],
    ['a file that is no YAML', 'a: [', 'vmcp-config-invalid'],
  ])('%s', (_name, text, expected) => {
    const found = check(text);
    expect(found.slice(0, 19)).toBe(expected.slice(0, 19));
  });

  it('a token of a provider where nobody can log in', () => {
    const wiki = { type: 'upstream_inject', upstreamInject: { providerName: 'p' } } as const;
    expect(checkSettings({ outgoingAuth: { source: 'inline', backends: { wiki } } })).toBe(
      'vmcp-config-invalid /outgoingAuth/backends/wiki/type is upstream_inject, which needs /authServer',
    );
  });

  it('two backends of one name', () => {
    const config = configOf(BACKENDS);
    expect(check(formatVmcpConfig({ ...config, backends: [...config.backends, ...config.backends] }))).toBe(
      'vmcp-config-invalid /backends has wiki twice',
    );
  });

  it.each<[string, Partial<VmcpConfig>]>([
    ['/incomingAuth/type', { incomingAuth: { type: 'local', authz: { type: 'none' } } }],
  ])('%s, which has no effect yet', (pointer, settings) => {
    expect(checkSettings(settings)).toContain(`vmcp-setting-not-supported ${pointer} is not supported by this release`);
  });

  const STEP = { id: 'a', type: 'tool', tool: 'wiki.find' } as const;

  it.each<[string, string, Partial<NonNullable<VmcpConfig['compositeTools']>[number]>]>([
    [
      'of steps that wait for each other',
      '/steps/0/dependsOn the steps wait',
      { steps: [{ ...STEP, dependsOn: ['a'] }] },
    ],
    [
      'with a template that cannot be read',
      '/steps/0/condition no valid Go template',
      { steps: [{ ...STEP, condition: '{{' }] },
    ],
    [
      'with a step that lacks its tool',
      "/steps/0/tool must be set when type is 'tool'",
      { steps: [{ id: 'a', type: 'tool' }] },
    ],
    ['with a setting of another type', '/steps/0/message must not be set', { steps: [{ ...STEP, message: 'x' }] }],
    [
      'with tries of none',
      '/steps/0/onError/retryCount must be at least 1',
      { steps: [{ ...STEP, onError: { action: 'retry' } }] },
    ],
    [
      'with a pattern beyond RE2',
      '/parameters the pattern (?=a) cannot be used',
      { parameters: { type: 'object', properties: { q: { type: 'string', pattern: '(?=a)' } } } },
    ],
    [
      'with an output that is required and absent',
      '/output/required names b',
      { output: { properties: { a: { type: 'string', value: 'x' } }, required: ['b'] } },
    ],
  ])('a workflow %s', (_, words, more) => {
    const compositeTools = [{ name: 'w', description: 'w', steps: [STEP], ...more }];
    expect(checkSettings({ compositeTools })).toContain(`vmcp-config-invalid /compositeTools/0${words}`);
  });

  it('a policy that is none', () => {
    const incomingAuth = { type: 'anonymous', authz: { type: 'cedar', policies: ['permit('] } } as const;
    expect(
      checkSettings({ incomingAuth: { ...incomingAuth, authz: { ...incomingAuth.authz, policies: ['permit('] } } }),
    ).toContain('policy-file-invalid /incomingAuth/authz/policies: policy 1');
  });
});

it('warns of names that are shortened, and of settings about backends that there are none of', () => {
  const { aggregation, operational } = configOf(BACKENDS);
  const name = 'x'.repeat(60);
  const tools = [
    { workload: 'wiki', overrides: { find: { name } }, excludeAll: false },
    { workload: 'gone', excludeAll: true },
  ];
  const conflictResolutionConfig = { prefixFormat: '{workload}_', priorityOrder: ['lost'] };
  const timeouts = { default: '30s', perWorkload: { lost: '1s' } };
  expect(
    checkSettings({
      aggregation: { ...aggregation, tools, conflictResolutionConfig },
      operational: { ...operational, timeouts },
    }),
  ).toEqual([
    `the tool wiki_${name} has 65 characters: clients see it shortened to 64`,
    '/aggregation/tools/1/workload: there is no backend gone',
    '/aggregation/conflictResolutionConfig/priorityOrder/0: there is no backend lost',
    '/operational/timeouts/perWorkload: there is no backend lost',
  ]);
});
