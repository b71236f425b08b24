// Server-side apply: what becomes of fields and of managedFields when several managers write one object.

import type { Json, JsonObject } from '../../../src/std/json.ts';
import type { Scenario } from '../scenario.ts';
import { apply, create, MERGE_PATCH, patch, read, remove, replace, settle } from '../scenario.ts';
import { deploymentSettled } from './controllers.ts';
import * as o from './objects.ts';

const ONE = `${o.CONFIG_MAPS}/one`;
const SERVICE = `${o.SERVICES}/one`;
const DEPLOYMENT = `${o.DEPLOYMENTS}/one`;

function withData(live: Json | undefined, data: JsonObject, metadata: JsonObject = {}): JsonObject {
  const object = live as JsonObject;
  return { ...object, metadata: { ...(object.metadata as JsonObject), ...metadata }, data };
}

function held(metadata: JsonObject): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one', ...metadata } };
}

function withoutManagers(object: JsonObject): JsonObject {
  const { managedFields: _dropped, ...metadata } = object.metadata as JsonObject;
  return { ...object, metadata };
}

export const APPLY_SCENARIOS: readonly Scenario[] = [
  {
    name: 'apply-life',
    about: 'One manager applies a ConfigMap: created, again, changed, a field dropped.',
    ticks: true,
    steps: [
      apply('a dry run of an apply that would create answers 201', ONE, 'git', o.configMap('one', { a: '1', b: '2' }), {
        query: { dryRun: 'All' },
      }),
      read('the dry run stored nothing', ONE),
      apply(
        'applying what is not there creates it',
        ONE,
        'git',
        o.configMap('one', { a: '1', b: '2' }, { labels: { app: 'x' } }),
      ),
      apply(
        'applying the same again writes nothing',
        ONE,
        'git',
        o.configMap('one', { a: '1', b: '2' }, { labels: { app: 'x' } }),
      ),
      apply(
        'a dry run shows the change with the resourceVersion of what is stored',
        ONE,
        'git',
        o.configMap('one', { a: '9', b: '2' }),
        {
          query: { dryRun: 'All' },
        },
      ),
      apply(
        'a changed value keeps the ownership',
        ONE,
        'git',
        o.configMap('one', { a: '9', b: '2' }, { labels: { app: 'x' } }),
      ),
      apply(
        'a field that is no longer applied is removed',
        ONE,
        'git',
        o.configMap('one', { a: '9' }, { labels: { app: 'x' } }),
      ),
      apply(
        'a label that is no longer applied is removed, and the empty map with it',
        ONE,
        'git',
        o.configMap('one', { a: '9' }),
      ),
      apply('an entry without fields is not kept', ONE, 'git', {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'one' },
      }),
      apply('and applying no field again writes nothing', ONE, 'git', {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'one' },
      }),
    ],
  },
  {
    name: 'apply-co-owners',
    about: 'Two managers apply the same values: both own them, the field stays until the last one drops it.',
    ticks: true,
    steps: [
      apply('the first manager creates', ONE, 'git', o.configMap('one', { shared: 's', a: '1' })),
      apply(
        'the second applies the same value and becomes co-owner',
        ONE,
        'ops',
        o.configMap('one', { shared: 's', b: '2' }),
      ),
      apply('the second again: nothing is written', ONE, 'ops', o.configMap('one', { shared: 's', b: '2' })),
      apply(
        'the first drops the shared field: it stays, owned by the second',
        ONE,
        'git',
        o.configMap('one', { a: '1' }),
      ),
      apply('the second drops it too: now it goes', ONE, 'ops', o.configMap('one', { b: '2' })),
      apply('the second drops everything of its own', ONE, 'ops', {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'one' },
      }),
      read('what is left is what the first owns', ONE),
    ],
  },
  {
    name: 'apply-conflict',
    about: 'Another value for a field that somebody owns is a conflict; force takes the field over.',
    ticks: true,
    steps: [
      apply(
        'the first manager creates',
        ONE,
        'git',
        o.configMap('one', { a: '1', b: '2' }, { labels: { tier: 'edge' } }),
      ),
      apply(
        'one field in conflict: 409 with the manager and the field as cause',
        ONE,
        'ops',
        o.configMap('one', { a: 'other' }),
      ),
      apply(
        'several fields in conflict: one cause each',
        ONE,
        'ops',
        o.configMap('one', { a: 'other', b: 'other' }, { labels: { tier: 'core' } }),
      ),
      apply('a dry run conflicts too', ONE, 'ops', o.configMap('one', { a: 'other' }), { query: { dryRun: 'All' } }),
      read('nothing was written', ONE),
      apply('force takes the field from the first manager', ONE, 'ops', o.configMap('one', { a: 'other' }), {
        force: true,
      }),
      apply(
        'now the first manager is in conflict',
        ONE,
        'git',
        o.configMap('one', { a: '1', b: '2' }, { labels: { tier: 'edge' } }),
      ),
      apply('a third manager is in conflict with two others', ONE, 'third', o.configMap('one', { a: 'x', b: 'y' })),
      apply('force takes from two managers at once', ONE, 'third', o.configMap('one', { a: 'x', b: 'y' }), {
        force: true,
      }),
    ],
  },
  {
    name: 'apply-list-map',
    about: 'Ports of a Service are merged by port and protocol; a protocol that is left out is TCP.',
    ticks: true,
    steps: [
      apply(
        'two ports, one without a protocol',
        SERVICE,
        'git',
        o.service('one', {
          ports: [
            { name: 'a', port: 80 },
            { name: 'b', port: 81, protocol: 'TCP' },
          ],
        }),
      ),
      apply(
        'writing the default out changes nothing but the owned set',
        SERVICE,
        'git',
        o.service('one', {
          ports: [
            { name: 'a', port: 80, protocol: 'TCP' },
            { name: 'b', port: 81, protocol: 'TCP' },
          ],
        }),
      ),
      apply('another manager adds a port', SERVICE, 'ops', o.service('one', { ports: [{ name: 'c', port: 82 }] })),
      apply(
        'the same port number with another protocol is another item',
        SERVICE,
        'ops',
        o.service('one', {
          ports: [
            { name: 'c', port: 82 },
            { name: 'd', port: 80, protocol: 'UDP' },
          ],
        }),
      ),
      apply(
        'a field of an item that only has a default belongs to nobody: no conflict',
        SERVICE,
        'ops',
        o.service('one', {
          ports: [
            { name: 'a', port: 80, targetPort: 8080 },
            { name: 'c', port: 82 },
          ],
        }),
      ),
      apply(
        'dropping a port removes it, the others keep their order',
        SERVICE,
        'git',
        o.service('one', { ports: [{ name: 'b', port: 81, protocol: 'TCP' }] }),
      ),
      apply(
        'applying in another order moves the items',
        SERVICE,
        'git',
        o.service('one', {
          ports: [
            { name: 'e', port: 83 },
            { name: 'b', port: 81, protocol: 'TCP' },
          ],
        }),
      ),
      apply(
        'one port twice is a 500',
        SERVICE,
        'git',
        o.service('one', {
          ports: [
            { name: 'x', port: 90 },
            { name: 'y', port: 90 },
          ],
        }),
      ),
      apply(
        'a port without its number is invalid',
        SERVICE,
        'git',
        o.service('one', { ports: [{ name: 'x', protocol: 'TCP' }] }),
      ),
    ],
  },
  {
    name: 'apply-containers',
    about: 'Containers, env and ports of a Deployment: merged by their keys, in the order of who applies.',
    ticks: true,
    steps: [
      apply(
        'the first manager applies one container',
        DEPLOYMENT,
        'git',
        o.deployment('one', [
          {
            name: 'mcp',
            image: 'a:1',
            env: [
              { name: 'A', value: '1' },
              { name: 'B', value: '' },
            ],
            ports: [{ containerPort: 80 }],
          },
        ]),
      ),
      settle('the controller has written the status', DEPLOYMENT, deploymentSettled),
      apply(
        'applying the same again writes nothing',
        DEPLOYMENT,
        'git',
        o.deployment('one', [
          {
            name: 'mcp',
            image: 'a:1',
            env: [
              { name: 'A', value: '1' },
              { name: 'B', value: '' },
            ],
            ports: [{ containerPort: 80 }],
          },
        ]),
      ),
      apply('another manager adds a container, an env variable and a port', DEPLOYMENT, 'ops', {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'one' },
        spec: {
          template: {
            spec: {
              containers: [
                { name: 'mcp', env: [{ name: 'C', value: '3' }], ports: [{ containerPort: 81, name: 'extra' }] },
                { name: 'side', image: 'b:1' },
              ],
            },
          },
        },
      }),
      settle('the controller has seen the second generation', DEPLOYMENT, deploymentSettled),
      apply(
        'the first manager changes the image and drops a variable',
        DEPLOYMENT,
        'git',
        o.deployment('one', [
          { name: 'mcp', image: 'a:2', env: [{ name: 'B', value: '' }], ports: [{ containerPort: 80 }] },
        ]),
      ),
      settle('the controller has seen the third generation', DEPLOYMENT, deploymentSettled),
      apply('the image of another manager is a conflict', DEPLOYMENT, 'ops', {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'one' },
        spec: {
          template: {
            spec: {
              containers: [
                { name: 'mcp', image: 'c:1' },
                { name: 'side', image: 'b:1' },
              ],
            },
          },
        },
      }),
      apply('dropping the container of the second manager removes what only it owned', DEPLOYMENT, 'ops', {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'one' },
        spec: { template: { spec: { containers: [{ name: 'mcp', ports: [{ containerPort: 81, name: 'extra' }] }] } } },
      }),
    ],
  },
  {
    name: 'apply-sets',
    about: 'Finalizers are a set: every item is owned for itself.',
    ticks: true,
    steps: [
      apply('the first manager sets two', ONE, 'git', held({ finalizers: ['example.com/a', 'example.com/b'] })),
      apply('the second adds one and shares one', ONE, 'ops', held({ finalizers: ['example.com/b', 'example.com/c'] })),
      apply('the first drops both: only its own goes', ONE, 'git', held({})),
      apply('a value twice is a 500', ONE, 'ops', held({ finalizers: ['example.com/c', 'example.com/c'] })),
      apply('the second drops its own', ONE, 'ops', held({})),
    ],
  },
  {
    name: 'apply-owner-references',
    about: 'Owner references are merged by uid; several managers may each set one.',
    ticks: true,
    steps: [
      create('an owner', o.CONFIG_MAPS, o.configMap('owner', {}), { save: { owner: '/metadata/uid' } }),
      create('another owner', o.CONFIG_MAPS, o.configMap('other', {}), { save: { other: '/metadata/uid' } }),
      apply(
        'the first manager sets an owner',
        ONE,
        'git',
        o.configMap(
          'one',
          { a: '1' },
          {
            ownerReferences: [
              {
                apiVersion: 'v1',
                kind: 'ConfigMap',
                name: 'owner',
                uid: '${owner}',
                controller: true,
                blockOwnerDeletion: true,
              },
            ],
          },
        ),
      ),
      apply(
        'the second manager adds one',
        ONE,
        'ops',
        o.configMap(
          'one',
          {},
          {
            ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid: '${other}' }],
          },
        ),
      ),
      apply(
        'two controllers are refused',
        ONE,
        'ops',
        o.configMap(
          'one',
          {},
          {
            ownerReferences: [
              { apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid: '${other}', controller: true },
            ],
          },
        ),
      ),
    ],
  },
  {
    name: 'apply-atomic',
    about: 'Rules of a Role are atomic: one field, replaced as a whole.',
    ticks: true,
    steps: [
      apply(
        'two rules are one owned field',
        `${o.ROLES}/one`,
        'git',
        o.role('one', [
          { apiGroups: [''], resources: ['pods'], verbs: ['get'] },
          { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get', 'list'] },
        ]),
      ),
      apply(
        'other rules of another manager are a conflict',
        `${o.ROLES}/one`,
        'ops',
        o.role('one', [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }]),
      ),
      apply(
        'the same rules make a co-owner',
        `${o.ROLES}/one`,
        'ops',
        o.role('one', [
          { apiGroups: [''], resources: ['pods'], verbs: ['get'] },
          { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get', 'list'] },
        ]),
      ),
      apply(
        'force replaces the whole list',
        `${o.ROLES}/one`,
        'ops',
        o.role('one', [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }]),
        { force: true },
      ),
      apply('an empty list is a value', `${o.ROLES}/one`, 'ops', o.role('one', [])),
    ],
  },
  {
    name: 'apply-selector',
    about: 'The selector of a Service is an atomic map.',
    ticks: true,
    steps: [
      apply(
        'two keys are one owned field',
        SERVICE,
        'git',
        o.service('one', { selector: { app: 'a', tier: 'x' }, ports: [{ port: 80 }] }),
      ),
      apply(
        'a part of it by another manager is a conflict',
        SERVICE,
        'ops',
        o.service('one', { selector: { app: 'a' } }),
      ),
      apply(
        'fewer keys replace the whole map',
        SERVICE,
        'git',
        o.service('one', { selector: { app: 'a' }, ports: [{ port: 80 }] }),
      ),
    ],
  },
  {
    name: 'apply-after-update',
    about: 'A manager applies to an object that others have created and patched.',
    ticks: true,
    steps: [
      create('somebody creates', o.CONFIG_MAPS, o.configMap('one', { a: '1', b: '2' }), {
        query: { fieldManager: 'editor' },
      }),
      apply('applying the same values: co-owner beside the Update entry', ONE, 'git', o.configMap('one', { a: '1' })),
      apply(
        'another value conflicts with the Update entry: the cause names the version that it was written in',
        ONE,
        'git',
        o.configMap('one', { a: '1', b: 'x' }),
      ),
      apply('force takes the field from the Update entry', ONE, 'git', o.configMap('one', { a: '1', b: 'x' }), {
        force: true,
      }),
      patch(
        'the manager that applies patches too: a second entry of its name, without what is the same',
        ONE,
        MERGE_PATCH,
        { data: { b: 'y', c: '3' } },
        {
          query: { fieldManager: 'git' },
        },
      ),
      apply('its own Update entry is a conflict like any other', ONE, 'git', o.configMap('one', { a: '1', b: 'z' })),
      apply(
        'with the same value there is none, and both entries own it',
        ONE,
        'git',
        o.configMap('one', { a: '1', b: 'y' }),
      ),
      apply(
        'a field that the Update entry owns too survives when the apply drops it',
        ONE,
        'git',
        o.configMap('one', { a: '1' }),
      ),
    ],
  },
  {
    name: 'update-after-apply',
    about: 'Others write to an object that was applied: what they change is taken out of the entry of Apply.',
    ticks: true,
    steps: [
      apply(
        'a manager applies',
        ONE,
        'git',
        o.configMap('one', { a: '1', b: '2' }, { labels: { app: 'x' }, annotations: { note: 'n' } }),
        { save: { live: '' } },
      ),
      patch(
        'a merge patch takes the field that it changes',
        ONE,
        MERGE_PATCH,
        { data: { a: 'patched' } },
        { query: { fieldManager: 'editor' } },
      ),
      patch(
        'a patch with the value that is there changes nothing',
        ONE,
        MERGE_PATCH,
        { data: { b: '2' } },
        { query: { fieldManager: 'editor' } },
      ),
      patch(
        'a patch that removes a field takes it from everybody',
        ONE,
        MERGE_PATCH,
        { data: { b: null } },
        { query: { fieldManager: 'editor' }, save: { live: '' } },
      ),
      replace('a replacement adds a key: a new entry', ONE, (saved) => withData(saved.live, { a: 'patched', c: '3' }), {
        query: { fieldManager: 'writer' },
        save: { live: '' },
      }),
      replace(
        'the same manager again: the same entry',
        ONE,
        (saved) => withData(saved.live, { a: 'patched', c: '4', d: '5' }),
        {
          query: { fieldManager: 'writer' },
          save: { live: '' },
        },
      ),
      replace(
        'a replacement that says nothing of managedFields keeps them',
        ONE,
        (saved) => withoutManagers(withData(saved.live, { a: 'patched', c: '4', d: '6' })),
        {
          query: { fieldManager: 'writer' },
          save: { live: '' },
        },
      ),
      apply(
        'the first manager applies again: in conflict with both',
        ONE,
        'git',
        o.configMap('one', { a: '1', c: '1' }),
      ),
      apply('and forces', ONE, 'git', o.configMap('one', { a: '1', c: '1' }), { force: true, save: { live: '' } }),
      replace(
        'a replacement with an empty list of managedFields wipes them',
        ONE,
        (saved) => withData(saved.live, { e: '7' }, { managedFields: [] as Json[] }),
        {
          query: { fieldManager: 'writer' },
        },
      ),
    ],
  },
  {
    name: 'apply-before-first-apply',
    about: 'An object whose managedFields were wiped: the next write attributes what is there to before-first-apply.',
    ticks: true,
    steps: [
      create('an object', o.CONFIG_MAPS, o.configMap('one', { a: '1', b: '2' }, { labels: { app: 'x' } })),
      patch('one empty entry wipes all of them', ONE, MERGE_PATCH, { metadata: { managedFields: [{}] } }),
      apply('the first apply after that adds before-first-apply', ONE, 'git', o.configMap('one', { a: '1' })),
      apply('another value is a conflict with before-first-apply', ONE, 'git', o.configMap('one', { a: '1', b: 'x' })),
      apply('which force resolves', ONE, 'git', o.configMap('one', { a: '1', b: 'x' }), { force: true }),
      create('a second object', o.CONFIG_MAPS, o.configMap('two', { a: '1' })),
      patch('wiped too', `${o.CONFIG_MAPS}/two`, MERGE_PATCH, { metadata: { managedFields: [{}] } }),
      patch(
        'a patch to an object without entries does not track anything',
        `${o.CONFIG_MAPS}/two`,
        MERGE_PATCH,
        { data: { b: '2' } },
        {
          query: { fieldManager: 'editor' },
        },
      ),
    ],
  },
  {
    name: 'apply-preconditions',
    about: 'A uid or a resourceVersion in the applied object is a precondition; they fail differently.',
    ticks: true,
    steps: [
      apply('a manager creates', ONE, 'git', o.configMap('one', { a: '1' }), {
        save: { uid: '/metadata/uid', version: '/metadata/resourceVersion' },
      }),
      apply('the right uid', ONE, 'git', o.configMap('one', { a: '2' }, { uid: '${uid}' })),
      apply(
        'a wrong uid is an invalid value, not a conflict',
        ONE,
        'git',
        o.configMap('one', { a: '3' }, { uid: 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee' }),
      ),
      apply(
        'so with force',
        ONE,
        'git',
        o.configMap('one', { a: '3' }, { uid: 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee' }),
        { force: true },
      ),
      apply(
        'an old resourceVersion is a conflict',
        ONE,
        'git',
        o.configMap('one', { a: '3' }, { resourceVersion: '${version}' }),
      ),
      apply(
        'a uid for an object that does not exist is a conflict',
        `${o.CONFIG_MAPS}/none`,
        'git',
        o.configMap('none', { a: '3' }, { uid: '${uid}' }),
      ),
      apply(
        'a resourceVersion for an object that does not exist is ignored',
        `${o.CONFIG_MAPS}/none`,
        'git',
        o.configMap('none', { a: '3' }, { resourceVersion: '${version}' }),
      ),
    ],
  },
  {
    name: 'apply-refused',
    about: 'Apply requests that are wrong in themselves.',
    steps: [
      {
        reason: 'apply needs a field manager',
        method: 'PATCH',
        path: ONE,
        contentType: 'application/apply-patch+yaml',
        body: o.configMap('one', {}),
      },
      apply('a field manager has at most 128 characters', ONE, 'm'.repeat(129), o.configMap('one', {})),
      apply('a field manager is printable', ONE, 'a\u0001b', o.configMap('one', {})),
      apply(
        'managedFields must not be applied',
        ONE,
        'git',
        o.configMap('one', {}, { managedFields: [{ manager: 'x', operation: 'Apply' }] }),
      ),
      apply('the name in the object must be that of the URL', ONE, 'git', o.configMap('two', {})),
      apply(
        'the namespace in the object must be that of the URL',
        ONE,
        'git',
        o.configMap('one', {}, { namespace: 'default' }),
      ),
      apply('the kind must be that of the URL', ONE, 'git', {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'one' },
      }),
      apply('the apiVersion must be that of the URL', ONE, 'git', {
        apiVersion: 'v2',
        kind: 'ConfigMap',
        metadata: { name: 'one' },
      }),
      apply('an object without apiVersion', ONE, 'git', { kind: 'ConfigMap', metadata: { name: 'one' } }),
      apply('the object must have a name', ONE, 'git', { apiVersion: 'v1', kind: 'ConfigMap', data: { a: '1' } }),
      apply('dryRun takes only All', ONE, 'git', o.configMap('one', {}), { query: { dryRun: 'Some' } }),
      {
        reason: 'force belongs to apply',
        method: 'PATCH',
        path: ONE,
        contentType: MERGE_PATCH,
        query: { force: 'true' },
        body: { data: { a: '1' } },
      },
      apply('a namespace that does not exist', '/api/v1/namespaces/none/configmaps/one', 'git', o.configMap('one', {})),
      {
        reason: 'text that is no YAML',
        method: 'PATCH',
        path: ONE,
        contentType: 'application/apply-patch+yaml',
        query: { fieldManager: 'git' },
        text: 'a: [',
      },
      {
        reason: 'YAML is taken',
        method: 'PATCH',
        path: `${o.CONFIG_MAPS}/yaml`,
        contentType: 'application/apply-patch+yaml',
        query: { fieldManager: 'git' },
        text: 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yaml\ndata:\n  a: "1" # a comment\n',
      },
      apply('a value of the wrong type is a 500 without a reason', ONE, 'git', {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'one' },
        data: { a: 1 },
      }),
      apply('so is a list in the place of a map', ONE, 'git', {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'one' },
        data: ['a'],
      }),
      apply('and a field that the kind does not have', ONE, 'git', {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'one' },
        datum: {},
      }),
      apply('an invalid name', `${o.CONFIG_MAPS}/One_`, 'git', o.configMap('One_', {})),
      apply('an invalid label', ONE, 'git', o.configMap('one', {}, { labels: { app: 'not valid!' } })),
      apply('an invalid key of data', ONE, 'git', o.configMap('one', { 'a/b': '1' })),
    ],
  },
  {
    name: 'apply-empty-values',
    about: 'null, empty maps and empty lists in an apply: owned or not, stored or not.',
    ticks: true,
    steps: [
      apply('empty maps of metadata are dropped but owned', ONE, 'git', {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'one', labels: {}, annotations: {} },
        data: {},
      }),
      apply('nulls', `${o.CONFIG_MAPS}/nulls`, 'git', {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'nulls', labels: null },
        data: { a: null, b: '2' },
      }),
      apply('an empty string is a value', `${o.CONFIG_MAPS}/empty`, 'git', o.configMap('empty', { a: '' })),
      apply('an empty list map is not owned', SERVICE, 'git', o.service('one', { clusterIP: 'None', ports: [] })),
      apply(
        'false and zero of a typed kind are dropped but owned',
        DEPLOYMENT,
        'git',
        o.deployment(
          'one',
          [{ name: 'mcp', image: 'a:1', tty: false, env: [], ports: [{ containerPort: 80, hostPort: 0 }] }],
          { paused: false, minReadySeconds: 0 },
        ),
        { query: { dryRun: 'All' } },
      ),
    ],
  },
  {
    name: 'apply-secret',
    about: 'A Secret applied with stringData: owned as stringData, stored as data.',
    ticks: true,
    steps: [
      apply('stringData', `${o.SECRETS}/one`, 'git', {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'one' },
        stringData: { a: 'x', b: 'y' },
      }),
      apply('a key dropped from stringData stays in data', `${o.SECRETS}/one`, 'git', {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'one' },
        stringData: { a: 'x' },
      }),
      apply('data is pruned', `${o.SECRETS}/two`, 'git', {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'two' },
        data: { a: 'eA==', b: 'eQ==' },
      }),
      apply('to what is left', `${o.SECRETS}/two`, 'git', {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'two' },
        data: { a: 'eA==' },
      }),
      apply('the type is immutable', `${o.SECRETS}/two`, 'git', {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'two' },
        type: 'example.com/x',
        data: { a: 'eA==' },
      }),
      apply('what is not base64 is a 500', `${o.SECRETS}/two`, 'git', {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'two' },
        data: { a: '?' },
      }),
      apply('an immutable Secret', `${o.SECRETS}/three`, 'git', {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'three' },
        immutable: true,
        data: { a: 'eA==' },
      }),
      apply('cannot be changed', `${o.SECRETS}/three`, 'git', {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'three' },
        immutable: true,
        data: { a: 'eQ==' },
      }),
    ],
  },
  {
    name: 'apply-status',
    about: 'The status subresource is applied for itself: it has an entry of its own.',
    ticks: true,
    steps: [
      apply('the object', SERVICE, 'git', o.service('one', { type: 'ClusterIP', clusterIP: 'None' })),
      apply(
        'its status, by the same manager: an entry with the subresource; spec is ignored, labels are not',
        `${SERVICE}/status`,
        'git',
        {
          apiVersion: 'v1',
          kind: 'Service',
          metadata: { name: 'one', labels: { written: 'no' } },
          spec: { sessionAffinity: 'ClientIP' },
          status: {
            conditions: [
              { type: 'Ready', status: 'True', reason: 'Up', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
            ],
          },
        },
      ),
      apply('a status through the object is ignored, yet the entry gets a new time', SERVICE, 'git', {
        ...o.service('one', { type: 'ClusterIP', clusterIP: 'None' }),
        status: {
          conditions: [
            { type: 'Ready', status: 'False', reason: 'Down', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
          ],
        },
      }),
      apply('a condition of another manager beside it', `${SERVICE}/status`, 'ops', {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'one' },
        status: {
          conditions: [
            { type: 'Synced', status: 'True', reason: 'Up', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
          ],
        },
      }),
      patch(
        'a status that does not fit the spec is invalid',
        `${SERVICE}/status`,
        MERGE_PATCH,
        { status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } },
        {
          query: { fieldManager: 'editor' },
        },
      ),
      read('the status subresource reads as the object', `${SERVICE}/status`),
      apply('a status of what is not there is tried as a creation', `${o.SERVICES}/none/status`, 'git', {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'none' },
        status: {},
      }),
    ],
  },
  {
    name: 'apply-scale',
    about: 'A write through the scale subresource takes the replicas out of the entry of Apply.',
    ticks: true,
    steps: [
      apply('a Deployment', DEPLOYMENT, 'git', o.deployment('one', [{ name: 'mcp', image: 'a:1' }])),
      settle('the controller has written the status', DEPLOYMENT, deploymentSettled),
      read('its scale', `${DEPLOYMENT}/scale`, { save: { scale: '' } }),
      replace(
        'replaced by somebody',
        `${DEPLOYMENT}/scale`,
        (saved) => ({ ...(saved.scale as JsonObject), spec: { replicas: 1 } }),
        {
          query: { fieldManager: 'scaler', dryRun: 'All' },
        },
      ),
    ],
  },
  {
    name: 'apply-terminating',
    about: 'Applying to an object that is being deleted.',
    ticks: true,
    steps: [
      apply(
        'an object with a finalizer',
        ONE,
        'git',
        o.configMap('one', { a: '1' }, { finalizers: ['example.com/hold'] }),
      ),
      remove('deleting it sets the deletionTimestamp and answers with the object', ONE),
      apply(
        'its data may still change',
        ONE,
        'git',
        o.configMap('one', { a: '2' }, { finalizers: ['example.com/hold'] }),
      ),
      apply(
        'a new finalizer may not be added',
        ONE,
        'git',
        o.configMap('one', { a: '2' }, { finalizers: ['example.com/hold', 'example.com/more'] }),
      ),
      apply('without its last finalizer it goes', ONE, 'git', o.configMap('one', { a: '2' })),
      read('it is gone', ONE),
    ],
  },
];
