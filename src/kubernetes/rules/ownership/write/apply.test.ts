// Tests applies and other writes by short sequences of writes. In one file, because the functions that write, and that
// format the managers after each write as text, serve nearly all tests.

import { describe, expect, test } from 'vitest';
import { deployment, object, THING_DOCUMENT, thing, typeOf } from '../../../../../test/kubernetes/rules/thing.ts';
import type { KubeObject, ManagedFieldsEntry } from '../../object.ts';
import { type MergeType, type OpenApiSchema, rootType } from '../../openapi.ts';
import { paths } from '../fieldset.ts';
import { parseFields } from '../fieldsv1.ts';
import { pointerOf } from '../place.ts';
import { type ApplyRequest, type ApplyResult, keepTimes, serverSideApply, trackUpdate } from './apply.ts';

const NOON = '2026-01-01T12:00:00Z';
const LATER = '2026-01-01T13:00:00Z';

type Options = Partial<Pick<ApplyRequest, 'force' | 'time' | 'subresource' | 'reset'>>;

function request(
  live: KubeObject | undefined,
  applied: KubeObject,
  manager: string,
  options: Options = {},
): ApplyRequest {
  const { apiVersion } = applied;
  const base = { applied, manager, apiVersion, type: typeOf(applied), time: NOON, force: false, ...options };
  return live === undefined ? base : { ...base, live };
}

function result(live: KubeObject | undefined, applied: KubeObject, manager: string, options?: Options): ApplyResult {
  return serverSideApply(request(live, applied, manager, options));
}

function apply(live: KubeObject | undefined, applied: KubeObject, manager: string, options?: Options): KubeObject {
  const done = result(live, applied, manager, options);
  if (!('object' in done)) throw new Error(JSON.stringify(done));
  return done.object;
}

function update(before: KubeObject | undefined, after: KubeObject, manager: string, options: Options = {}): KubeObject {
  const { apiVersion } = after;
  const base = { after, manager, apiVersion, type: typeOf(after), time: NOON, ...options };
  return trackUpdate(before === undefined ? base : { ...base, before });
}

/** Formats one line per entry: manager, operation, owned fields. */
function managers(tracked: KubeObject): string[] {
  return (tracked.metadata.managedFields ?? []).map(line);
}

function line({ manager, operation, subresource, fieldsV1 }: ManagedFieldsEntry): string {
  const set = parseFields(fieldsV1);
  const owned = set === undefined ? 'broken' : paths(set).map(pointerOf).join(' ');
  return `${manager} ${operation}${subresource === undefined ? '' : ` ${subresource}`}: ${owned}`;
}

function spec(tracked: KubeObject): unknown {
  return tracked.spec;
}

