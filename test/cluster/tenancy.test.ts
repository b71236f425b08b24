// Teams that share a cluster and do not trust one another: what a source declares is made with the rights of its own account
// (manifests/install/one-team) and within its own limits, and two reconcilers keep to what each was given. Only a real server
// knows rights.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ConnectedCluster } from '#adapters/cluster/connect.ts';
import { textOfOutcome } from '#reconciler/report/text.ts';
import { exitCodeOf, type RunResult } from '#reconciler/run/result.ts';
import { formatProblem } from '#std/problem.ts';
import { type GitServer, startGitServer, type TestRepository, temporaryFolder } from '../harness/git-server.ts';
import { putUp, rightsFor, rightsForTeams } from './account.ts';
import { defineKinds, newGroup } from './definitions.ts';
import { approveWaiting, type Installed, openInstalled } from './installed.ts';
import { eventually, openServer, type SuiteServer } from './server.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

describe.skipIf((process.env.KUBECONFIG ?? '') === '')('on one cluster', () => {
  const group = newGroup('tenancy');
  const opened: Installed[] = [];
  let server: SuiteServer;
  let admin: ConnectedCluster;
  let git: GitServer;

  beforeAll(async () => {
    server = await openServer();
    admin = await server.client('admin');
    git = await startGitServer();
    await defineKinds(server, admin, group);
  });
  afterAll(async () => {
    await Promise.all(opened.map(({ proxy }) => proxy.close()));
    await git?.close();
    await server?.close();
  });

  const source = (name: string, more: object = {}) => ({
    name,
    repository: `${git.url}/${name}.git`,
    branch: 'main',
    ...more,
  });

  async function open(home: string, settings: object): Promise<Installed> {
    const dir = join(folder.path, `${opened.length}`);
    mkdirSync(dir);
    const apply = { maxDeletes: 100, maxDeletesPercent: 100, waitSeconds: 0 };
    const common = {
      apiGroup: group,
      apply,
      outbound: { allowPrivate: ['127.0.0.0/8'] },
      stateDir: join(dir, 'state'),
    };
    const one = await openInstalled(server, home, { dir, settings: { ...common, ...settings } });
    opened.push(one);
    return one;
  }

  const run = (one: Installed): Promise<RunResult> => one.use((instance) => instance.run());

  /** A run after all that waits was approved. */
  async function runApproved(one: Installed): Promise<RunResult> {
    await approveWaiting(one, () => run(one), admin);
    return run(one);
  }

  const done = ({ outcomes }: RunResult) => outcomes.map(textOfOutcome);
  const refused = ({ proxy }: Installed) => proxy.seen.filter(({ status }) => status === 403).map(({ label }) => label);

  const settingsOf = (namespace: string, value: string, name = 'settings') =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: ${namespace}}\ndata: {a: ${value}}\n`;
  const fleetOf = (namespace: string) => ({
    'settings.yaml': settingsOf(namespace, 'one'),
    'clock.yaml': `apiVersion: ${group}/v1alpha1\nkind: MCPServer\nmetadata: {name: clock, namespace: ${namespace}}\nspec: {image: 'example.com/clock:1', transport: stdio}\n`,
  });

  const read = async (namespace: string, name = 'settings') =>
    (await admin.get({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name }))?.data;

  describe('sources with accounts of their own', () => {
    let [home, a, b] = ['', '', ''];
    let [ofA, ofB]: TestRepository[] = [];
    const account = (namespace: string) => ({ serviceAccount: `${namespace}/fleet-sync` });

    beforeAll(async () => {
      [home, a, b] = [
        await server.namespace('home'),
        await server.namespace('team-a'),
        await server.namespace('team-b'),
      ];
      await putUp(server, admin, rightsForTeams(home, [a, b], group));
      [ofA, ofB] = [git.createRepository('team-a.git'), git.createRepository('team-b.git')];
      ofA.commit(fleetOf(a));
      ofB.commit(fleetOf(b));
    });

    test('each makes what is in its namespace, by its account, and nothing is refused', async () => {
      const sources = [source('team-a', account(a)), source('team-b', account(b))];
      const one = await open(home, { sources, namespaces: [a, b] });
      const result = await run(one);
      expect([exitCodeOf(result), refused(one)]).toEqual([0, []]);
      expect(done(result)).toEqual(
        expect.arrayContaining([`${a}/Deployment/clock created`, `${b}/ConfigMap/settings created`]),
      );
      expect((await run(one)).outcomes).toEqual([]);
    });

    test('what is in the namespace of another team is refused to the account, and told with its name', async () => {
      ofA?.commit({ 'settings.yaml': settingsOf(a, 'two'), 'theirs.yaml': settingsOf(b, 'taken', 'theirs') });
      const sources = [source('team-a', account(a)), source('team-b', account(b))];
      const result = await run(await open(home, { sources, namespaces: [a, b] }));
      const user = `system:serviceaccount:${a}:fleet-sync`;
      expect(exitCodeOf(result)).toBe(7);
      expect(done(result)).toEqual(
        expect.arrayContaining([
          `${a}/ConfigMap/settings configured`,
          expect.stringMatching(
            `^${b}/ConfigMap/theirs failed: .*User "${user}" cannot \\w+ resource "configmaps".*\\(as ${user}\\)`,
          ),
        ]),
      );
      expect(await read(b, 'theirs')).toBeUndefined();
    });

    test('where the source has a list of namespaces, the server is not even asked', async () => {
      const allow = { namespaces: [a] };
      const sources = [source('team-a', { ...account(a), allow }), source('team-b', account(b))];
      const one = await open(home, { sources, namespaces: [a, b] });
      const result = await run(one);
      expect([exitCodeOf(result), refused(one)]).toEqual([3, []]);
      expect(result.problems.map(({ code, place }) => `${code} ${place?.file}`)).toEqual([
        expect.stringMatching(/^source-.* theirs\.yaml$/),
      ]);
      ofA?.commit({ 'theirs.yaml': undefined });
      expect(exitCodeOf(await run(one))).toBe(0);
    });

    test('nobody acts as an account that was not named to them, nor writes as the reconciler', async () => {
      ofA?.commit({ 'settings.yaml': settingsOf(a, 'three') });
      const other = source('team-a', { serviceAccount: `${a}/default` });
      const asOther = await run(
        await open(home, { sources: [other, source('team-b', account(b))], namespaces: [a, b] }),
      );
      expect(done(asOther)).toEqual([
        expect.stringMatching(`ConfigMap/settings failed: .*"default" .*cannot impersonate resource "serviceaccounts"`),
      ]);
      const alone = [source('team-a'), source('team-b', account(b))];
      const asItself = await run(await open(home, { sources: alone, namespaces: [a, b] }));
      expect(done(asItself)).toEqual([
        expect.stringMatching(`ConfigMap/settings failed: .*User "system:serviceaccount:${home}:skep" cannot patch`),
      ]);
      expect(await read(a)).toEqual({ a: 'two' });
    });

    test('it goes with the rights of the account, too', async () => {
      ofA?.commit({ 'settings.yaml': undefined, 'clock.yaml': undefined, 'README.md': 'empty' });
      const sources = [source('team-a', account(a)), source('team-b', account(b))];
      const one = await open(home, { sources, namespaces: [a, b] });
      const result = await runApproved(one);
      expect([exitCodeOf(result), refused(one)]).toEqual([0, []]);
      expect(done(result)).toContain(`${a}/ConfigMap/settings deleted`);
      expect(await read(b)).toEqual({ a: 'one' });
    });
  });

  test('two reconcilers keep what each is told to, by the records of their own', async () => {
    const names = ['default', 'edge'] as const;
    const homes = { default: await server.namespace('first'), edge: await server.namespace('second') };
    const kept = { default: await server.namespace('kept'), edge: await server.namespace('kept-edge') };
    const repositories = { default: git.createRepository('default.git'), edge: git.createRepository('edge.git') };
    for (const name of names) {
      await putUp(server, admin, rightsFor(homes[name], group, name));
      repositories[name].commit(fleetOf(kept[name]));
    }
    const openOne = (name: 'default' | 'edge') =>
      open(homes[name], { name, sources: [source(name)], namespaces: [kept[name]] });
    const [first, second] = [await openOne('default'), await openOne('edge')];
    const both = await Promise.all([run(first), run(second)]);
    expect(both.map((result) => exitCodeOf(result))).toEqual([0, 0]);

    repositories.edge.commit({ 'theirs.yaml': settingsOf(kept.default, 'taken') });
    const beyond = await run(second);
    expect(exitCodeOf(beyond)).toBe(3);
    expect(beyond.problems.map(formatProblem).join()).toContain(kept.default);
    repositories.edge.commit({
      'theirs.yaml': undefined,
      'settings.yaml': undefined,
      'clock.yaml': undefined,
      'README.md': '',
    });
    expect(exitCodeOf(await runApproved(second))).toBe(0);
    // What the server deletes in the foreground is there for a moment more.
    await eventually(
      () => read(kept.edge),
      (left) => left === undefined,
    );
    expect(await read(kept.default)).toEqual({ a: 'one' });
    expect((await run(first)).outcomes).toEqual([]);
    expect([...refused(first), ...refused(second)]).toEqual([]);
  });
});
