// Tests plans from comparison to approval. In one file, because every case has the same input with one difference, and
// compares the plan as lines of text.

import { describe, expect, test } from 'vitest';
import { idOf, type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import type { Compared } from '../diff/compared.ts';
import { OWNER, PART_OF, PRUNE, SOURCE } from '../labels.ts';
import { type DeletionsInput, deletionsOf } from '../prune/deletions.ts';
import { type ListsInput, listsOf } from '../prune/lists.ts';
import type { Sourced } from '../read/sourced.ts';
import type { Approval } from '../records/approval.ts';
import { type Plan, type PlanInput, plan, replacedOf } from './plan.ts';

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

function compared(result: Compared['result'], id: string, owner?: string): Compared {
  const desired = object(id);
  const whose = owner === undefined ? {} : { owner: idOf(object(owner)) };
  const live = result === 'create' ? {} : { live: object(id) };
  return {
    desired: { object: desired, id: idOf(desired), key: keyOf(idOf(desired)), ...whose },
    ...live,
    result,
    diff: [],
  };
}

type Changes = Partial<DeletionsInput> &
  Partial<Pick<PlanInput, 'compared'>> &
  Partial<Pick<ListsInput, 'owned' | 'limits' | 'faults' | 'contents' | 'recorded'>> & {
    /** Number of resources that the source declares. */
    readonly declares?: number;
    readonly approval?: Approval;
  };

function planOf(changes: Changes): Plan {
  const { compared: pairs = [], owned = changes.surplus ?? [], declares = 1, approval } = changes;
  const deletions = deletionsOf({
    surplus: [],
    heldOwners: new Set(),
    unknownOwnerKinds: new Set(),
    heldKeys: new Set(),
    referrers: { desired: () => [] },
    leftAlone: new Map(),
    unknownReferrers: [],
    staying: [],
    sources: new Set(['fleet']),
    suspended: new Map(),
    outOfUse: new Map(),
    awaiting: new Map(),
    abandoned: () => false,
    prune: true,
    allows: () => true,
    couldDeclare: () => true,
    withinLimits: () => true,
    applied: () => true,
    ...changes,
  });
  const found = listsOf({
    going: deletions.going,
    replaced: pairs.flatMap((each) => replacedOf(each) ?? []),
    owned,
    loaded: Array.from({ length: declares }, () => DECLARED),
    sources: new Set(['fleet']),
    faults: new Map(),
    recorded: () => true,
    contents: new Map(),
    limits: { maxDeletes: 20, maxDeletesPercent: 100 },
    ...changes,
  });
  return plan({
    compared: pairs,
    awaiting: [],
    deletions,
    lists: found.map((list) => (approval === undefined ? list : { ...list, approval })),
    leaving: new Map(),
    referrers: () => [],
    accountOf: () => undefined,
    rank: ({ kind }) => RANKS.indexOf(kind),
  });
}

const KEPT = object('a/Widget/kept');
const DECLARED: Sourced = {
  id: idOf(KEPT),
  object: KEPT,
  source: 'fleet',
  place: () => ({ file: '', line: 1, column: 1 }),
};

const APPROVAL: Approval = {
  hash: '0123456789abcdef',
  expiresAt: '2026-01-02T00:00:00.000Z',
  begun: false,
  lines: new Set(),
};

/** Compares the plan with text: one line per batch, change and object that is kept unchanged. */
function check(changes: Changes, expected: readonly string[]): void {
  const { batches, held, waiting } = planOf(changes);
  const text = [
    ...batches.flatMap(({ name, changes: all }) => [
      name,
      ...all.map((change) => `  ${change.action} ${change.resource.name}`),
    ]),
    ...held.map(({ resource, reason }) => `held ${resource.name}: ${reason}`),
    ...waiting.flatMap(({ reasons }) => reasons.map((reason) => `guard: ${reason}`)),
  ];
  expect(text).toEqual(expected);
}

describe('the order of a plan', () => {
  test('declared objects come first in the order of kinds, then children, then deletions in the reverse order', () => {
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

  test('the same differences in another order lead to the same plan', () => {
    const changes = ['a/ConfigMap/x', 'a/ConfigMap/y', 'a/Widget/z'].map((id) => compared('create', id));
    const surplus = [object('a/Service/p'), object('a/Service/q')];
    const forwards = planOf({ compared: changes, surplus });
    const backwards = planOf({ compared: changes.toReversed(), surplus: surplus.toReversed() });
    expect(JSON.stringify(backwards)).toBe(JSON.stringify(forwards));
  });
});

describe('the guard', () => {
  const many = ['p', 'q', 'r', 's'].map((name) => object(`a/Service/${name}`));

  test('blocks all deletions of a run with more than maxDeletes, and allows all other changes', () => {
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
        'guard: 4 deletions, more than apply.maxDeletes allows (3)',
      ],
    );
  });

  test('counts the share of a kind among our objects', () => {
    const limits = { maxDeletes: 20, maxDeletesPercent: 25 };
    const owned = [...many, ...['t', 'u', 'v', 'w'].map((name) => object(`a/Service/${name}`))];
    check({ surplus: many.slice(0, 2), owned, limits }, ['delete Service', '  delete p', '  delete q']);
    check({ surplus: many.slice(0, 3), owned, limits }, [
      ...['p', 'q', 'r'].map((name) => `held ${name}: its deletion waits for approval`),
      'guard: 3 of 8 Service, more than apply.maxDeletesPercent allows (25 %)',
    ]);
  });

  test('allows the deletion of the only object of a kind, because a single deletion is intended', () => {
    check({ surplus: many.slice(0, 1), limits: { maxDeletes: 20, maxDeletesPercent: 25 } }, [
      'delete Service',
      '  delete p',
    ]);
  });

  test.each<{ id: string; own: Record<string, string>; reason: string; child: string }>([
    {
      id: 'a/Widget/w',
      own: {},
      reason: 'it has skep.dev/prune: disabled',
      child: 'the children of widget.w are not changed in this run',
    },
    {
      id: 'a/Service/child',
      own: { [OWNER]: 'widget.w' },
      reason: 'its child a/Service/child has skep.dev/prune: disabled',
      child: 'it has skep.dev/prune: disabled',
    },
  ])('a protected object stays with its owner and children: $id', ({ id, own, reason, child }) => {
    const shielded = object(id, own);
    const metadata = { ...shielded.metadata, annotations: { [PRUNE]: 'disabled' } };
    const others = [object('a/Service/child', { [OWNER]: 'widget.w' }), object('a/Widget/w')];
    const surplus = [
      { ...shielded, metadata },
      ...others.filter(({ metadata: { name } }) => name !== shielded.metadata.name),
      object('a/Service/brother', { [OWNER]: 'widget.w' }),
      object('a/Widget/other'),
    ];
    const { batches, held } = planOf({ surplus });
    expect(batches.map(({ changes }) => changes.map(({ resource }) => resource.name))).toEqual([['other']]);
    expect(Object.fromEntries(held.map(({ resource, reason: why }) => [resource.name, why]))).toEqual({
      w: reason,
      child,
      brother: 'the children of widget.w are not changed in this run',
    });
  });

  test('approved objects are deleted, whatever the limits', () => {
    const surplus = [object('a/Service/p'), object('a/Service/q')];
    const limits = { maxDeletes: 0, maxDeletesPercent: 100 };
    check({ surplus, limits, approval: APPROVAL }, ['delete Service', '  delete p', '  delete q']);
    const { waiting, approved } = planOf({ surplus, limits, approval: APPROVAL });
    expect([waiting, approved.map(({ deletions }) => deletions.length)]).toEqual([[], [2]]);
  });

  test('an object that is being deleted already needs no approval', () => {
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
        'guard: 1 deletion, more than apply.maxDeletes allows (0)',
      ],
    );
  });

  test('uses different hashes for replacement and deletion, because approval of one does not allow the other', () => {
    const limits = { maxDeletes: 0, maxDeletesPercent: 100 };
    const live = object('a/Service/p');
    const desired = { object: live, id: idOf(live), key: keyOf(idOf(live)) };
    const anew: Compared = { desired, live, result: 'replace', diff: [] };
    const guards = [{ surplus: [live] }, { compared: [anew] }].map((each) => planOf({ ...each, limits }).waiting[0]);
    const [deleted, replaced] = guards;
    expect(replaced?.deletions).toEqual(deleted?.deletions.map((each) => ({ ...each, replaced: true })));
    expect(replaced?.hash).not.toBe(deleted?.hash);
  });

  test('identifies the list by a hash that depends on the uids', () => {
    const limits = { maxDeletes: 0, maxDeletesPercent: 100 };
    const hash = (surplus: KubeObject[]) => planOf({ surplus, limits }).waiting[0]?.hash;
    const again = object('a/Service/p');
    expect(hash([object('a/Service/p')])).toBe(hash([again]));
    expect(hash([{ ...again, metadata: { ...again.metadata, uid: 'another' } }])).not.toBe(hash([again]));
  });

  test('blocks even a single deletion if a source declares nothing any more', () => {
    check({ surplus: many.slice(0, 1), declares: 0 }, [
      'held p: its deletion waits for approval',
      'guard: source fleet declares nothing any more, and its only object would be deleted',
    ]);
  });

  test('blocks deletions of a source that the configuration no longer has', () => {
    check({ surplus: [object('a/Service/p', { [SOURCE]: 'former' })] }, [
      'held p: its deletion waits for approval',
      'guard: skep.yaml has no source former any more, and its only object would be deleted',
    ]);
  });

  test('counts the share per source, independent of other sources', () => {
    const names = ['Service/p', 'ConfigMap/q', 'Widget/r', 'Deployment/s'];
    const owned = [
      ...names.map((name) => object(`a/${name}`)),
      ...Array.from({ length: 100 }, (_, n) => object(`b/Service/other-${n}`, { [SOURCE]: 'other' })),
    ];
    check({ surplus: owned.slice(0, 3), owned, limits: { maxDeletes: 20, maxDeletesPercent: 25 } }, [
      ...['q', 'p', 'r'].map((name) => `held ${name}: its deletion waits for approval`).sort(),
      'guard: 3 of 4 objects of the source, more than apply.maxDeletesPercent allows (25 %)',
    ]);
  });

  test('allows the deletions of a source if only the deletions of another source exceed the limits', () => {
    const other = object('b/Service/other', { [SOURCE]: 'other' });
    const limits = { maxDeletes: 1, maxDeletesPercent: 100 };
    const loaded = ['fleet', 'other'].map((source) => ({ ...DECLARED, source }));
    const { batches, waiting } = planOf({ surplus: [...many, other], limits, ...{ loaded, sources: SOURCES } });
    expect(batches.flatMap(({ changes }) => changes.map(({ resource }) => resource.name))).toEqual(['other']);
    expect(waiting.map(({ source }) => source)).toEqual(['fleet']);
  });

  test('blocks deletions while an object of the source is faulty, and names the object', () => {
    const resource = idOf(object('a/Widget/w2'));
    check({ surplus: many.slice(0, 1), faults: new Map([['fleet', [{ resource, what: 'is invalid' }]]]) }, [
      'held p: its deletion waits for approval',
      'guard: a/Widget/w2 is invalid: it may be the new name of an object that would be deleted',
    ]);
  });

  test('blocks deletions of objects that the inventory does not contain, and allows all other deletions', () => {
    const recorded = ({ metadata }: KubeObject): boolean => metadata.name !== 'p';
    check({ surplus: many.slice(0, 2), recorded }, [
      'delete Service',
      '  delete q',
      'held p: its deletion waits for approval',
      'guard: 1 object has the labels of this instance, and its inventory has no record that it created them',
    ]);
  });

  test('puts the children of a waiting object into its list', () => {
    const surplus = [object('a/Widget/w'), object('a/Service/child', { [OWNER]: 'widget.w' })];
    const { batches, waiting } = planOf({ surplus, recorded: ({ kind }) => kind !== 'Widget' });
    expect(batches).toEqual([]);
    expect(waiting.map(({ deletions }) => deletions.map(({ id }) => id))).toEqual([['a/Service/child', 'a/Widget/w']]);
  });

  test('blocks a deletion that would also delete a foreign object, and names the foreign object', () => {
    const namespace = object('/Namespace/a');
    const contents = new Map([[keyOf(idOf(namespace)), { takes: ['a/ConfigMap/theirs'], unlisted: [] }]]);
    check({ surplus: [namespace], contents }, [
      'held a: its deletion waits for approval',
      'guard: deleting /Namespace/a also deletes content that this instance does not manage: a/ConfigMap/theirs',
    ]);
  });
});