describe('apply', () => {
  test('creates an object and owns the applied fields', () => {
    const live = apply(undefined, thing({ image: 'i', env: { A: '1' } }), 'one');
    expect(managers(live)).toEqual(['one Apply: /spec/image /spec/env/A']);
    expect(live.metadata.managedFields?.[0]).toMatchObject({
      apiVersion: 'things.example/v1',
      fieldsType: 'FieldsV1',
      time: NOON,
    });
    expect(spec(live)).toEqual({ image: 'i', env: { A: '1' } });
  });

  test('of the same object again changes nothing, not even the time', () => {
    const desired = thing({ image: 'i', tags: ['a', 'b'], ports: [{ port: 80 }] });
    const live = apply(undefined, desired, 'one');
    expect(apply(live, desired, 'one', { time: LATER })).toEqual(live);
  });

  test('removes fields that it applied before and no longer applies', () => {
    const live = apply(undefined, thing({ image: 'i', replicas: 2, tags: ['a', 'b'], env: { A: '1', B: '2' } }), 'one');
    const next = apply(live, thing({ image: 'i', tags: ['b'], env: { B: '2' } }), 'one', { time: LATER });
    expect(spec(next)).toEqual({ image: 'i', tags: ['b'], env: { B: '2' } });
    expect(managers(next)).toEqual(['one Apply: /spec/image /spec/env/B /spec/tags/[=b]']);
    expect(next.metadata.managedFields?.[0]?.time).toBe(LATER);
  });

  test('leaves an emptied object as null, which storage drops', () => {
    const live = apply(undefined, thing({ image: 'i', nested: { x: 1 }, tags: ['a'] }), 'one');
    expect(spec(apply(live, thing({ image: 'i', nested: {} }), 'one'))).toEqual({ image: 'i', nested: null });
  });

  test('does not remove fields that another manager owns too', () => {
    const live = apply(apply(undefined, thing({ image: 'i', replicas: 2 }), 'one'), thing({ replicas: 2 }), 'two');
    const next = apply(live, thing({ image: 'i' }), 'one');
    expect(spec(next)).toEqual({ image: 'i', replicas: 2 });
    expect(managers(next)).toEqual(['two Apply: /spec/replicas', 'one Apply: /spec/image']);
  });

  test('removes an item without other owners, but not an item in which another manager owns a field', () => {
    const one = thing({ ports: [{ port: 80 }, { port: 81 }] });
    const defaulted = thing({
      ports: [
        { port: 80, protocol: 'TCP' },
        { port: 81, protocol: 'TCP' },
      ],
    });
    const applied = apply(undefined, one, 'one');
    const stored = { ...defaulted, metadata: applied.metadata };
    const live = apply(stored, thing({ ports: [{ port: 81, name: 'n' }] }), 'two');
    expect(spec(apply(live, thing({}), 'one'))).toEqual({ ports: [{ port: 81, protocol: 'TCP', name: 'n' }] });
  });

  test('shares a field with a manager that applied the same value, and records no time for its own entry', () => {
    const live = apply(apply(undefined, thing({ image: 'i' }), 'one'), thing({ image: 'i' }), 'two', { time: LATER });
    expect(managers(live)).toEqual(['two Apply: /spec/image', 'one Apply: /spec/image']);
    expect(live.metadata.managedFields?.map(({ time }) => time)).toEqual([undefined, NOON]);
  });

  test('conflicts with a manager that owns a field with another value', () => {
    const live = apply(undefined, deployment({ containers: [{ name: 'c', image: 'i' }], hostname: 'h' }), 'one');
    const taken = update(live, { ...live, metadata: { ...live.metadata, labels: { a: '1' } } }, 'two', { time: LATER });
    const declared = deployment({ containers: [{ name: 'c', image: 'j' }], hostname: 'g' });
    const labelled = { ...declared, metadata: { ...declared.metadata, labels: { a: '2' } } };
    expect(result(taken, labelled, 'three')).toEqual({
      conflicts: [
        {
          manager: 'one',
          operation: 'Apply',
          apiVersion: 'apps/v1',
          time: NOON,
          path: '.spec.template.spec.hostname',
        },
        {
          manager: 'one',
          operation: 'Apply',
          apiVersion: 'apps/v1',
          time: NOON,
          path: '.spec.template.spec.containers[name="c"].image',
        },
        { manager: 'two', operation: 'Update', apiVersion: 'apps/v1', time: LATER, path: '.metadata.labels.a' },
      ],
    });
  });

  test('takes the field over when forced', () => {
    const live = apply(undefined, thing({ image: 'i', replicas: 1 }), 'one');
    const next = apply(live, thing({ image: 'j' }), 'two', { force: true, time: LATER });
    expect(managers(next)).toEqual(['one Apply: /spec/replicas', 'two Apply: /spec/image']);
    expect(spec(next)).toEqual({ image: 'j', replicas: 1 });
  });

  test('does not conflict with a field that it does not apply', () => {
    const live = apply(undefined, thing({ image: 'i' }), 'one');
    expect(managers(apply(live, thing({ replicas: 1 }), 'two'))).toEqual([
      'one Apply: /spec/image',
      'two Apply: /spec/replicas',
    ]);
  });

  test('conflicts if it replaces an atomic list of another manager', () => {
    const live = apply(undefined, thing({ steps: [{ name: 'a' }] }), 'one');
    expect(result(live, thing({ steps: [{ name: 'a' }, { name: 'b' }] }), 'two')).toMatchObject({
      conflicts: [{ manager: 'one', path: '.spec.steps' }],
    });
  });

  test('shares the key of an item with its other owner', () => {
    const live = apply(undefined, thing({ ports: [{ port: 80, name: 'a' }] }), 'one');
    const next = apply(live, thing({ ports: [{ port: 80 }, { port: 81 }] }), 'two');
    expect(managers(next)).toEqual([
      'one Apply: /spec/ports/[port=80,protocol=TCP] /spec/ports/[port=80,protocol=TCP]/name /spec/ports/[port=80,protocol=TCP]/port',
      'two Apply: /spec/ports/[port=80,protocol=TCP] /spec/ports/[port=81,protocol=TCP] /spec/ports/[port=80,protocol=TCP]/port /spec/ports/[port=81,protocol=TCP]/port',
    ]);
  });

  test('of an object without managedFields records its fields as an earlier update', () => {
    const old = thing({ image: 'i', env: { A: '1' } });
    const next = apply(old, thing({ image: 'i' }), 'one', { time: LATER });
    expect(managers(next)).toEqual([
      'one Apply: /spec/image',
      'before-first-apply Update: /spec /spec/env /spec/image /spec/env/A',
    ]);
  });

  test('keeps a field that an update of the same manager owns', () => {
    const created = update(undefined, thing({ image: 'i' }), 'one');
    const applied = apply(created, thing({ image: 'i', replicas: 1 }), 'one');
    expect(spec(apply(applied, thing({ replicas: 1 }), 'one'))).toEqual({ image: 'i', replicas: 1 });
  });

  test("in another version replaces the manager's entry", () => {
    const live = apply(undefined, thing({ image: 'i' }), 'one');
    const [entry] = live.metadata.managedFields ?? [];
    const old = {
      ...live,
      metadata: { ...live.metadata, managedFields: [{ ...entry!, apiVersion: 'things.example/v0' }] },
    };
    const next = apply(old, thing({ image: 'i' }), 'one');
    expect(next.metadata.managedFields?.map(({ apiVersion }) => apiVersion)).toEqual(['things.example/v1']);
  });

  test('of an item that exists twice keeps only the applied item', () => {
    const live = thing({
      ports: [
        { port: 80, name: 'a' },
        { port: 80, name: 'b' },
      ],
    });
    expect(spec(apply(live, thing({ ports: [{ port: 80, name: 'c' }] }), 'one', { force: true }))).toEqual({
      ports: [{ port: 80, name: 'c' }],
    });
  });

  test('refuses objects with wrong types or repeated items, and managedFields', () => {
    expect(result(undefined, thing({ image: 7, tags: ['a', 'a'] }), 'one')).toEqual({
      invalid: ['.spec.image: a string is expected', '.spec.tags[="a"]: two items of the list have the same name'],
    });
    const tracked = apply(undefined, thing({ image: 'i' }), 'one');
    expect(result(undefined, tracked, 'one')).toEqual({ invalid: ['.metadata.managedFields: must not be applied'] });
  });

  test('to a built-in kind adds the fields that its Go struct always contains', () => {
    const created = apply(undefined, deployment({ containers: [{ name: 'c' }] }), 'one');
    expect(created).toMatchObject({
      spec: { selector: null, strategy: {}, template: { metadata: {}, spec: { containers: [{ name: 'c' }] } } },
      status: {},
    });
  });

  test('does not change its arguments', () => {
    const live = apply(undefined, thing({ image: 'i', env: { A: '1' } }), 'one');
    const copy = structuredClone(live);
    apply(live, thing({ image: 'j' }), 'one');
    expect(live).toEqual(copy);
  });
});

