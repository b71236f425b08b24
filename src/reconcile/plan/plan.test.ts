import { describe, expect, test } from 'vitest';
import { idOf, type KubeObject, keyOf } from '../../kube/object.ts';
import type { Compared } from '../diff/compared.ts';
import { OWNER, PART_OF, PRUNE, SOURCE } from '../labels.ts';
import type { Approval } from '../records/approval.ts';
import { type PlanInput, plan } from './plan.ts';

const RANKS = ['Namespace', 'ServiceAccount', 'ConfigMap', 'Service', 'Deployment', 'Widget'];

function object(id: string, labels: Record<string, string> = {}): KubeObject {
  const [namespace = '', kind = '', name = ''] = id.split('/');
  const metadata = {
    namespace,
    name,
    uid: `uid-of-${name}`,
    labels: { [PART_OF]: 'ours', [SOURCE]: 'fleet', ...labels },
  };
  return { apiVersion: 'v1', kind, metadata };
}

function compared(verdict: Compared['verdict'], id: string, owner?: string): Compared {
  const desired = object(id);
  const whose = owner === undefined ? {} : { owner: idOf(object(owner)) };
  const live = verdict === 'create' ? {} : { live: object(id) };
  return {
    desired: { object: desired, id: idOf(desired), key: keyOf(idOf(desired)), ...whose },
    ...live,
    verdict,
    diff: [],
  };
}

function input(changes: Partial<PlanInput>): PlanInput {
  return {
    compared: [],
    surplus: [],
    owned: changes.surplus ?? [],
    heldOwners: new Set(),
    unknownOwnerKinds: new Set(),
    heldKeys: new Set(),
    referrers: { living: () => [], wanted: () => [] },
    leftAlone: new Map(),
    unknownReferrers: [],
    inhabited: new Set(),
    sources: new Set(['fleet']),
    suspended: new Map(),
    prune: true,
    allows: () => true,
    couldDeclare: () => true,
    withinLimits: () => true,
    applied: () => true,
    limits: { maxDeletes: 20, maxDeletesPercent: 100 },
    accountOf: () => undefined,
    rank: ({ kind }) => RANKS.indexOf(kind),
    ...changes,
  };
}

const APPROVAL: Approval = {
  hash: '0123456789abcdef',
  expiresAt: '2026-01-02T00:00:00.000Z',
  begun: false,
  uids: new Set(),
  stored: object('home/ConfigMap/approval'),
};

/** The plan as text: one line per batch, change and held object. */
function check(changes: Partial<PlanInput>, expected: readonly string[]): void {
  const { batches, held, guarded } = plan(input(changes));
  const text = [
    ...batches.flatMap(({ name, changes: all }) => [
      name,
      ...all.map((change) => `  ${change.action} ${change.resource.name}`),
    ]),
    ...held.map(({ resource, reason }) => `held ${resource.name}: ${reason}`),
    ...(guarded?.reasons ?? []).map((reason) => `guard: ${reason}`),
  ];
  expect(text).toEqual(expected);
}

function withController(child: KubeObject): KubeObject {
  const owner = { apiVersion: 'v1', kind: 'Widget', name: 'w', uid: 'uid-of-w', controller: true };
  return { ...child, metadata: { ...child.metadata, ownerReferences: [owner] } };
}

describe('the order of a plan', () => {
  test('what Git declares comes in order of kinds, children after all of it, deletions last and in reverse', () => {
    check(
      {
        compared: [
          compared('create', 'a/Deployment/child', 'a/Widget/w'),
          compared('create', 'a/ServiceAccount/child-account', 'a/Widget/w'),
          compared('create', 'a/Widget/w'),
          compared('changed', 'a/ConfigMap/settings'),
          compared('create', '/Namespace/a'),
          compared('unchanged', 'a/ConfigMap/quiet'),
        ],
        surplus: [
          object('a/Widget/old'),
          object('a/ConfigMap/old-child', { [OWNER]: 'widget.old' }),
          object('a/Deployment/old-workload', { [OWNER]: 'widget.old' }),
          object('a/ConfigMap/old-settings'),
        ],
      },
      [
        'apply Namespace',
        '  create a',
        'apply ConfigMap',
        '  update settings',
        'apply Widget',
        '  create w',
        'apply ServiceAccount',
        '  create child-account',
        'apply Deployment',
        '  create child',
        'delete Deployment',
        '  delete old-workload',
        'delete ConfigMap',
        '  delete old-child',
        'delete Widget',
        '  delete old',
        'delete ConfigMap',
        '  delete old-settings',
      ],
    );
  });

  test('the same differences in another order give the same plan, byte for byte', () => {
    const changes = ['a/ConfigMap/x', 'a/ConfigMap/y', 'a/Widget/z'].map((id) => compared('create', id));
    const surplus = [object('a/Service/p'), object('a/Service/q')];
    const forwards = plan(input({ compared: changes, surplus }));
    const backwards = plan(input({ compared: changes.toReversed(), surplus: surplus.toReversed() }));
    expect(JSON.stringify(backwards)).toBe(JSON.stringify(forwards));
  });
});