describe('objects that would be deleted with a namespace or a definition', () => {
  const ofOther = { [SOURCE]: 'other' };
  const definition: KubeObject = {
    ...object('/CustomResourceDefinition/widgets.example.com'),
    apiVersion: 'apiextensions.k8s.io/v1',
    spec: { group: 'example.com', names: { kind: 'Widget' } },
  };
  const widget = (labels = {}): KubeObject => ({ ...object('a/Widget/w', labels), apiVersion: 'example.com/v1' });

  test('keep their namespace while they wait in the list of another source', () => {
    const { batches, held, waiting } = planOf({ surplus: [object('/Namespace/a'), object('a/Service/p', ofOther)] });
    expect(batches).toEqual([]);
    expect(held.map(({ resource, reason }) => `${resource.name}: ${reason}`).sort()).toEqual([
      'a: something in it is kept',
      'p: its deletion waits for approval',
    ]);
    expect(waiting.map(({ source }) => source)).toEqual(['other']);
  });

  test('keep their definition while they wait, even if the inventory does not contain them', () => {
    const recorded = ({ kind }: KubeObject): boolean => kind !== 'Widget';
    const { batches, held } = planOf({ surplus: [definition, widget()], recorded });
    expect(batches).toEqual([]);
    expect(held.map(({ resource, reason }) => `${resource.name}: ${reason}`).sort()).toEqual([
      'w: its deletion waits for approval',
      'widgets.example.com: an object of that kind is kept',
    ]);
  });

  test('are in one list with their namespace', () => {
    const { waiting } = planOf({
      surplus: [object('/Namespace/a'), object('a/Service/p')],
      limits: { maxDeletes: 1, maxDeletesPercent: 100 },
    });
    expect(waiting.map(({ deletions }) => deletions.map(({ id }) => id))).toEqual([['/Namespace/a', 'a/Service/p']]);
  });
});

const SOURCES: ReadonlySet<string> = new Set(['fleet', 'other']);