describe('endpoints', () => {
  const withStatus = (phase: string): KubeObject => ({ ...thing({ image: 'i' }), status: { phase } });

  test('the main resource does not own the status', () => {
    expect(managers(apply(undefined, withStatus('Up'), 'one'))).toEqual(['one Apply: /spec/image']);
  });

  test('the status subresource of a custom resource owns neither spec nor metadata', () => {
    const live = apply(undefined, thing({ image: 'i' }), 'one');
    const status = { ...withStatus('Up'), metadata: { ...thing({}).metadata, labels: { a: 'b' } } };
    expect(managers(apply(live, status, 'one', { subresource: 'status' }))).toEqual([
      'one Apply: /spec/image',
      'one Apply status: /status/phase',
    ]);
  });

  test('without a status subresource, the status is owned like other fields', () => {
    expect(managers(apply(undefined, withStatus('Up'), 'one', { reset: [] }))).toEqual([
      'one Apply: /spec/image /status/phase',
    ]);
  });

  test('a write through scale takes over replicas, and a forced apply takes replicas back', () => {
    const desired = object('apps/v1', 'Deployment', { spec: { replicas: 2 } });
    const live = apply(undefined, desired, 'one');
    const scaled = update(live, { ...live, spec: { ...(live.spec as object), replicas: 5 } }, 'hpa', {
      subresource: 'scale',
    });
    expect(managers(scaled)).toEqual(['hpa Update scale: /spec/replicas']);
    expect(scaled.metadata.managedFields?.[0]?.time).toBeUndefined();
    expect(managers(apply(scaled, desired, 'one', { force: true }))).toEqual(['one Apply: /spec/replicas']);
  });
});

