// Tests the texts about runs and plans: each change is reported only once, and long lists are shortened. In one file,
// because nearly all tests change one part of the same example run.

import { expect, test } from 'vitest';
import { Failure } from '#std/failure.ts';
import type { ResourceId } from '#std/problem.ts';
import { INSTALLED } from '#std/words/command-of.ts';
import type { ActionOutcome, ChangeOutcome } from '../run/apply/apply.ts';
import type { RunResult } from '../run/result.ts';
import { textOfAdoption } from './adoption.ts';
import { countCreated, tellOutcomes, textOfChanges } from './news.ts';
import { textOfEnding, textOfOutcome, textOfPlan, textOfValidation } from './text.ts';

const SERVER: ResourceId = { apiVersion: 'example.com/v1', kind: 'MCPServer', namespace: 'docs', name: 'wiki' };
const PROBLEM = { code: 'schema-enum', severity: 'error', message: 'is wrong' } as const;
const FAILED = outcome('failed');

function outcome(action: ActionOutcome): ChangeOutcome {
  const error = { code: 'cluster-not-found', message: 'no such namespace' };
  return { action, resource: SERVER, ...(action === 'failed' ? { error } : {}) };
}

function run(different: Partial<RunResult> = {}): RunResult {
  return {
    id: 'run',
    commits: {},
    quarantined: [],
    waits: [],
    startedAt: '2026-01-01T00:00:00Z',
    finishedAt: '2026-01-01T00:00:01Z',
    plan: { batches: [], unchanged: [], held: [], waiting: [], approved: [], within: [] },
    outcomes: [],
    problems: [],
    fields: [],
    failures: [],
    warnings: [],
    catalogue: [],
    readiness: { ready: [], progressing: [], failed: [] },
    timedOut: false,
    requests: 13,
    ...different,
  };
}

const BROKEN = run({ problems: [PROBLEM] });
const UNREACHABLE = run({ failures: [new Failure('git-unreachable', 'no answer')] });
const WAITING = run({ readiness: { ready: [], progressing: [{ ...SERVER, why: 'it is starting' }], failed: [] } });
const READY = run({ readiness: { ready: [SERVER], progressing: [], failed: [] } });
const TOTAL = '0 created, 0 configured, 0 unchanged, 0 deleted, 0 held, 0 failed (13 API requests, 1.0 s)';
const DELETED = '0 created, 0 configured, 0 unchanged, 1 deleted, 0 held, 0 failed (13 API requests, 1.0 s)';
const ONE_FAILED = '0 created, 0 configured, 0 unchanged, 0 deleted, 0 held, 1 failed (13 API requests, 1.0 s)';

test.each<{ before?: RunResult; now: RunResult; reported: readonly string[]; reason: string }>([
  { now: run(), reported: [], reason: 'nothing to tell' },
  { before: run(), now: run(), reported: [], reason: 'nothing happened' },
  { before: run(), now: run({ outcomes: [outcome('deleted')] }), reported: [DELETED], reason: 'the run did something' },
  { before: run(), now: BROKEN, reported: ['error schema-enum: is wrong', TOTAL], reason: 'a problem is new' },
  { now: BROKEN, reported: ['error schema-enum: is wrong', TOTAL], reason: 'the first run has no earlier report' },
  { before: BROKEN, now: BROKEN, reported: [], reason: 'the problem was told' },
  {
    before: BROKEN,
    now: run(),
    reported: ['solved: error schema-enum: is wrong', 'no problems any more', TOTAL],
    reason: 'somebody waits for the end of it',
  },
  { before: UNREACHABLE, now: UNREACHABLE, reported: [], reason: 'the failure was told' },
  { before: run(), now: run({ outcomes: [FAILED] }), reported: [ONE_FAILED], reason: 'the failure is new' },
  { before: run({ outcomes: [FAILED] }), now: run({ outcomes: [FAILED] }), reported: [], reason: 'it fails as before' },
  { before: WAITING, now: WAITING, reported: [], reason: 'the wait was reported with the change' },
  {
    before: WAITING,
    now: READY,
    reported: ['ready: docs/MCPServer/wiki', TOTAL],
    reason: 'the wait has ended',
  },
  { before: READY, now: READY, reported: [], reason: 'it was ready before' },
])('a run reports $reported because $reason', ({ before, now, reported }) => {
  expect(textOfChanges(now, before, INSTALLED)).toBe(reported.map((line) => `${line}\n`).join(''));
});