describe('what is never deleted', () => {
  const child = object('a/Deployment/child', { [OWNER]: 'widget.w' });
  const rows: { reason: string; changes: Partial<PlanInput>; held: string }[] = [
    {
      reason: 'a resource whose manifest is invalid',
      changes: { surplus: [object('a/Widget/w')], heldKeys: new Set([keyOf(idOf(object('a/Widget/w')))]) },
      held: 'held w: its manifest, or one that it depends on, is invalid',
    },
    {
      reason: 'the children of a held owner',
      changes: { surplus: [child], heldOwners: new Set(['a/widget.w']) },
      held: 'held child: its owner widget.w is held',
    },
    {
      reason: 'the children of an owner whose kind could not be listed',
      changes: { surplus: [child], unknownOwnerKinds: new Set(['widget']) },
      held: 'held child: nothing is known about its owner widget.w',
    },
    {
      reason: 'anything of a source with a document that cannot be identified',
      changes: { surplus: [child], suspended: new Map([['fleet', 'one of its documents could not be identified']]) },
      held: 'held child: source fleet: one of its documents could not be identified',
    },
    {
      reason: 'the children of a held owner whose label was taken off: the owner reference tells it too',
      changes: { surplus: [withController(object('a/Deployment/child'))], heldOwners: new Set(['a/widget.w']) },
      held: 'held child: its owner widget.w is held',
    },
    {
      reason: 'what may have moved to another source, one of whose documents cannot be identified',
      changes: {
        surplus: [object('a/Widget/w')],
        sources: new Set(['fleet', 'other']),
        suspended: new Map([
          ['third', 'it could not be read'],
          ['other', 'one of its documents could not be identified'],
        ]),
        couldDeclare: (source) => source === 'other',
      },
      held: 'held w: it may have moved to source other: one of its documents could not be identified',
    },
    {
      reason: 'what no configured source declared, while one cannot be read: it may be a source with a new name',
      changes: {
        surplus: [object('a/Widget/w', { [SOURCE]: 'earlier' })],
        suspended: new Map([['fleet', 'it could not be fetched']]),
      },
      held: 'held w: its source is not known, and it may be one of source fleet: it could not be fetched',
    },
    {
      reason: 'what has our labels only because it was copied',
      changes: { surplus: [child], applied: () => false },
      held: 'held child: it has our labels, but this instance never applied it: is it a copy?',
    },
    {
      reason: 'what lives in a namespace that the instance may not touch',
      changes: { surplus: [child], allows: (namespace) => namespace !== 'a' },
      held: 'held child: namespace a is not ours to touch',
    },
    {
      reason: 'anything at all where pruning is off',
      changes: { surplus: [child], prune: false },
      held: 'held child: apply.prune is false',
    },
  ];
  for (const { reason, changes, held } of rows) test(reason, () => check(changes, [held]));
});

