// Tests which objects are kept because a kept object refers to them.

import { expect, test } from 'vitest';
import { idOf, type KubeObject } from '#kubernetes/rules/object.ts';
import { formatId, type ResourceId } from '#std/problem.ts';
import { OWNER, PART_OF, SOURCE } from '../labels.ts';
import { type DeletionsInput, deletionsOf } from './deletions.ts';

function object(id: string, labels: Record<string, string> = {}): KubeObject {
  const [namespace = '', kind = '', name = ''] = id.split('/');
  const metadata = {
    ...(namespace === '' ? {} : { namespace }),
    name,
    uid: `uid-of-${name}`,
    labels: { [PART_OF]: 'ours', [SOURCE]: 'fleet', ...labels },
  };
  return { apiVersion: 'v1', kind, metadata };
}

interface Row {
  readonly reason: string;
  readonly surplus: readonly KubeObject[];
  /** References after the run, such as `a/Server/s -> a/Config/c`. */
  readonly refers?: readonly string[];
  readonly changes?: Partial<DeletionsInput>;
  readonly expected: readonly string[];
}

function lookup(refers: readonly string[]) {
  const pairs = refers.map((text) => text.split(' -> '));
  return (target: ResourceId) =>
    pairs.filter(([, to]) => to === formatId(target)).map(([from = '']) => idOf(object(from)));
}

function reported({ surplus, refers = [], changes = {} }: Row): string[] {
  const { going, held } = deletionsOf({
    surplus,
    referrers: { desired: lookup(refers) },
    leftAlone: new Map(),
    unknownReferrers: [],
    staying: [],
    heldOwners: new Set(),
    unknownOwnerKinds: new Set(),
    heldKeys: new Set(),
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
  return [
    ...going.map((each) => `goes ${formatId(idOf(each))}`),
    ...held.map(({ resource, reason }) => `stays ${formatId(resource)}: ${reason}`),
  ];
}

const config = object('a/Config/c');
const server = object('a/Server/s');

const namespace = object('/Namespace/a');

const ROWS: readonly Row[] = [
  {
    reason: 'a namespace is deleted with its objects',
    surplus: [namespace, config],
    expected: ['goes Namespace/a', 'goes a/Config/c'],
  },
  {
    reason: 'a namespace stays if something in it is declared',
    surplus: [namespace],
    changes: { staying: [idOf(config)] },
    expected: ['stays Namespace/a: something in it is kept'],
  },
  {
    reason: 'a namespace stays if something in it is kept',
    surplus: [namespace, config],
    refers: ['a/Server/s -> a/Config/c'],
    expected: ['stays Namespace/a: something in it is kept', 'stays a/Config/c: a/Server/s still refers to it'],
  },
  { reason: 'an object without referrers is deleted', surplus: [config], expected: ['goes a/Config/c'] },
  {
    reason: 'an object with a referrer stays',
    surplus: [config],
    refers: ['a/Server/s -> a/Config/c'],
    expected: ['stays a/Config/c: a/Server/s still refers to it'],
  },
  {
    reason: 'an object with many referrers stays, and they are counted',
    surplus: [config],
    refers: ['a/Server/s -> a/Config/c', 'a/Server/t -> a/Config/c', 'a/Server/u -> a/Config/c'],
    expected: ['stays a/Config/c: a/Server/s still refers to it, and 2 more'],
  },
  {
    reason: 'an object whose referrer is deleted is deleted too',
    surplus: [config, server],
    refers: ['a/Server/s -> a/Config/c'],
    expected: ['goes a/Config/c', 'goes a/Server/s'],
  },
  {
    reason: 'an object with a deleted and a staying referrer stays',
    surplus: [config, server],
    refers: ['a/Server/s -> a/Config/c', 'a/Server/t -> a/Config/c'],
    expected: ['goes a/Server/s', 'stays a/Config/c: a/Server/t still refers to it'],
  },
  {
    reason: 'an object that stays for its referrer keeps the objects that it refers to itself',
    surplus: [object('a/Secret/x'), config, server],
    refers: ['a/Config/c -> a/Secret/x', 'a/Server/s -> a/Config/c', 'a/Virtual/v -> a/Server/s'],
    expected: [
      'stays a/Server/s: a/Virtual/v still refers to it',
      'stays a/Secret/x: a/Config/c still refers to it',
      'stays a/Config/c: a/Server/s still refers to it',
    ],
  },
  {
    reason: 'a referrer that is held for another reason stays, and so does its target',
    surplus: [config, server],
    refers: ['a/Server/s -> a/Config/c'],
    changes: { heldKeys: new Set(['/Server/a/s']) },
    expected: [
      'stays a/Server/s: its manifest, or one that it depends on, is invalid',
      'stays a/Config/c: a/Server/s still refers to it',
    ],
  },
  {
    reason: 'a staying object keeps its children',
    surplus: [server, object('a/Deployment/s', { [OWNER]: 'server.s' })],
    refers: ['a/Virtual/v -> a/Server/s'],
    expected: [
      'stays a/Server/s: a/Virtual/v still refers to it',
      'stays a/Deployment/s: the children of server.s are not changed in this run',
    ],
  },
  {
    reason: 'a child follows its owner, whoever refers to it',
    surplus: [object('a/ConfigMap/s', { [OWNER]: 'server.s' })],
    refers: ['a/Server/t -> a/ConfigMap/s'],
    expected: ['goes a/ConfigMap/s'],
  },
  {
    reason: 'if a kind could not be listed, an object of it may refer to anything in a namespace',
    surplus: [config, object('/Namespace/b')],
    changes: { unknownReferrers: ['Server'] },
    expected: ['goes Namespace/b', 'stays a/Config/c: Server could not be listed, and one may refer to it'],
  },
];

for (const row of ROWS) test(row.reason, () => expect(reported(row).sort()).toEqual([...row.expected].sort()));
