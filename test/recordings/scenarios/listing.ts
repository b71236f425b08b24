// Lists, selectors, pages, tables and watches.

import type { Json, JsonObject } from '#std/json.ts';
import type { Scenario, Step } from '../scenario.ts';
import { at, create, MERGE_PATCH, patch, read, remove } from '../scenario.ts';
import { withoutDescriptions } from './documentation.ts';
import * as o from './objects.ts';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const METADATA_ONLY = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
const ONE_METADATA_ONLY = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';

/** Names and the page's own metadata: enough to see which objects a list has. */
function names(body: Json): Json {
  const items = at(body, '/items');
  if (!Array.isArray(items)) return body;
  return {
    kind: at(body, '/kind') ?? null,
    metadata: at(body, '/metadata') ?? null,
    items: items.map((item) => at(item, '/metadata/name') ?? null),
  };
}

function ages(body: Json): Json {
  const rows = at(body, '/rows');
  const columns = at(body, '/columnDefinitions');
  if (!Array.isArray(columns)) return body;
  const age = columns.findIndex((column) => at(column, '/name') === 'Age');
  return {
    ...(body as JsonObject),
    columnDefinitions: withoutDescriptions(columns),
    rows: !Array.isArray(rows)
      ? (rows ?? null)
      : rows.map((row) => ({
          ...(row as JsonObject),
          cells: (at(row, '/cells') as Json[]).map((cell, index) =>
            index === age && cell !== '<unknown>' ? '<age>' : cell,
          ),
        })),
  };
}

/** Later bookmarks come when the server sees fit. */
function upToBookmark(events: Json): Json {
  if (!Array.isArray(events)) return events;
  return events.slice(0, events.findIndex((event) => at(event, '/type') === 'BOOKMARK') + 1);
}

function select(reason: string, labelSelector: string): Step {
  return read(reason, o.CONFIG_MAPS, { query: { labelSelector }, pick: names });
}

function selectField(reason: string, fieldSelector: string): Step {
  return read(reason, o.CONFIG_MAPS, { query: { fieldSelector }, pick: names });
}

const FLEET: Step[] = [
  create('a', o.CONFIG_MAPS, o.configMap('a', { k: '1' }, { labels: { set: 'x', tier: 'edge' } })),
  create('b', o.CONFIG_MAPS, o.configMap('b', { k: '2' }, { labels: { set: 'x', tier: 'core' } })),
  create('c', o.CONFIG_MAPS, o.configMap('c', { k: '3' }, { labels: { set: 'y' } })),
];

