// How a server says what it serves. Only what the kinds of a fleet need is recorded: servers differ in the rest.

import type { Json, JsonObject } from '#std/json.ts';
import type { Scenario } from '../scenario.ts';
import { at, read } from '../scenario.ts';
import { withoutDescriptions } from './documentation.ts';

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const GROUPS = [
  'apps',
  'rbac.authorization.k8s.io',
  'networking.k8s.io',
  'coordination.k8s.io',
  'apiextensions.k8s.io',
  'events.k8s.io',
];
const CORE = ['configmaps', 'secrets', 'services', 'serviceaccounts', 'namespaces', 'events'];
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  apps: ['deployments', 'statefulsets'],
  'rbac.authorization.k8s.io': ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'],
  'networking.k8s.io': ['networkpolicies'],
  'coordination.k8s.io': ['leases'],
  'apiextensions.k8s.io': ['customresourcedefinitions'],
  'events.k8s.io': ['events'],
};

function chosen(list: Json | undefined, pointer: string, wanted: readonly string[]): Json[] {
  const items = Array.isArray(list) ? list : [];
  return wanted.flatMap((name) => items.filter((item) => at(item, pointer) === name));
}

function groups(body: Json): Json {
  return { ...(body as JsonObject), groups: chosen(at(body, '/groups'), '/name', GROUPS) };
}

/** Resources with their subresources. */
function resources(wanted: readonly string[]): (body: Json) => Json {
  return (body) => {
    const all = at(body, '/resources');
    const items = Array.isArray(all) ? all : [];
    return {
      ...(body as JsonObject),
      resources: items.filter((item) => wanted.includes(String(at(item, '/name')).split('/')[0] ?? '')),
    };
  };
}

/** The aggregated form: per group its versions, per version the wanted resources. */
function aggregated(body: Json): Json {
  const items = at(body, '/items');
  if (!Array.isArray(items)) return body;
  const wanted = items.filter(
    (item) => at(item, '/metadata/name') === undefined || GROUPS.includes(String(at(item, '/metadata/name'))),
  );
  return { ...(body as JsonObject), items: wanted.map(aggregatedGroup) };
}

function aggregatedGroup(group: Json): Json {
  const name = String(at(group, '/metadata/name') ?? '');
  const wanted = name === '' ? CORE : (OTHERS[name] ?? []);
  const versions = at(group, '/versions') as Json[];
  return {
    ...(group as JsonObject),
    versions: versions
      .filter((version) => at(version, '/version') === 'v1')
      .map((version) => ({
        ...(version as JsonObject),
        resources: chosen(at(version, '/resources'), '/resource', wanted),
      })),
  };
}

function openApiPaths(body: Json): Json {
  const paths = at(body, '/paths') as JsonObject;
  const wanted = ['api/v1', ...GROUPS.map((group) => `apis/${group}/v1`)];
  return { ...(body as JsonObject), paths: Object.fromEntries(wanted.map((path) => [path, paths[path] ?? null])) };
}

/** The shape of one document: its version and how it describes the merge of lists and of one kind. */
function openApiShape(body: Json): Json {
  const schema = (name: string): Json => at(body, `/components/schemas/${name}`) ?? null;
  return withoutDescriptions({
    openapi: at(body, '/openapi') ?? null,
    listMap: at(schema('io.k8s.api.core.v1.Container'), '/properties/ports') ?? null,
    set: at(schema('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'), '/properties/finalizers') ?? null,
    kind: at(schema('io.k8s.api.apps.v1.Deployment'), '/x-kubernetes-group-version-kind') ?? null,
    quantity: schema('io.k8s.apimachinery.pkg.api.resource.Quantity'),
    time: schema('io.k8s.apimachinery.pkg.apis.meta.v1.Time'),
    atomic: at(schema('io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector'), '/x-kubernetes-map-type') ?? null,
  });
}

export const DISCOVERY_SCENARIOS: readonly Scenario[] = [
  {
    name: 'discovery',
    about: 'Groups, versions and resources, in the old form and in the aggregated one.',
    steps: [
      read('the core group', '/api'),
      read('the named groups', '/apis', { pick: groups }),
      read('one group', '/apis/apps'),
      read('the resources of the core group', '/api/v1', { pick: resources(CORE) }),
      ...Object.entries(OTHERS).map(([group, wanted]) =>
        read(`the resources of ${group}`, `/apis/${group}/v1`, { pick: resources(wanted) }),
      ),
      read('the core group, aggregated', '/api', { accept: AGGREGATED, pick: aggregated }),
      read('the named groups, aggregated', '/apis', { accept: AGGREGATED, pick: aggregated }),
      read('an unknown group', '/apis/example.org'),
      read('the server lives', '/livez'),
      read('and is ready', '/readyz'),
    ],
  },
  {
    name: 'openapi',
    about: 'The index of the OpenAPI v3 documents, and the shape of one.',
    steps: [
      read('the index names a document for each group and version', '/openapi/v3', {
        pick: openApiPaths,
        save: { apps: '/paths/apis~1apps~1v1/serverRelativeURL' },
      }),
      read('a document', '/openapi/v3/apis/apps/v1', { pick: openApiShape }),
      read('a document of an unknown group', '/openapi/v3/apis/example.org/v1'),
    ],
  },
];