describe('update', () => {
  test('of a new custom resource owns the maps and lists that it creates', () => {
    const created = update(undefined, thing({ env: { A: '1' }, ports: [{ port: 80, protocol: 'TCP' }] }), 'one');
    expect(created.metadata.managedFields?.[0]?.fieldsV1).toEqual({
      'f:spec': {
        '.': {},
        'f:env': { '.': {}, 'f:A': {} },
        'f:ports': {
          '.': {},
          'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {}, 'f:protocol': {} },
        },
      },
    });
  });

  test('of a new built-in object does not own objects that its Go struct always contains', () => {
    const after = deployment({ containers: [{ name: 'c', resources: {} }] });
    expect(update(undefined, after, 'one').metadata.managedFields?.[0]?.fieldsV1).toEqual({
      'f:spec': {
        'f:template': {
          'f:spec': { 'f:containers': { 'k:{"name":"c"}': { '.': {}, 'f:name': {}, 'f:resources': {} } } },
        },
      },
    });
  });

  test('owns the fields that it changes and takes them from others', () => {
    const live = apply(undefined, thing({ image: 'i', replicas: 1 }), 'one');
    const next = update(live, { ...live, spec: { image: 'j', replicas: 1 } }, 'two', { time: LATER });
    expect(managers(next)).toEqual(['one Apply: /spec/replicas', 'two Update: /spec/image']);
  });

  test('with the existing value owns nothing and keeps all times', () => {
    const live = apply(undefined, thing({ image: 'i' }), 'one');
    expect(update(live, live, 'two', { time: LATER })).toEqual(live);
  });

  test('that removes a field removes it from all owners, and may leave no owner', () => {
    const live = apply(undefined, thing({ image: 'i' }), 'one');
    const next = update(live, { ...live, spec: {} }, 'two');
    expect(managers(next)).toEqual([]);
    expect(next.metadata.managedFields).toBeUndefined();
  });

  test('adds to the earlier entry of the same manager, version and endpoint', () => {
    const created = update(undefined, thing({ image: 'i' }), 'one');
    const next = update(created, { ...created, spec: { image: 'i', replicas: 1 } }, 'one', { time: LATER });
    expect(managers(next)).toEqual(['one Update: /spec /spec/image /spec/replicas']);
    expect(next.metadata.managedFields?.[0]?.time).toBe(LATER);
  });

  test('treats null and absent as equal in a Go struct', () => {
    const role = object('rbac.authorization.k8s.io/v1', 'Role', { rules: null });
    expect(managers(update(undefined, role, 'one'))).toEqual([]);
  });

  test('that changes the type of a free-form field owns the field and its content', () => {
    const live = apply(undefined, thing({ free: { a: 1 } }), 'one');
    const next = update(live, { ...live, spec: { free: { a: { b: 2 } } } }, 'two');
    expect(managers(next)).toEqual(['two Update: /spec/free/a /spec/free/a/b']);
  });

  test('without a manager is recorded under the name unknown', () => {
    expect(managers(update(undefined, thing({ image: 'i' }), ''))).toEqual(['unknown Update: /spec /spec/image']);
  });

  test('with a result that does not fit its type removes managedFields', () => {
    const account = object('v1', 'ServiceAccount', { secrets: [{}] });
    expect(update(undefined, account, 'one').metadata.managedFields).toBeUndefined();
  });

  test('of an object without managedFields adds none', () => {
    const old = thing({ image: 'i' });
    expect(update(old, thing({ image: 'j' }), 'one').metadata.managedFields).toBeUndefined();
  });

  const live = apply(undefined, object('v1', 'ConfigMap', { data: { a: '1' } }), 'one');
  const sent = (managedFields: unknown): KubeObject =>
    ({ ...live, data: { a: '2' }, metadata: { ...live.metadata, managedFields } }) as KubeObject;

  const SENT: readonly { managedFields: unknown; is: string[]; reason: string }[] = [
    { managedFields: undefined, is: ['two Update: /data/a'], reason: 'none: those of the living object' },
    { managedFields: null, is: ['two Update: /data/a'], reason: 'null: those of the living object' },
    { managedFields: [{}], is: [], reason: 'one empty entry wipes' },
    { managedFields: [], is: [], reason: 'an empty list wipes' },
    { managedFields: [{ manager: 'x' }], is: ['two Update: /data/a'], reason: 'an unreadable entry is ignored' },
    {
      managedFields: [
        { manager: 'x', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': {} } },
      ],
      is: ['x Update: /data', 'two Update: /data/a'],
      reason: 'clients may edit entries; no time sorts first',
    },
  ];

  test.each(SENT)('managedFields sent as $managedFields give $is: $reason', ({ managedFields, is }) => {
    expect(managers(update(live, sent(managedFields), 'two'))).toEqual(is);
  });

  test('an empty list does not remove the entries of a custom resource', () => {
    const custom = apply(undefined, thing({ image: 'i' }), 'one');
    const emptied = { ...custom, metadata: { ...custom.metadata, managedFields: [] } };
    expect(managers(update(custom, emptied, 'two'))).toEqual(['one Apply: /spec/image']);
  });

  test('with more than ten updaters, the oldest share an entry', () => {
    let tracked = update(undefined, object('v1', 'ConfigMap', { data: { start: '' } }), 'creator');
    for (let index = 0; index < 12; index += 1) {
      const data = { ...(tracked.data as object), [`k${index}`]: '' };
      tracked = update(tracked, { ...tracked, data }, `m${index}`, {
        time: `2026-01-01T12:${String(index + 10)}:00Z`,
      });
    }
    const lines = managers(tracked);
    expect(lines).toHaveLength(10);
    expect(lines[0]).toBe('ancient-changes Update: /data /data/k0 /data/k1 /data/k2 /data/start');
    expect(tracked.metadata.managedFields?.[0]?.time).toBe('2026-01-01T12:12:00Z');
    expect(lines.at(-1)).toBe('m11 Update: /data/k11');
  });
});

/** Returns the type Thing in a later version, in which two granular fields are atomic. */
function atomicThing(): MergeType {
  const name = 'example.things.v1.Thing';
  const root = THING_DOCUMENT.components.schemas[name];
  const spec = root?.properties?.spec;
  const properties = {
    ...spec?.properties,
    ports: { type: 'array', items: { type: 'object', properties: { port: { type: 'integer' } } } },
    nested: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { x: { type: 'integer' } } },
  } satisfies Record<string, OpenApiSchema>;
  const changed = { ...root, properties: { ...root?.properties, spec: { ...spec, properties } } };
  const document = { components: { schemas: { ...THING_DOCUMENT.components.schemas, [name]: changed } } };
  return rootType(document, { group: 'things.example', version: 'v1', kind: 'Thing' })!;
}