export const LISTING_SCENARIOS: readonly Scenario[] = [
  {
    name: 'list-pages',
    about: 'Lists in pages: limit, continue, what remains, and tokens that are none.',
    steps: [
      ...FLEET,
      read('the first page', o.CONFIG_MAPS, {
        query: { limit: '2' },
        save: { token: '/metadata/continue' },
        pick: names,
      }),
      read('the second page', o.CONFIG_MAPS, {
        query: { limit: '1', continue: '${token}' },
        save: { token: '/metadata/continue' },
        pick: names,
      }),
      read('the rest without a limit', o.CONFIG_MAPS, { query: { continue: '${token}' }, pick: names }),
      read('with a selector nobody says how many remain', o.CONFIG_MAPS, {
        query: { limit: '1', labelSelector: 'set=x' },
        pick: names,
      }),
      read('a token that is none', o.CONFIG_MAPS, { query: { limit: '1', continue: 'none' } }),
      read('a token of another shape', o.CONFIG_MAPS, { query: { limit: '1', continue: 'eyJ2IjoieCJ9' } }),
      read('a token together with a resourceVersion', o.CONFIG_MAPS, {
        query: { limit: '1', continue: '${token}', resourceVersion: '1' },
      }),
      read('a limit that is no number', o.CONFIG_MAPS, { query: { limit: 'many' } }),
      read('a limit of nothing is no limit', o.CONFIG_MAPS, {
        query: { limit: '0', labelSelector: 'set' },
        pick: names,
      }),
      read('a resourceVersion of 0 is any', o.CONFIG_MAPS, {
        query: { resourceVersion: '0', labelSelector: 'set=y' },
        pick: names,
      }),
      read('a resourceVersion that is no number', o.CONFIG_MAPS, { query: { resourceVersion: 'x' } }),
    ],
  },
  {
    name: 'list-selectors',
    about: 'Label and field selectors.',
    steps: [
      ...FLEET,
      select('equality', 'set=x'),
      select('double equality', 'set==x'),
      select('inequality has those without the label too', 'set!=x,kubernetes.io/none!=y'),
      select('two conditions', 'set=x,tier=edge'),
      select('in', 'tier in (edge, core)'),
      select('notin has those without the label too', 'set,tier notin (edge)'),
      select('exists', 'tier'),
      select('does not exist', 'set,!tier'),
      select('greater than wants numbers', 'set>1'),
      select('text that is no selector', 'set=(x'),
      select('an invalid value', 'set=not valid'),
      select('an invalid key', 'a/b/c=x'),
      selectField('the name', 'metadata.name=b'),
      selectField('not the name', 'metadata.name!=b,metadata.name!=kube-root-ca.crt'),
      selectField('name and namespace', 'metadata.name=b,metadata.namespace=${ns}'),
      selectField('a field that cannot be selected by', 'data.k=1'),
      selectField('text that is no selector', 'metadata.name'),
      read('a Secret by type', o.SECRETS, { query: { fieldSelector: 'type=Opaque' }, pick: names }),
      read('all namespaces', '/api/v1/configmaps', {
        query: { labelSelector: 'set=y', fieldSelector: 'metadata.namespace=${ns}' },
        pick: names,
      }),
    ],
  },
  {
    name: 'list-forms',
    about: 'Tables and metadata only, as kubectl asks for them.',
    steps: [
      ...FLEET,
      read('a table of one', `${o.CONFIG_MAPS}/a`, { accept: TABLE, pick: ages }),
      read('a table of a list', o.CONFIG_MAPS, { accept: TABLE, query: { labelSelector: 'set' }, pick: ages }),
      read('a table with the whole objects', o.CONFIG_MAPS, {
        accept: TABLE,
        query: { labelSelector: 'set=y', includeObject: 'Object' },
        pick: ages,
      }),
      read('a table without objects', o.CONFIG_MAPS, {
        accept: TABLE,
        query: { labelSelector: 'set=y', includeObject: 'None' },
        pick: ages,
      }),
      read('an empty table', o.CONFIG_MAPS, { accept: TABLE, query: { labelSelector: 'set=none' }, pick: ages }),
      create('a Deployment', o.DEPLOYMENTS, o.deployment('one', [{ name: 'a', image: 'a:1' }], {}, {}), {
        query: { dryRun: 'All' },
        accept: TABLE,
        pick: ages,
      }),
      read('Deployments as a table', o.DEPLOYMENTS, { accept: TABLE, pick: ages }),
      read('StatefulSets as a table', o.STATEFUL_SETS, { accept: TABLE, pick: ages }),
      create(
        'a Service',
        o.SERVICES,
        o.service('one', {
          clusterIP: 'None',
          ports: [
            { port: 80, name: 'a' },
            { port: 81, name: 'b', protocol: 'UDP' },
          ],
        }),
      ),
      read('Services as a table', o.SERVICES, { accept: TABLE, pick: ages }),
      read('Secrets as a table', o.SECRETS, { accept: TABLE, pick: ages }),
      read('Roles as a table', o.ROLES, { accept: TABLE, pick: ages }),
      read('RoleBindings as a table', o.ROLE_BINDINGS, { accept: TABLE, pick: ages }),
      read('NetworkPolicies as a table', o.NETWORK_POLICIES, { accept: TABLE, pick: ages }),
      read('ServiceAccounts as a table', o.SERVICE_ACCOUNTS, { accept: TABLE, pick: ages }),
      read('Leases as a table', o.LEASES, { accept: TABLE, pick: ages }),
      read('the namespace as a table', '/api/v1/namespaces/${ns}', { accept: TABLE, pick: ages }),
      read('metadata of one', `${o.CONFIG_MAPS}/a`, { accept: ONE_METADATA_ONLY }),
      read('metadata of a list', o.CONFIG_MAPS, { accept: METADATA_ONLY, query: { labelSelector: 'set=y' } }),
    ],
  },
  {
    name: 'watch',
    about: 'What a watch tells: from a resourceVersion on, from the beginning, as a table, and what it refuses.',
    ticks: true,
    steps: [
      read('a list to start from', o.CONFIG_MAPS, {
        query: { labelSelector: 'set' },
        save: { start: '/metadata/resourceVersion' },
      }),
      create('one is added', o.CONFIG_MAPS, o.configMap('a', { k: '1' }, { labels: { set: 'x' } })),
      patch('it is modified', `${o.CONFIG_MAPS}/a`, MERGE_PATCH, { data: { k: '2' } }),
      create('another without the label', o.CONFIG_MAPS, o.configMap('b', {})),
      patch('gets it', `${o.CONFIG_MAPS}/b`, MERGE_PATCH, { metadata: { labels: { set: 'x' } } }),
      patch('and loses it', `${o.CONFIG_MAPS}/b`, MERGE_PATCH, { metadata: { labels: { set: null } } }),
      remove('one is deleted', `${o.CONFIG_MAPS}/a`),
      read('a watch from the list on tells all of it', o.CONFIG_MAPS, {
        query: { watch: '1', labelSelector: 'set', resourceVersion: '${start}', timeoutSeconds: '1' },
      }),
      read('a watch without a resourceVersion starts with what is there', o.CONFIG_MAPS, {
        query: { watch: 'true', fieldSelector: 'metadata.name=b', timeoutSeconds: '1' },
      }),
      read('a watch from 0 too', o.CONFIG_MAPS, {
        query: { watch: '1', fieldSelector: 'metadata.name=b', resourceVersion: '0', timeoutSeconds: '1' },
      }),
      read('with sendInitialEvents a bookmark ends what is there', o.CONFIG_MAPS, {
        query: {
          watch: '1',
          fieldSelector: 'metadata.name=b',
          sendInitialEvents: 'true',
          resourceVersionMatch: 'NotOlderThan',
          allowWatchBookmarks: 'true',
          timeoutSeconds: '1',
        },
        pick: upToBookmark,
      }),
      read('sendInitialEvents wants a resourceVersionMatch', o.CONFIG_MAPS, {
        query: { watch: '1', sendInitialEvents: 'true', allowWatchBookmarks: 'true', timeoutSeconds: '1' },
      }),
      read('the events of one object as rows of a table', o.CONFIG_MAPS, {
        accept: TABLE,
        query: { watch: '1', fieldSelector: 'metadata.name=b', timeoutSeconds: '1' },
        pick: (events) =>
          Array.isArray(events)
            ? events.map((event) => ({ ...(event as JsonObject), object: ages(at(event, '/object') ?? null) }))
            : events,
      }),
      read('a resourceVersion that is no number', o.CONFIG_MAPS, {
        query: { watch: '1', resourceVersion: 'x', timeoutSeconds: '1' },
      }),
      read('asked for one object, watch is ignored', `${o.CONFIG_MAPS}/b`, {
        query: { watch: '1', timeoutSeconds: '1' },
      }),
    ],
  },
];
