// What the reconciler may do, by manifests/install: enough for a fleet with every kind, and no more.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ConnectedCluster } from '#adapters/cluster/connect.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { type GitServer, startGitServer, type TestRepository, temporaryFolder } from '../harness/git-server.ts';
import { putUp, rightsFor, rightsIn, rightsOf, rulesOf } from './account.ts';
import { ASKED_OF_MANY } from './asked-elsewhere.ts';
import { defineKinds, newGroup } from './definitions.ts';
import { approveWaiting, type Installed, openInstalled } from './installed.ts';
import { isOfOthers, rightsUsed } from './rights-used.ts';
import { gone, sampleFleet } from './sample.ts';
import { eventually, openServer, type SuiteServer } from './server.ts';

const isReal = (process.env.KUBECONFIG ?? '') !== '';
const folder = temporaryFolder();
afterAll(() => folder.remove());

/** Rights that this story does not ask for, and what does. */
const ASKED_ELSEWHERE: Readonly<Record<string, string>> = {
  ...ASKED_OF_MANY,
  'get apiextensions.k8s.io/customresourcedefinitions': 'objects in Git of a kind of somebody else',
  'update /configmaps skep-default-image': 'the first run of another image of the reconciler',
  'update /configmaps skep-default-notified': 'notify.webhooks and notify.commitStatus, from the second notice on',
  'update /configmaps skep-default-quarantine': 'a run after `skep rollback`, when newer commits have come',
  ...Object.fromEntries(
    ['create', 'delete', 'get', 'patch'].map((verb) => [
      `${verb} policy/poddisruptionbudgets`,
      'more than one replica',
    ]),
  ),
};

describe.skipIf(!isReal)('rights', () => {
  let server: SuiteServer;
  let admin: ConnectedCluster;
  let git: GitServer;
  let repository: TestRepository;
  let installed: Installed;
  let group: string;
  let home: string;
  let settings: object;
  let rights: readonly KubeObject[];
  /** What the Roles among the children give. */
  let given: ReadonlySet<string>;

  beforeAll(async () => {
    server = await openServer();
    admin = await server.client('admin');
    group = newGroup('install');
    home = await server.namespace('home');
    await defineKinds(server, admin, group);
    rights = rightsFor(home, group);
    await putUp(server, admin, rights);
    git = await startGitServer();
    repository = git.createRepository('fleet.git');
    for (const namespace of ['docs', 'ops', 'platform']) {
      server.later({ apiVersion: 'v1', kind: 'Namespace', name: `${home}-${namespace}` });
    }
    settings = {
      apiGroup: group,
      sources: [{ name: 'fleet', repository: `${git.url}/fleet.git`, branch: 'main' }],
      apply: { maxDeletes: 0, waitSeconds: 0 },
      outbound: { allowPrivate: ['127.0.0.0/8'] },
      stateDir: join(folder.path, 'state'),
    };
    const everywhere = { ...settings, policies: ['builtin'] };
    installed = await openInstalled(server, home, { dir: folder.path, settings: everywhere });
  });
  afterAll(async () => {
    await installed?.proxy.close();
    await git?.close();
    await server?.close();
  });

  async function run(by = installed): Promise<RunResult> {
    const result = await by.use((instance) => instance.run());
    const refused = by.proxy.seen.filter((seen) => seen.status === 403 && !isOfOthers(seen, rights, home));
    expect(refused.map(({ method, url }) => [method, url])).toEqual([]);
    return result;
  }

  test('are enough for a fleet with every kind: made, failed, told', async () => {
    repository.commit(sampleFleet(group, (name) => `${home}-${name}`));
    const result = await run();
    expect(result.outcomes.filter(({ error }) => error !== undefined)).toEqual([]);
    const roles = (await admin.resources()).find(({ kind }) => kind === 'Role');
    if (roles === undefined) throw new Error('no Roles');
    const lists = await Promise.all(['docs', 'ops'].map((name) => admin.list(roles, `${home}-${name}`)));
    const rules = lists.flat().flatMap((role) => rulesOf(role));
    given = new Set(rules.flatMap((rule) => rightsOf({ ...rule, resourceNames: [''] })));
    expect([...given]).toContain('create /pods/attach');
  });

  test('are enough to let it go, once that is approved', async () => {
    repository.commit({ ...gone(sampleFleet(group, (name) => `${home}-${name}`)), 'README.md': 'empty' });
    await approveWaiting(installed, run, admin);
    const { outcomes } = await run();
    expect(outcomes.filter(({ error }) => error !== undefined)).toEqual([]);
    await eventually(
      () => admin.get({ apiVersion: 'v1', kind: 'Namespace', name: `${home}-docs` }),
      (left) => left === undefined,
    );
  });

  test('are no more than were used, or given on', () => {
    const seen = new Set(installed.proxy.seen.flatMap(rightsUsed));
    // What someone else writes at the same time is read again, and written after all.
    const used = new Set([...seen].flatMap((right) => [right, right.replace(/^(patch|delete) /, 'get ')]));
    const granted = rights
      .filter(({ kind }) => kind.endsWith('Role'))
      .flatMap((role) => rulesOf(role).flatMap(rightsOf));
    // Only a process that stays watches: a run of it alone does not.
    const asked = granted.filter((right) => !right.startsWith('watch '));
    const unused = asked.filter((right) => !used.has(right) && !given.has(right));
    // A role that lets all ConfigMaps be read does not name single ones.
    const elsewhere = Object.keys(ASKED_ELSEWHERE).filter((right) => granted.includes(right));
    expect(unused.toSorted()).toEqual(elsewhere.toSorted());
  });

  test('in a namespace alone are enough for what is in it', async () => {
    const [alone, team] = [await server.namespace('alone'), await server.namespace('team')];
    const dir = join(folder.path, 'alone');
    mkdirSync(dir);
    await putUp(server, admin, rightsIn(alone, team, group));
    const own = { ...settings, namespaces: [team], stateDir: join(dir, 'state') };
    const one = await openInstalled(server, alone, { dir, settings: own });
    const files = sampleFleet(group, () => team, ['docs/*.yaml']);
    repository.commit(files);
    const made = await run(one);
    repository.commit(gone(files));
    const waiting = await run(one);
    await one.proxy.close();
    expect(made.outcomes.filter(({ error }) => error !== undefined)).toEqual([]);
    expect(made.outcomes.length).toBeGreaterThan(20);
    expect(waiting.plan.waiting[0]?.deletions.length).toBeGreaterThan(5);
  });
});
