// An installed instance whose rights are taken away and given back, and runs of it over commits that make, change and delete
// one of everything.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { approve } from '#reconciler/run/operate/approve.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { Failure } from '#std/failure.ts';
import { isObject } from '#std/json.ts';
import { formatProblem } from '#std/problem.ts';
import { startGitServer, temporaryFolder } from '../harness/git-server.ts';
import type { Fate, Passing, Seen } from '../harness/proxy.ts';
import { startReceiver } from '../harness/receiver.ts';
import { connect } from '../recordings/api.ts';
import { putUp, type Rule, rightsOf, rulesOf } from './account.ts';
import { defineKinds, newGroup } from './definitions.ts';
import { openInstalled } from './installed.ts';
import { commitOf, foreignDefinition, foreignRule } from './one-of-everything.ts';
import { isOfOthers } from './rights-used.ts';
import { eventually, openServer, removeNow } from './server.ts';

/** A right of a role: `role: verb group/resource name`. */
export type Right = string;

export interface Run {
  /** What it complains about, without numbers. */
  readonly complaints: readonly string[];
  readonly forbidden: readonly Seen[];
}

export interface Stripped {
  readonly roles: readonly KubeObject[];
  /** Its roles have all but these rights. */
  without(rights: readonly Right[]): Promise<void>;
  /** `contended`: someone else is always faster by one write. `guarded`: deletions wait for an approval, and get it. */
  run(how?: { readonly contended?: boolean; readonly guarded?: boolean }): Promise<Run>;
  /** As before the first run, in its own namespace. */
  forget(): Promise<void>;
  close(): Promise<void>;
}

export function rightsOfRule(role: KubeObject, rule: Rule): Right[] {
  return rightsOf(rule).map((right) => `${role.metadata.name}: ${right}`);
}

const POD = 'skep-0';

type RightsOfForm = (home: string, team: string, group: string) => readonly KubeObject[];