test.each<{ actions: readonly ActionOutcome[]; reported: number; reason: string }>([
  { actions: ['created', 'deleted', 'created'], reported: 3, reason: 'each is a change' },
  { actions: ['configured', 'configured'], reported: 2, reason: 'the same was changed twice' },
  { actions: ['failed', 'failed', 'failed'], reported: 1, reason: 'every run fails alike' },
  { actions: ['failed', 'created', 'failed'], reported: 3, reason: 'it had been mended in between' },
])('of the outcomes $actions, $reported are reported because $reason', ({ actions, reported }) => {
  const lines: string[] = [];
  const tell = tellOutcomes((text) => lines.push(text));
  for (const action of actions) tell(outcome(action));
  expect(lines).toHaveLength(reported);
});

const LATER = '1 invalid; correct these errors first, then rules and policies are checked as well';
test.each<{ files: number; invalid: number; problems: number; incomplete?: true; headline: string; reason: string }>([
  { files: 0, invalid: 0, problems: 0, headline: 'nothing to validate', reason: 'the folder is empty' },
  { files: 0, invalid: 0, problems: 1, headline: '1 error', reason: 'a kustomization could not be built' },
  { files: 1, invalid: 0, problems: 0, headline: 'all valid', reason: 'all is well' },
  { files: 1, invalid: 0, problems: 1, headline: '1 error', reason: 'an object without identity is not a resource' },
  { files: 1, invalid: 1, problems: 2, headline: '1 invalid', reason: 'one resource has two problems' },
  { files: 1, invalid: 1, problems: 1, incomplete: true, headline: LATER, reason: 'its rules were not checked' },
])('the last line is "$headline" because $reason', ({ files, invalid, problems, incomplete, headline }) => {
  const summary = { files, resources: 0, valid: 0, invalid, problems };
  const text = textOfValidation({ summary, problems: Array(problems).fill(PROBLEM), incomplete, files: [] });
  expect(text.split('\n').at(-2)).toBe(`0 resources in ${files} file${files === 1 ? '' : 's'}: ${headline}`);
});

test('sources that failed for the same reason share a line', () => {
  const source = (name: string, message: string) =>
    ({ source: `docs/catalogue/${name}`, action: 'failed', servers: 0, rejected: 0, message }) as const;
  const silent = ['a', 'b', 'c', 'd'].map((name) => source(name, 'no answer within 60000 ms'));
  const text = textOfEnding(run({ catalogue: [...silent, source('e', 'no such host')] }), INSTALLED);
  expect(text.split('\n').slice(0, 2)).toEqual([
    '4 registry sources failed (docs/catalogue/a, docs/catalogue/b, docs/catalogue/c and 1 more): no answer within 60000 ms',
    'registry docs/catalogue/e: failed, 0 servers: no such host',
  ]);
});

test('if the account may not list many kinds, only two of them are named', () => {
  const forbidden = ['pods', 'services', 'secrets', 'leases'].map(
    (kind) => new Failure('cluster-forbidden', `no ${kind}`),
  );
  const failures = [...forbidden, new Failure('git-unreachable', 'no host')];
  expect(textOfEnding(run({ failures }), INSTALLED).split('\n').slice(0, 4)).toEqual([
    'error cluster-forbidden: no pods',
    'error cluster-forbidden: no services',
    'error git-unreachable: no host',
    'error cluster-forbidden: 2 more like these: give the account the rights of manifests/install/rights (docs/install.md)',
  ]);
});

