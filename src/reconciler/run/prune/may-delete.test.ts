// Tests each reason for which an object is kept or waits, and that an object without a reason is deleted.

import { expect, test } from 'vitest';
import { idOf, type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import { OWNER, PART_OF, PRUNE, RECONCILE, SOURCE } from '../labels.ts';
import { type DeletionFacts, mayDelete } from './may-delete.ts';

function object(id: string, labels: Record<string, string> = {}, metadata: object = {}): KubeObject {
  const [namespace = '', kind = '', name = ''] = id.split('/');
  const place = namespace === '' ? {} : { namespace };
  const own = { name, uid: `uid-of-${name}`, labels: { [PART_OF]: 'ours', [SOURCE]: 'fleet', ...labels } };
  return { apiVersion: 'v1', kind, metadata: { ...own, ...place, ...metadata } };
}

const FACTS: DeletionFacts = {
  prune: true,
  allows: () => true,
  couldDeclare: () => true,
  withinLimits: () => true,
  applied: () => true,
  leftAlone: new Map(),
  protectedOwners: new Map(),
  heldKeys: new Set(),
  heldOwners: new Set(),
  unknownOwnerKinds: new Set(),
  sources: new Set(['fleet', 'other']),
  suspended: new Map(),
  outOfUse: new Map(),
  awaiting: new Map(),
  abandoned: () => false,
  referrers: () => [],
  unknownReferrers: [],
  inhabited: { namespaces: new Set(), kinds: new Set() },
  waits: () => undefined,
};

const widget = object('a/Widget/w');
const child = object('a/Deployment/child', { [OWNER]: 'widget.w' });
const controller = { apiVersion: 'v1', kind: 'Widget', name: 'w', uid: 'uid-of-w', controller: true };
const definition: KubeObject = {
  ...object('/CustomResourceDefinition/things.example.com'),
  apiVersion: 'apiextensions.k8s.io/v1',
  spec: { group: 'example.com', names: { kind: 'Thing' } },
};

interface Row {
  readonly reason: string;
  readonly object: KubeObject;
  readonly facts: Partial<DeletionFacts>;
  readonly expected: string;
}

const ROWS: readonly Row[] = [
  {
    reason: 'an object that nothing declares, and nothing keeps, is deleted',
    object: widget,
    facts: {},
    expected: 'go',
  },
  {
    reason: 'an object that its manifest leaves alone stays',
    object: widget,
    facts: { leftAlone: new Map([[keyOf(idOf(widget)), { resource: idOf(widget), reason: 'its manifest says so' }]]) },
    expected: 'stay: its manifest says so',
  },
  {
    reason: 'an object that an annotation leaves alone stays',
    object: object('a/Widget/w', {}, { annotations: { [RECONCILE]: 'disabled' } }),
    facts: {},
    expected: 'stay: it has skep.dev/reconcile: disabled',
  },
  {
    reason: 'an object that an annotation protects stays',
    object: object('a/Widget/w', {}, { annotations: { [PRUNE]: 'disabled' } }),
    facts: {},
    expected: 'stay: it has skep.dev/prune: disabled',
  },
  {
    reason: 'the owner of a protected child stays',
    object: widget,
    facts: { protectedOwners: new Map([['a/widget.w', 'its child has skep.dev/prune: disabled']]) },
    expected: 'stay: its child has skep.dev/prune: disabled',
  },
  {
    reason: 'nothing is deleted if pruning is off',
    object: child,
    facts: { prune: false },
    expected: 'stay: apply.prune is false',
  },
  {
    reason: 'an object without a uid stays',
    object: object('a/Widget/w', {}, { uid: undefined }),
    facts: {},
    expected: 'stay: it has no uid, without which nothing is deleted',
  },
  {
    reason: 'an object in a namespace that the instance may not touch stays',
    object: child,
    facts: { allows: (namespace) => namespace !== 'a' },
    expected: 'stay: namespace a is not one that this instance may touch (namespaces of skep.yaml)',
  },
  {
    reason: 'an object that its source may not declare stays',
    object: widget,
    facts: { withinLimits: () => false },
    expected: 'stay: source fleet may not declare such an object (sources[].allow of skep.yaml)',
  },
  {
    reason: 'an object that has our labels only because it was copied stays',
    object: child,
    facts: { applied: () => false },
    expected: 'stay: it has the labels of this instance, which never applied it: it may be a copy',
  },
  {
    reason: 'an object with an invalid manifest stays',
    object: widget,
    facts: { heldKeys: new Set([keyOf(idOf(widget))]) },
    expected: 'stay: its manifest, or one that it depends on, is invalid',
  },
  {
    reason: 'an object of a waiting source stays',
    object: widget,
    facts: { awaiting: new Map([['fleet', 'source fleet waits for source infra']]) },
    expected: 'stay: source fleet waits for source infra',
  },
  {
    reason: 'an object that the garbage collector deletes is left to it',
    object: child,
    facts: { abandoned: () => true },
    expected: 'stay: its owner was deleted, and the garbage collector deletes it',
  },
  {
    reason: 'a child of a staying object stays',
    object: child,
    facts: { heldOwners: new Set(['a/widget.w']) },
    expected: 'stay: the children of widget.w are not changed in this run',
  },
  {
    reason: 'a child whose label was taken off stays by its owner reference',
    object: object('a/Deployment/child', {}, { ownerReferences: [controller] }),
    facts: { heldOwners: new Set(['a/widget.w']) },
    expected: 'stay: the children of widget.w are not changed in this run',
  },
  {
    reason: 'a child of an owner whose kind could not be listed stays',
    object: child,
    facts: { unknownOwnerKinds: new Set(['widget']) },
    expected: 'stay: its owner widget.w could not be read',
  },
  {
    reason: 'anything of a source that could not be read stays',
    object: child,
    facts: { suspended: new Map([['fleet', 'it could not be read']]) },
    expected: 'stay: source fleet: it could not be read',
  },
  {
    reason: 'an object that may have moved to an unreadable source stays',
    object: widget,
    facts: {
      suspended: new Map([
        ['third', 'it could not be read'],
        ['other', 'one of its documents could not be identified'],
      ]),
      couldDeclare: (source) => source === 'other',
    },
    expected: 'stay: it may have moved to source other: one of its documents could not be identified',
  },
  {
    reason: 'an object of no configured source stays while a source cannot be read: the source may have a new name',
    object: object('a/Widget/w', { [SOURCE]: 'earlier' }),
    facts: { suspended: new Map([['fleet', 'it could not be fetched']]) },
    expected: 'stay: its source is not known, and it may belong to source fleet: it could not be fetched',
  },
  {
    reason: 'an object that moved to a source that was rolled back stays',
    object: widget,
    facts: { outOfUse: new Map([['other', new Set([keyOf(idOf(widget))])]]) },
    expected: 'stay: source other declares it in the commit that a rollback took out of use',
  },
  {
    reason: 'an object that may have moved to a source that was rolled back stays if its commit cannot be read',
    object: widget,
    facts: { outOfUse: new Map([['other', 'unknown']]) },
    expected: 'stay: source other may declare it in the commit that a rollback took out of use',
  },
  {
    reason: 'an object that a rollback of its own source removes is deleted',
    object: widget,
    facts: { outOfUse: new Map([['fleet', new Set([keyOf(idOf(widget))])]]) },
    expected: 'go',
  },
  {
    reason: 'a namespace stays with its objects',
    object: object('/Namespace/a'),
    facts: { inhabited: { namespaces: new Set(['a']), kinds: new Set() } },
    expected: 'stay: something in it is kept',
  },
  {
    reason: 'a definition stays with the objects of its kind',
    object: definition,
    facts: { inhabited: { namespaces: new Set(), kinds: new Set(['Thing.example.com']) } },
    expected: 'stay: an object of that kind is kept',
  },
  {
    reason: 'an object with a referrer stays',
    object: widget,
    facts: { referrers: () => [idOf(object('a/Server/s')), idOf(object('a/Server/t'))] },
    expected: 'stay: a/Server/s still refers to it, and 1 more',
  },
  {
    reason: 'an object that an unlisted kind may refer to stays',
    object: widget,
    facts: { unknownReferrers: ['Server'] },
    expected: 'stay: Server could not be listed, and one may refer to it',
  },
  {
    reason: 'a child follows its owner, whoever refers to it',
    object: child,
    facts: { referrers: () => [idOf(object('a/Server/s'))] },
    expected: 'go',
  },
  {
    reason: 'an object that is being deleted is not deleted again',
    object: object('a/Widget/w', {}, { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['example.com/keep'] }),
    facts: {},
    expected: 'stay: it is being deleted, and waits for example.com/keep',
  },
  {
    reason: 'an object without an approval for its source waits',
    object: widget,
    facts: { waits: () => 'its deletion waits for approval' },
    expected: 'wait: its deletion waits for approval',
  },
];

test.each(ROWS)('$reason', ({ object: live, facts, expected }) => {
  const decision = mayDelete(live, { ...FACTS, ...facts });
  expect(decision.decision === 'go' ? 'go' : `${decision.decision}: ${decision.reason}`).toBe(expected);
});