describe('the guard', () => {
  const many = ['p', 'q', 'r', 's'].map((name) => object(`a/Service/${name}`));

  test('holds all deletions of a run that has more than maxDeletes, and lets the rest go on', () => {
    check(
      {
        compared: [compared('create', 'a/ConfigMap/new')],
        surplus: many,
        limits: { maxDeletes: 3, maxDeletesPercent: 100 },
      },
      [
        'apply ConfigMap',
        '  create new',
        ...['p', 'q', 'r', 's'].map((name) => `held ${name}: its deletion waits for approval`),
        'guard: 4 deletions, and apply.maxDeletes is 3',
      ],
    );
  });

  test('counts the share of a kind among what is ours', () => {
    const limits = { maxDeletes: 20, maxDeletesPercent: 25 };
    const owned = [...many, ...['t', 'u', 'v', 'w'].map((name) => object(`a/Service/${name}`))];
    check({ surplus: many.slice(0, 2), owned, limits }, ['delete Service', '  delete p', '  delete q']);
    check({ surplus: many.slice(0, 3), owned, limits }, [
      ...['p', 'q', 'r'].map((name) => `held ${name}: its deletion waits for approval`),
      'guard: 3 of 8 Service, and apply.maxDeletesPercent is 25',
    ]);
  });

  test('lets the only object of a kind go: one deletion is a decision, not an accident', () => {
    check({ surplus: many.slice(0, 1), limits: { maxDeletes: 20, maxDeletesPercent: 25 } }, [
      'delete Service',
      '  delete p',
    ]);
  });

  test.each<{ id: string; own: Record<string, string>; reason: string; child: string }>([
    { id: 'a/Widget/w', own: {}, reason: 'it has skep.dev/prune: disabled', child: 'its owner widget.w is held' },
    {
      id: 'a/Service/child',
      own: { [OWNER]: 'widget.w' },
      reason: 'its child a/Service/child has skep.dev/prune: disabled',
      child: 'it has skep.dev/prune: disabled',
    },
  ])('what is protected stays with its owner and children: $id', ({ id, own, reason, child }) => {
    const shielded = object(id, own);
    const metadata = { ...shielded.metadata, annotations: { [PRUNE]: 'disabled' } };
    const others = [object('a/Service/child', { [OWNER]: 'widget.w' }), object('a/Widget/w')];
    const surplus = [
      { ...shielded, metadata },
      ...others.filter(({ metadata: { name } }) => name !== shielded.metadata.name),
      object('a/Service/brother', { [OWNER]: 'widget.w' }),
      object('a/Widget/other'),
    ];
    const { batches, held } = plan(input({ surplus }));
    expect(batches.map(({ changes }) => changes.map(({ resource }) => resource.name))).toEqual([['other']]);
    expect(Object.fromEntries(held.map(({ resource, reason: why }) => [resource.name, why]))).toEqual({
      w: reason,
      child,
      brother: 'its owner widget.w is held',
    });
  });

  test('what is approved goes, whatever the limits', () => {
    const surplus = [object('a/Service/p'), object('a/Service/q')];
    const limits = { maxDeletes: 0, maxDeletesPercent: 100 };
    check({ surplus, limits, approval: APPROVAL }, ['delete Service', '  delete p', '  delete q']);
    const { guarded, approved } = plan(input({ surplus, limits, approval: APPROVAL }));
    expect([guarded, approved?.guarded.deletions.length]).toEqual([undefined, 2]);
  });

  test('what was deleted before and is not gone yet needs no approval', () => {
    const departing = object('a/Service/p');
    const metadata = { ...departing.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
    check(
      {
        surplus: [{ ...departing, metadata }, object('a/Service/q')],
        limits: { maxDeletes: 0, maxDeletesPercent: 100 },
      },
      [
        'held p: it is being deleted',
        'held q: its deletion waits for approval',
        'guard: 1 deletions, and apply.maxDeletes is 0',
      ],
    );
  });

  test('names a replacement by another hash than a deletion: to allow the one is not to allow the other', () => {
    const limits = { maxDeletes: 0, maxDeletesPercent: 100 };
    const live = object('a/Service/p');
    const desired = { object: live, id: idOf(live), key: keyOf(idOf(live)) };
    const anew: Compared = { desired, live, verdict: 'replace', diff: [] };
    const guards = [{ surplus: [live] }, { compared: [anew] }].map((each) => plan(input({ ...each, limits })).guarded);
    const [deleted, replaced] = guards;
    expect(replaced?.deletions).toEqual(deleted?.deletions.map((each) => ({ ...each, replaced: true })));
    expect(replaced?.hash).not.toBe(deleted?.hash);
  });

  test('names the exact list by a hash that follows the uids', () => {
    const limits = { maxDeletes: 0, maxDeletesPercent: 100 };
    const hash = (surplus: KubeObject[]) => plan(input({ surplus, limits })).guarded?.hash;
    const again = object('a/Service/p');
    expect(hash([object('a/Service/p')])).toBe(hash([again]));
    expect(hash([{ ...again, metadata: { ...again.metadata, uid: 'another' } }])).not.toBe(hash([again]));
  });
});