test('an adoption from another instance says to stop that instance first', () => {
  const found = { adoptions: [], refused: [], otherInstances: ['fleet'], problems: [], failures: [] };
  const line =
    'the instance fleet keeps some of these objects: stop or suspend it first, and take them out of its sources\n';
  expect(textOfAdoption({ ...found, done: false }, INSTALLED)).toContain(line);
  expect(textOfAdoption({ ...found, done: true }, INSTALLED)).not.toContain(line);
});

test('an adoption reports the number of adopted objects, and names the others', () => {
  const metadata = { name: SERVER.name };
  const object = { apiVersion: SERVER.apiVersion, kind: SERVER.kind, metadata };
  const adoption = { resource: SERVER, object, finalizers: [], managers: ['old'] };
  const adoptions = [
    { ...adoption, surplus: false },
    { ...adoption, resource: { ...SERVER, name: 'other' }, surplus: false },
  ];
  const result = { adoptions, done: true, otherInstances: [], refused: [SERVER], problems: [], failures: [] };
  expect(textOfAdoption(result, INSTALLED).trimEnd().split('\n').at(-1)).toBe(
    '1 object taken over, 1 object not, for the errors above: docs/MCPServer/wiki; to try again: skep adopt --yes',
  );
});

test('no value can erase or reverse the text next to it on a terminal', () => {
  const diff = [{ path: '/data/a', before: 'one\n', after: 'one\n\u001b[2K\r\u009b1A\u202etwo\tthree\n' }];
  const change = {
    action: 'update',
    resource: SERVER,
    key: '',
    object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'wiki' } },
    diff,
  } as const;
  const { plan } = run();
  const text = textOfPlan(run({ plan: { ...plan, batches: [{ name: 'apply', changes: [change] }] } }));
  expect(text).toContain('+\\u001b[2K\\u000d\\u009b1A\\u202etwo\tthree\n');
  expect(text).not.toMatch(/[\p{Cc}\p{Bidi_Control}](?<![\t\n])/u);
  const refused = { ...outcome('failed'), error: { code: 'cluster-invalid', message: 'is \u001b[8m' } };
  expect(textOfOutcome(refused)).toBe('docs/MCPServer/wiki failed: is \\u001b[8m [cluster-invalid]');
});

function listed(count: number): readonly { readonly id: ResourceId; readonly owner?: ResourceId }[] {
  return Array.from({ length: count }, (_, index) => {
    const id = { ...SERVER, name: `server-${index + 1}` };
    const children = ['ConfigMap', 'Deployment', 'Service'].map((kind) => ({ id: { ...id, kind }, owner: id }));
    return [{ id }, ...children];
  }).flat();
}

function textWith(servers: number, extent: 'folded' | 'all'): string {
  const objects = listed(servers);
  const held = objects.map(({ id, owner }) => ({
    resource: id,
    owner,
    reason:
      owner === undefined
        ? 'source fleet could not be read'
        : `the children of mcpserver.${owner.name} are not changed in this run`,
  }));
  const deletions = listed(2).map(({ id, owner }) => ({
    id: `old/${id.kind}/${id.name}`,
    kind: id.kind,
    uid: id.name,
    owner: owner && `old/${owner.kind}/${owner.name}`,
  }));
  const waiting = [{ source: 'fleet', hash: '0123456789abcdef', reasons: ['8 of 10 objects'], deletions }];
  return textOfPlan(run({ plan: { ...run().plan, held, waiting } }), { extent });
}

test('a plan counts the children of a server on the line of the server', () => {
  expect(textWith(4, 'folded')).toMatchInlineSnapshot(`
    "deletions of source fleet wait for approval (0123456789abcdef): 8 of 10 objects
      - old/MCPServer/server-1 (+3 objects)
      - old/MCPServer/server-2 (+3 objects)
    to delete exactly these: skep approve 0123456789abcdef
    kept unchanged (source fleet could not be read):
      docs/MCPServer/server-1 (+3 objects)
      docs/MCPServer/server-2 (+3 objects)
      docs/MCPServer/server-3 (+3 objects)
      docs/MCPServer/server-4 (+3 objects)
    0 to create, 0 to update, 0 to delete, 0 unchanged, 16 held
    "
  `);
});

