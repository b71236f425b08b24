// Tests the content of plan files, and which files are refused.

import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { Failure } from '#std/failure.ts';
import { digest, sha256 } from '#std/hash.ts';
import { checkBinding } from './binding.ts';
import type { PlanFile } from './format.ts';
import { formatPlanFile, type PlanBinding, parsePlanFile, planFileOf } from './plan-file.ts';

const HERE: PlanBinding = {
  tool: { name: 'skep/1', digest: sha256('tool') },
  instance: 'prod',
  cluster: { homeNamespace: 'skep', uid: 'home' },
  settings: { apply: sha256('apply'), images: sha256('images') },
};

const RESOURCE = { apiVersion: 'v1', kind: 'Secret', namespace: 'tools', name: 'password' };
const OBJECT = { ...RESOURCE, metadata: { name: 'password', namespace: 'tools' }, data: { password: 'aHVudGVyMg==' } };

function file(key: Uint8Array | undefined): PlanFile {
  const diff = [{ path: '/data/password', before: '*** (before)', after: '*** (after)' }];
  const update = {
    action: 'update',
    resource: RESOURCE,
    key: '/Secret/tools/password',
    object: OBJECT,
    uid: 'u',
    diff,
  } as const;
  return planFileOf({
    binding: HERE,
    sources: [
      { name: 'fleet', repository: 'https://git.example.com/fleet.git', ref: 'branch main', commit: 'a'.repeat(40) },
    ],
    createdAt: '2026-01-01T00:00:00.000Z',
    prepared: {
      plan: {
        batches: [{ name: 'apply Secret', changes: [update] }],
        held: [],
        unchanged: [],
        waiting: [],
        approved: [],
        within: [],
      },
      snapshot: { find: () => OBJECT },
    },
    key,
  });
}

const GOOD = file(Buffer.from('key'));

function altered(changes: object): string {
  const { digest: _digest, ...body } = { ...GOOD, ...changes };
  return JSON.stringify({ ...body, digest: digest(body) });
}

test('a file has the same content after writing and reading', () => {
  expect(parsePlanFile(formatPlanFile(GOOD), 'fleet.plan')).toEqual(GOOD);
});

test('a file fits the published JSON Schema', () => {
  const schema = JSON.parse(
    readFileSync(new URL('../../../../docs/schemas/plan-file_v1.json', import.meta.url), 'utf8'),
  );
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
  expect([validate(GOOD), validate.errors]).toEqual([true, null]);
  expect(validate({ ...GOOD, values: [] })).toBe(false);
});

test('digests of a Secret need the key of the cluster, and are left out without it', () => {
  const change = GOOD.batches[0]?.changes[0];
  expect([change?.seen, change?.desired]).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), expect.any(String)]);
  expect(change?.desired).not.toBe(file(Buffer.from('another')).batches[0]?.changes[0]?.desired);
  const bare = file(undefined);
  expect(bare.sealed).toBe(false);
  const { batches } = JSON.parse(formatPlanFile(bare));
  expect(Object.keys(batches[0].changes[0])).toEqual(['action', 'resource', 'uid', 'fields']);
  expect(formatPlanFile(GOOD)).not.toMatch(/aHVudGVyMg|hunter2/);
});

const text = formatPlanFile(GOOD);

test.each([
  ['cut off', text.slice(0, 500), 'plan-invalid', /^fleet\.plan: the file is not JSON \(.*\): was it cut off\?$/],
  ['something else', '{"version": 1}', 'plan-invalid', /^fleet\.plan: the file is not a plan file/],
  ['edited', text.replace('"update"', '"delete"'), 'plan-invalid', /the digest does not fit the content/],
  ['without a field', altered({ guard: undefined }), 'plan-invalid', /guard/],
  ['with an unknown field', altered({ extra: 1 }), 'plan-invalid', /no field "extra"/],
  [
    'of a later version',
    altered({ version: 2 }),
    'plan-version',
    /the file has version 2, and this skep reads version 1/,
  ],
])('a file that is %s is refused', (_name, content, code, message) => {
  const refused = (() => {
    try {
      return parsePlanFile(content, 'fleet.plan');
    } catch (error) {
      return error;
    }
  })();
  expect(refused).toBeInstanceOf(Failure);
  expect(refused).toMatchObject({ code, message: expect.stringMatching(message) });
});

test.each([
  ['another instance', { instance: 'dev' }, 'plan-foreign', /for instance "prod", and this is instance "dev"/],
  [
    'another home',
    { cluster: { homeNamespace: 'x', uid: 'home' } },
    'plan-foreign',
    /home namespace of its instance is skep, and the home namespace here is x/,
  ],
  ['another cluster', { cluster: { homeNamespace: 'skep', uid: 'y' } }, 'plan-foreign', /for another cluster/],
  [
    'another build',
    { tool: { name: 'skep/2', digest: sha256('x') } },
    'plan-mismatch',
    /created by skep\/1, .*\(skep\/2\)/,
  ],
  [
    'other settings',
    { settings: { apply: sha256('x') } },
    'plan-mismatch',
    /have changed since the file was created: apply, images$/,
  ],
])('a plan is not for %s', (_name, changes, code, message) => {
  const refused = expect(() => checkBinding(GOOD, { ...HERE, ...changes }));
  refused.toThrow(Failure);
  refused.toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }));
});
