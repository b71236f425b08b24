// Tests custom resources over HTTPS: a CRD is served, its objects are defaulted, pruned and validated, and it is
// deleted together with them.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, startTestCluster, type TestCluster } from '../../harness/cluster.ts';

let cluster: TestCluster;
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const WIDGETS = '/apis/example.dev/v1/namespaces/default/widgets';

const SPEC = {
  type: 'object',
  required: ['size'],
  properties: {
    size: { type: 'integer', minimum: 1 },
    color: { type: 'string', enum: ['red', 'green'], default: 'red' },
    replicas: { type: 'integer' },
  },
  'x-kubernetes-validations': [{ rule: 'self.size < 9', message: 'too big' }],
};

function definition(plural: string, kind: string): object {
  const schema = {
    type: 'object',
    required: ['spec'],
    properties: {
      spec: SPEC,
      status: { type: 'object', properties: { phase: { type: 'string' }, replicas: { type: 'integer' } } },
    },
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.example.dev` },
    spec: {
      group: 'example.dev',
      scope: 'Namespaced',
      names: { plural, kind },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: {
            status: {},
            scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
          },
          additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
          schema: { openAPIV3Schema: schema },
        },
      ],
    },
  };
}

async function define(plural: string, kind: string): Promise<void> {
  const made = await cluster.send('POST', CRDS, { body: definition(plural, kind) });
  expect([made.status, made.body.message]).toEqual([201, undefined]);
  await eventually(
    () => cluster.send('GET', `/apis/example.dev/v1/namespaces/default/${plural}`),
    ({ status }) => status === 200,
  );
}

function widget(name: string, spec: object): object {
  return { apiVersion: 'example.dev/v1', kind: 'Widget', metadata: { name }, spec };
}

beforeAll(async () => {
  cluster = await startTestCluster();
  await define('widgets', 'Widget');
});

afterAll(() => cluster.stop());

test('a served CRD says that its names are accepted and that it is established', async () => {
  const { body } = await cluster.send('GET', `${CRDS}/widgets.example.dev`);
  const conditions = body.status.conditions.map(
    ({ type, status }: { type: string; status: string }) => `${type}=${status}`,
  );
  expect(conditions).toEqual(['NamesAccepted=True', 'Established=True']);
  expect(body.status.acceptedNames).toEqual({
    plural: 'widgets',
    singular: 'widget',
    kind: 'Widget',
    listKind: 'WidgetList',
  });
});

test('an object is defaulted and pruned; Strict refuses unknown fields, Warn warns', async () => {
  const object = widget('made', { size: 2, colour: 'blue' });
  const made = await cluster.send('POST', WIDGETS, { body: object });
  expect([made.status, made.body.spec, made.body.metadata.generation]).toEqual([201, { size: 2, color: 'red' }, 1]);
  expect(made.headers.warning).toBe('299 - "unknown field \\"spec.colour\\""');
  const strict = await cluster.send('POST', `${WIDGETS}?fieldValidation=Strict`, { body: object });
  expect([strict.status, strict.body.reason]).toEqual([400, 'BadRequest']);
});

const INVALID: readonly { reason: string; spec: object; field: string; cause: string }[] = [
  { reason: 'a required field', spec: {}, field: 'spec.size', cause: 'FieldValueRequired' },
  { reason: 'a bound', spec: { size: 0 }, field: 'spec.size', cause: 'FieldValueInvalid' },
  { reason: 'a type', spec: { size: 'x' }, field: 'spec.size', cause: 'FieldValueTypeInvalid' },
  { reason: 'an enum', spec: { size: 1, color: 'blue' }, field: 'spec.color', cause: 'FieldValueNotSupported' },
  { reason: 'a rule', spec: { size: 9 }, field: 'spec', cause: 'FieldValueInvalid' },
];

test.each(INVALID)('$reason is a 422 whose cause names the field', async ({ spec, field, cause }) => {
  const { status, body } = await cluster.send('POST', WIDGETS, { body: widget('bad', spec) });
  expect([status, body.reason]).toEqual([422, 'Invalid']);
  expect(body.details.causes).toContainEqual(expect.objectContaining({ field, reason: cause }));
});

test('spec and status are written separately, and only the spec increments the generation', async () => {
  const path = `${WIDGETS}/apart`;
  await cluster.apply(path, { ...widget('apart', { size: 1 }), status: { phase: 'ignored' } });
  const status = {
    apiVersion: 'example.dev/v1',
    kind: 'Widget',
    metadata: { name: 'apart' },
    status: { phase: 'Ready' },
  };
  const written = await cluster.apply(`${path}/status`, status);
  expect([written.body.status, written.body.metadata.generation]).toEqual([{ phase: 'Ready' }, 1]);
  const scaled = await cluster.apply(path, widget('apart', { size: 3 }));
  expect([scaled.body.status, scaled.body.metadata.generation]).toEqual([{ phase: 'Ready' }, 2]);
});

test('the scale subresource reads and writes the replicas', async () => {
  await cluster.apply(`${WIDGETS}/scaled`, widget('scaled', { size: 1, replicas: 1 }));
  const patch = { body: { spec: { replicas: 4 } }, contentType: 'application/merge-patch+json' };
  const { status, body } = await cluster.send('PATCH', `${WIDGETS}/scaled/scale`, patch);
  expect([status, body.kind, body.spec.replicas]).toEqual([200, 'Scale', 4]);
  expect((await cluster.send('GET', `${WIDGETS}/scaled`)).body.spec.replicas).toBe(4);
});

test('a table has the printer columns', async () => {
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const { body } = await cluster.send('GET', `${WIDGETS}/scaled`, { accept });
  expect(body.columnDefinitions.map(({ name }: { name: string }) => name)).toEqual(['Name', 'Size']);
  expect(body.rows[0].cells).toEqual(['scaled', 1]);
});

test('discovery and OpenAPI know the kind, and the hash moves with the CRD', async () => {
  const { body } = await cluster.send('GET', '/apis/example.dev/v1');
  expect(body.resources.map(({ name }: { name: string }) => name)).toEqual([
    'widgets',
    'widgets/scale',
    'widgets/status',
  ]);
  const before = await cluster.send('GET', '/openapi/v3');
  const { serverRelativeURL } = JSON.parse(before.text).paths['apis/example.dev/v1'];
  const document = await cluster.send('GET', serverRelativeURL);
  const schema = document.body.components.schemas['dev.example.v1.Widget'];
  expect(schema['x-kubernetes-group-version-kind']).toEqual([{ group: 'example.dev', version: 'v1', kind: 'Widget' }]);
  await define('gadgets', 'Gadget');
  const moved = await cluster.send('GET', serverRelativeURL);
  expect([moved.status, moved.headers.location === serverRelativeURL]).toEqual([301, false]);
});

test('a CRD whose names are taken is not served until they are free', async () => {
  const taken = { ...definition('others', 'Gadget') };
  await cluster.send('POST', CRDS, { body: taken });
  const refused = await eventually(
    () => cluster.send('GET', `${CRDS}/others.example.dev`),
    ({ body }) => body.status.conditions !== null,
  );
  expect(refused.body.status.conditions[0]).toMatchObject({ type: 'NamesAccepted', status: 'False' });
  await cluster.send('DELETE', `${CRDS}/gadgets.example.dev`);
  await eventually(
    () => cluster.send('GET', '/apis/example.dev/v1/namespaces/default/others'),
    ({ status }) => status === 200,
  );
});

test('a CRD that is not structural is refused with the place', async () => {
  const broken = structuredClone(definition('brokens', 'Broken')) as { spec: { versions: { schema: object }[] } };
  broken.spec.versions[0]!.schema = { openAPIV3Schema: { type: 'object', properties: { spec: { properties: {} } } } };
  const { status, body } = await cluster.send('POST', CRDS, { body: broken });
  expect([status, body.details.causes[0].field]).toEqual([
    422,
    'spec.validation.openAPIV3Schema.properties[spec].type',
  ]);
});

test('a CRD is deleted together with its objects, and is then no longer served', async () => {
  await define('leavers', 'Leaver');
  const path = '/apis/example.dev/v1/namespaces/default/leavers';
  const object = { apiVersion: 'example.dev/v1', kind: 'Leaver', metadata: { name: 'one' }, spec: { size: 1 } };
  expect((await cluster.apply(`${path}/one`, object)).status).toBe(201);
  await cluster.send('DELETE', `${CRDS}/leavers.example.dev`);
  await eventually(
    () => cluster.send('GET', `${CRDS}/leavers.example.dev`),
    ({ status }) => status === 404,
  );
  expect((await cluster.send('GET', path)).status).toBe(404);
});