export async function openStripped(form: RightsOfForm, isWhole: boolean): Promise<Stripped> {
  const server = await openServer();
  const admin = await server.client('admin');
  const api = await connect(server.kubeconfig);
  const [git, receiver, folder] = [await startGitServer(), await startReceiver(), temporaryFolder()];
  const group = newGroup('minimal');
  const [home, namespace] = [await server.namespace('home'), await server.namespace('team')];
  await defineKinds(server, admin, group);
  const rights = form(home, namespace, group);
  const foreign = foreignDefinition(group);
  await putUp(server, admin, [foreign, ...rights, ...alsoFor(home, foreignRule(group))]);
  const roles = rights.filter(({ kind }) => kind.endsWith('Role'));
  const repository = git.createRepository('fleet.git');
  const secretFile = join(folder.path, 'webhook');
  writeFileSync(secretFile, 'secret', { mode: 0o600 });
  let [contended, number, last] = [false, 0, ''];
  const lost = new Set<string>();

  /** The first write to each object of the fleet comes too late. */
  function decide({ method, url, isWrite }: Passing): Fate {
    const path = url.split('?')[0] ?? '';
    const mine = path.includes(`/namespaces/${namespace}/`) || path.startsWith(`/api/v1/namespaces/${home}-`);
    if (!contended || !isWrite || !mine || path.endsWith('/status') || method === 'POST' || lost.has(path))
      return 'pass';
    lost.add(path);
    return { status: 409 };
  }

  const settings = {
    apiGroup: group,
    sources: [{ name: 'fleet', repository: `${git.url}/fleet.git`, branch: 'main' }],
    ...(isWhole ? { policies: ['builtin'] } : { namespaces: [namespace] }),
    outbound: { allowPrivate: ['127.0.0.0/8'] },
    notify: { webhooks: [{ url: `${receiver.url}/hook`, secretFile }] },
    stateDir: join(folder.path, 'state'),
  };
  function open(maxDeletes: number) {
    const dir = join(folder.path, `${maxDeletes}`);
    mkdirSync(dir);
    const apply = { maxDeletes, maxDeletesPercent: 100, waitSeconds: 0 };
    return openInstalled(server, home, { dir, settings: { ...settings, apply }, decide });
  }
  const [free, guarded] = [await open(1000), await open(0)];

  /** As `skep rollback` leaves it: the next newer commit ends it. */
  async function quarantine(): Promise<void> {
    if (last === '') return;
    const entry = { good: last, bad: last, older: [], run: 'run', since: '2026-01-01T00:00:00Z' };
    const metadata = { name: 'skep-default-quarantine', namespace: home };
    const data = { fleet: JSON.stringify(entry) };
    await admin.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data }, { force: true });
  }

  async function isAllowed(role: KubeObject, right: string): Promise<boolean> {
    const [verb = '', what = '', name = ''] = right.split(' ');
    const [resourceGroup, resource, subresource] = what.split('/');
    const place = role.metadata.namespace === undefined ? {} : { namespace: role.metadata.namespace };
    const resourceAttributes = { verb, group: resourceGroup, resource, subresource, name, ...place };
    const user = `system:serviceaccount:${home}:skep`;
    const body = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user, resourceAttributes },
    };
    const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
    const answer = await api.call({
      method: 'POST',
      path,
      query: {},
      contentType: 'application/json',
      body: JSON.stringify(body),
    });
    return isObject(answer.body) && isObject(answer.body.status) && answer.body.status.allowed === true;
  }

  let taken: ReadonlySet<Right> = new Set();
  async function without(next: readonly Right[]): Promise<void> {
    const wanted = new Set(next);
    for (const role of roles) {
      const all = rulesOf(role).flatMap((rule) => rightsOfRule(role, rule));
      const moved = all.filter((right) => wanted.has(right) !== taken.has(right));
      if (moved.length === 0) continue;
      const rules = rulesOf(role).flatMap((rule) => left(role, rule, wanted));
      await admin.apply({ ...role, rules } as unknown as KubeObject, { force: true });
      for (const right of moved) {
        await eventually(
          () => isAllowed(role, right.slice(role.metadata.name.length + 2)),
          (allowed) => allowed !== wanted.has(right),
        );
      }
    }
    taken = wanted;
  }

  /** The pod that the runs are in: each time of another image. */
  async function reportPod(): Promise<void> {
    const image = `example.com/skep:1@sha256:${String(number).padStart(64, '0')}`;
    const id = { apiVersion: 'v1', kind: 'Pod', namespace: home, name: POD };
    await removeNow(admin, id);
    const metadata = { name: POD, namespace: home };
    const spec = { serviceAccountName: 'skep', containers: [{ name: 'skep', image }] };
    await admin.apply({ apiVersion: 'v1', kind: 'Pod', metadata, spec }, { force: true });
  }

  async function run(how: { readonly contended?: boolean; readonly guarded?: boolean } = {}): Promise<Run> {
    const { proxy, use } = how.guarded === true ? guarded : free;
    await quarantine();
    number += 1;
    await reportPod();
    const namespaces = isWhole ? home : undefined;
    last = repository.commit(commitOf(number, { group, namespace, namespaces }));
    if (isWhole) server.later({ apiVersion: 'v1', kind: 'Namespace', name: `${home}-new-${number}` });
    const before = proxy.seen.length;
    contended = how.contended === true;
    lost.clear();
    Object.assign(process.env, { POD_NAME: POD, POD_NAMESPACE: home });
    const reported: string[] = [];
    await use(async (instance) => {
      const first = await instance.run();
      reported.push(...complaintsOf(first));
      const [{ hash } = { hash: '' }] = first.plan.waiting;
      if (hash === '') return;
      await approve({ ...instance.deps, cluster: admin }, instance.options(), hash, 1);
      reported.push(...complaintsOf(await instance.run()));
    }).catch((error: unknown) => {
      if (!(error instanceof Failure)) throw error;
      reported.push(error.message);
    });
    const complaints = [...new Set(reported.map((line) => line.replaceAll(/[0-9a-f]{6,}|\d+/g, 'N')))].sort();
    const refused = proxy.seen.slice(before).filter(({ status }) => status === 403);
    return { complaints, forbidden: refused.filter((seen) => !isOfOthers(seen, roles, home)) };
  }

  if (isWhole) server.later({ apiVersion: 'v1', kind: 'Namespace', name: `${home}-kept` });
  return {
    roles,
    without,
    run,
    async forget() {
      const records = ['', '-approval', '-history', '-image', '-inventory', '-notified', '-quarantine'];
      const ids = [
        { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', name: 'skep-default' },
        { apiVersion: 'v1', kind: 'Secret', name: 'skep-default' },
        ...records.map((record) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: `skep-default${record}` })),
      ];
      for (const id of ids) await removeNow(admin, { ...id, namespace: home });
    },
    async close() {
      await Promise.all([free.proxy.close(), guarded.proxy.close(), git.close(), receiver.close(), api.close()]);
      folder.remove();
      await server.close();
    },
  };
}

/** What is left of a rule: each right as a rule of its own where some are gone. */
function left(role: KubeObject, rule: Rule, taken: ReadonlySet<Right>): readonly Rule[] {
  const singles = rule.apiGroups.flatMap((group) =>
    rule.resources.flatMap((resource) =>
      rule.verbs.flatMap((verb) =>
        (rule.resourceNames ?? [undefined]).map((name) => ({
          apiGroups: [group],
          resources: [resource],
          verbs: [verb],
          ...(name === undefined ? {} : { resourceNames: [name] }),
        })),
      ),
    ),
  );
  const kept = singles.filter((single) => rightsOfRule(role, single).every((right) => !taken.has(right)));
  return kept.length === singles.length ? [rule] : kept;
}

/** A ClusterRole for the account of `home`, beside what is installed. */
function alsoFor(home: string, rule: Rule): KubeObject[] {
  const group = 'rbac.authorization.k8s.io';
  const name = `skep-also-${home}`;
  const roleRef = { apiGroup: group, kind: 'ClusterRole', name };
  const subjects = [{ kind: 'ServiceAccount', name: 'skep', namespace: home }];
  return [
    { apiVersion: `${group}/v1`, kind: 'ClusterRole', metadata: { name }, rules: [rule] },
    { apiVersion: `${group}/v1`, kind: 'ClusterRoleBinding', metadata: { name }, roleRef, subjects },
  ] as unknown as KubeObject[];
}

function complaintsOf({ problems, failures, warnings, outcomes, catalogue }: RunResult): readonly string[] {
  return [
    ...problems.map(formatProblem),
    ...[...failures, ...warnings].map(({ message }) => message),
    ...outcomes.flatMap(({ error }) => error?.message ?? []),
    ...catalogue.filter(({ action }) => action === 'failed').map(({ message }) => message),
  ];
}
