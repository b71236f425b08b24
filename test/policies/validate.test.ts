// `skep validate` with policies: places, severities, the exit code, and what cannot be said without a cluster.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runValidation } from '#cli/offline/validation.ts';
import { problemsExit } from '#reconciler/run/problems-exit.ts';
import { Failure } from '#std/failure.ts';
import { formatProblem } from '#std/problem.ts';

const SERVER = `apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPServer
metadata: {name: web, namespace: team}
spec:
  image: web:latest
  env:
    - name: API_TOKEN
      value: correct-horse
`;
const NAMESPACE = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n';
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'skep-policies-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

async function reported(paths: readonly string[], policies?: readonly string[]): Promise<[exit: number, ...string[]]> {
  const folders = paths.map((path) => ({ path, ignore: [] }));
  const request = { folders, schemas: [], apiGroup: 'toolhive.stacklok.dev', ...(policies ? { policies } : {}) };
  const { problems } = await runValidation(request, undefined);
  return [problemsExit(problems), ...problems.map(formatProblem).map((line) => line.replaceAll(`${folder}/`, ''))];
}

test('denials and warnings stand where they offend, and never repeat a secret', async () => {
  expect(await reported([write('web.yaml', SERVER), write('ns.yaml', NAMESPACE)], ['builtin'])).toEqual([
    4,
    'web.yaml:5:10: warning policy/images-pinned: image web:latest may be another one tomorrow: name a version instead of latest, or a digest (team/MCPServer/web)',
    'web.yaml:8:14: error policy/plaintext-secrets: the value of an environment variable looks like a secret, readable by anyone who reads the manifest (team/MCPServer/web)',
  ]);
  expect(await reported([join(folder, 'web.yaml')])).toEqual([0]);
});

test('what else is wrong counts more', async () => {
  const [exit] = await reported(
    [write('odd.yaml', `${SERVER}---\n${SERVER.replace('web, ', 'odd, ')}  odd: true\n`)],
    ['builtin'],
  );
  expect(exit).toBe(3);
});

test('policies that need a namespace that is not declared say so, once for all', async () => {
  const [exit, ...lines] = await reported([write('calm.yaml', SERVER.split('  env:')[0] ?? '')], ['builtin']);
  expect(exit).toBe(0);
  expect(lines.length).toBe(1);
  expect(lines[0]).toMatch(
    /^calm\.yaml:3:18: warning policy-not-evaluated: Policies audit-on, [a-z-]+, [a-z-]+ and \d+ others were not evaluated for team\/MCPServer\/web: the labels of namespace team are not known here/,
  );
});

test('another group of the custom resources is checked by the same pack', async () => {
  const request = {
    folders: [{ path: write('own.yaml', SERVER.replace('toolhive.stacklok.dev', 'mcp.example.com')), ignore: [] }],
    schemas: [],
  };
  const { problems } = await runValidation(
    { ...request, apiGroup: 'mcp.example.com', policies: ['builtin'] },
    undefined,
  );
  expect(problems.map(({ code }) => code)).toContain('policy/plaintext-secrets');
});

test('files that are no policies end it', async () => {
  const broken = write(
    'policy.yaml',
    'apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: x}\nspec: {}\n',
  );
  const failure = await reported([join(folder, 'web.yaml')], [broken]).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(Failure);
  expect((failure as Failure).code).toBe('policies-invalid');
  expect((failure as Failure).message).toMatch(
    /policy\.yaml:4:1: error policy-invalid: spec\.matchConstraints is required/,
  );
});

const QUOTES = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: quotes}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [secrets, configmaps]}]}
  validations:
    - {expression: "!has(object.data)", message: it has data, messageExpression: "'it holds ' + object.data.token"}
    - {expression: "int(object.data.token) > 3"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: quotes}
spec: {policyName: quotes, validationActions: [Deny]}
`;

test('a message that a policy computes is not shown of a Secret', async () => {
  const of = (kind: string) =>
    `apiVersion: v1\nkind: ${kind}\nmetadata: {name: a, namespace: team}\ndata: {token: aHVudGVyMg==}\n`;
  const policies = [write('quotes.yaml', QUOTES)];
  const ofSecret = await reported([write('secret.yaml', of('Secret'))], policies);
  expect(ofSecret).toHaveLength(4);
  const text = ofSecret.join('\n');
  expect(text).toContain('it has data');
  expect(text).toContain('secret-plaintext');
  expect(text).toMatch(/resulted in error \(team\/Secret\/a\)$/m);
  expect(text).not.toContain('aHVudGVyMg==');
  const ofMap = await reported([write('map.yaml', of('ConfigMap'))], policies);
  expect(ofMap.join('\n')).toContain('it holds aHVudGVyMg==');
});
