// Server-side apply by itself: one manager or several, by the types of lists and maps.

import type { JsonObject } from '#std/json.ts';
import type { Scenario } from '../scenario.ts';
import { apply, create, read, settle } from '../scenario.ts';
import { deploymentSettled } from './controllers.ts';
import * as o from './objects.ts';

const ONE = `${o.CONFIG_MAPS}/one`;
const SERVICE = `${o.SERVICES}/one`;
const DEPLOYMENT = `${o.DEPLOYMENTS}/one`;

function held(metadata: JsonObject): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one', ...metadata } };
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
];