test('a plan names twenty objects at most, and every object if details are requested', () => {
  expect(textWith(30, 'folded')).toContain('\n  and 10 more; to see all: skep plan --details\n');
  const all = textWith(30, 'all');
  for (const { id } of listed(30)) expect(all).toContain(`docs/${id.kind}/${id.name}`);
  expect(all).not.toContain('more');
});

test('only the first of many resources are named: ready, not yet ready, or failed', () => {
  const many = Array.from({ length: 11 }, (_, index) => ({ ...SERVER, name: `s${index}`, why: 'no pod\nis ready' }));
  const named = 'docs/MCPServer/s0, docs/MCPServer/s1, docs/MCPServer/s2 and 8 more';
  const before = run({ readiness: { ready: [], progressing: many, failed: [] } });
  expect(textOfChanges(run({ readiness: { ready: many, progressing: [], failed: [] } }), before, INSTALLED)).toContain(
    `ready: ${named}`,
  );
  const text = textOfEnding(run({ readiness: { ready: [], progressing: many, failed: many } }), INSTALLED);
  expect(text).toContain('in phase Failed: docs/MCPServer/s9: no pod is ready\nin phase Failed: 1 other resource\n');
  expect(text).toContain(`not ready yet: ${named}`);
  const late = run({ readiness: { ready: [], progressing: many, failed: [] }, timedOut: true });
  expect(textOfEnding(late, INSTALLED)).toContain('not ready in time: docs/MCPServer/s9: no pod is ready\n');
});

test('a warning is printed once and then counted, and each fixed problem is named', () => {
  const warning = { code: 'image-tag', severity: 'warning', message: 'has no digest' } as const;
  const both = run({ problems: [PROBLEM, warning] });
  expect(textOfChanges(both, undefined, INSTALLED)).toContain('warning image-tag: has no digest\n');
  const fixed = textOfChanges(run({ problems: [warning] }), both, INSTALLED);
  expect(fixed).toBe(`solved: error schema-enum: is wrong\n1 warning as before\n${TOTAL}\n`);
  const unread = run({ problems: [], failures: [new Failure('git-unreachable', 'no answer')] });
  expect(textOfChanges(unread, both, INSTALLED)).not.toContain('solved');
});

test('the first run counts the objects that it creates', () => {
  const lines: string[] = [];
  const start = countCreated((text) => lines.push(text));
  start.tell({ action: 'created', resource: SERVER });
  start.tell({ action: 'created', resource: { ...SERVER, kind: 'Service' }, owner: SERVER });
  start.tell(FAILED);
  start.end();
  start.tell({ action: 'created', resource: SERVER });
  expect(lines).toEqual([
    'docs/MCPServer/wiki failed: no such namespace [cluster-not-found]',
    'created 2 objects for 1 declared resource (-v names each)',
    'docs/MCPServer/wiki created',
  ]);
});

test('an approval without deletions is about all changes', () => {
  const approval = {
    hash: 'cd6a06401001331c',
    expiresAt: '2026-01-02T00:00:00Z',
    begun: false,
    lines: new Set<string>(),
  };
  const list = { source: 'fleet', hash: approval.hash, reasons: ['the instance has read other sources'], approval };
  const text = (deletions: readonly { id: string; kind: string; uid: string }[]) =>
    textOfEnding(run({ plan: { ...run().plan, approved: [{ ...list, deletions }] } }), INSTALLED);
  const more = 'are approved (cd6a06401001331c, until 2026-01-02T00:00:00Z): the instance has read other sources\n';
  expect(text([])).toContain(`all changes ${more}`);
  expect(text([{ id: 'docs/Service/a', kind: 'Service', uid: 'a' }])).toContain(`deletions of source fleet ${more}`);
});