test('an entry without a time is the oldest and is merged into the shared entry', () => {
  const fields = (key: string): ManagedFieldsEntry['fieldsV1'] => ({ 'f:data': { [`f:${key}`]: {} } });
  const shared = { operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1' } as const;
  const others = Array.from({ length: 9 }, (_, index) => ({
    ...shared,
    manager: `m${index}`,
    time: `2026-01-01T11:0${index}:00Z`,
    fieldsV1: fields(`k${index}`),
  }));
  const managedFields = [
    { ...shared, manager: 'scaler', fieldsV1: fields('s') },
    { ...shared, manager: 'ancient-changes', time: '2026-01-01T10:00:00Z', fieldsV1: fields('a') },
    ...others,
  ];
  const before = object('v1', 'ConfigMap', { metadata: { name: 'a', managedFields } });
  const next = update(before, { ...before, data: { new: '' } }, 'writer');
  expect(managers(next)).toHaveLength(10);
  expect(managers(next)).toContain('ancient-changes Update: /data/a /data/k0 /data/s');
});

describe('a schema that changed', () => {
  test('fields of lists and maps that became atomic are owned as a whole after the next write', () => {
    const granular = apply(undefined, thing({ ports: [{ port: 80 }], nested: { x: 1 } }), 'one');
    const type = atomicThing();
    const next = serverSideApply({ ...request(granular, thing({ image: 'i' }), 'two'), type });
    expect('object' in next && managers(next.object)).toEqual([
      'one Apply: /spec/nested /spec/ports',
      'two Apply: /spec/image',
    ]);
  });
});

describe('order of entries', () => {
  test('puts applies before updates, and sorts each group by time, then by name', () => {
    let live = update(undefined, thing({ image: 'i' }), 'b', { time: NOON });
    live = update(live, { ...live, spec: { image: 'i', replicas: 1 } }, 'a', { time: LATER });
    live = update(live, { ...live, spec: { image: 'i', replicas: 1, ratio: 1 } }, 'c', { time: NOON });
    live = apply(live, thing({ enabled: true }), 'z', { time: LATER });
    expect(live.metadata.managedFields?.map(({ manager }) => manager)).toEqual(['z', 'b', 'c', 'a']);
  });
});

describe('keeping times', () => {
  const live = apply(undefined, thing({ image: 'i' }), 'one');
  const [entry] = live.metadata.managedFields ?? [];

  function changed(change: Partial<KubeObject>, entryChange: Partial<ManagedFieldsEntry> = {}): KubeObject {
    const managedFields = [{ ...entry!, ...entryChange }];
    return { ...live, ...change, metadata: { ...live.metadata, managedFields } };
  }

  test('an object that differs only in times is not written', () => {
    expect(keepTimes(live, changed({}, { time: LATER }))).toBe(live);
  });

  test.each([
    { after: changed({ spec: { image: 'j' } }), reason: 'a value' },
    { after: changed({}, { manager: 'two' }), reason: 'a manager' },
    { after: changed({}, { fieldsV1: {} }), reason: 'the owned fields' },
    { after: { ...live, metadata: { name: 'a', namespace: 'n' } } as KubeObject, reason: 'an entry less' },
  ])('an object that differs in $reason is written', ({ after }) => {
    expect(keepTimes(live, after)).toBe(after);
  });
});

describe('kubectl', () => {
  const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
  const config = (image: string): KubeObject => ({ ...thing({ image }), metadata: { name: 'a', namespace: 'n' } });

  function clientSide(image: string): KubeObject {
    const annotations = { [annotation]: JSON.stringify(config(image)) };
    const created = { ...config(image), metadata: { name: 'a', namespace: 'n', annotations } };
    return update(undefined, created, 'kubectl-client-side-apply');
  }

  test('takes over fields that the client applied before, and updates its annotation', () => {
    const next = apply(clientSide('i'), config('j<k>'), 'kubectl', { time: LATER });
    expect(spec(next)).toEqual({ image: 'j<k>' });
    expect(next.metadata.annotations?.[annotation]).toBe(
      '{"apiVersion":"things.example/v1","kind":"Thing","metadata":{"name":"a","namespace":"n"},"spec":{"image":"j\\u003ck\\u003e"}}\n',
    );
  });

  test('conflicts with other managers', () => {
    const live = clientSide('i');
    const taken = update(live, { ...live, spec: { image: 'other' } }, 'two');
    expect(result(taken, config('j'), 'kubectl')).toMatchObject({
      conflicts: [{ manager: 'two', path: '.spec.image' }],
    });
  });

  test('other managers do not take over these fields', () => {
    expect(result(clientSide('i'), config('j'), 'one')).toHaveProperty('conflicts');
  });

  test.each(['not json', '[]', JSON.stringify({ ...config('i'), apiVersion: 'things.example/v0' })])(
    'an annotation that says %s permits no takeover',
    (text) => {
      const live = clientSide('i');
      const annotations = { [annotation]: text };
      const broken = { ...live, metadata: { ...live.metadata, annotations } };
      expect(result(broken, config('j'), 'kubectl')).toHaveProperty('conflicts');
    },
  );
});
