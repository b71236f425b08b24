// The schema of skep.yaml. Every setting is defined here or in a file that this one imports.

import { DATABASE } from '#contracts/database-fields.ts';
import { ADDED_TO_NAMES } from '#reconciler/run/records/home-record.ts';
import { anyObject, bool, choice, integer, list, object, optional, type Static, text, textMap } from '#std/schema.ts';
import { DEFAULT_API_GROUP } from './api-group.ts';
import { DEV } from './dev.ts';
import { HISTORY } from './history.ts';
import { HTTP } from './http.ts';
import { IMAGES } from './images.ts';
import { NOTIFY } from './notify.ts';
import { PLANS, SNAPSHOT } from './plans.ts';
import { withRules } from './rules.ts';
import { GIT, SOURCES } from './sources.ts';
import { WINDOWS } from './windows.ts';

function objectKey(description: string, key: string) {
  return object({ name: text('Its name.', { minLength: 1 }), key: text('Its key.', { default: key }) }, description);
}

const { host, port, user, migrationUser, database, sslMode } = DATABASE;

const CATALOGUE_DATABASE = object(
  {
    host,
    port,
    user,
    migrationUser,
    database,
    sslMode,
    passFile: optional(text('Password file (pgpass format); PGPASSFILE where it is not given.')),
    caFile: optional(text('PEM file of the certificate authority; PGSSLROOTCERT where it is not given.')),
    services: optional(
      object(
        {
          passFileSecret: optional(objectKey('Secret with a password file (pgpass format) for user.', '.pgpass')),
          caConfigMap: optional(objectKey('ConfigMap with the certificates by which the server is checked.', 'ca.crt')),
        },
        'What the services of MCPRegistries without a databaseConfig connect with: objects in the namespace of each.',
      ),
    ),
  },
  'PostgreSQL database of the catalogue.',
);

const KEPT_NAME = new RegExp(`-(?:${ADDED_TO_NAMES.join('|')})(?:-[0-9]+)?$`);

const NAME = withRules(
  text('Name of this instance: in its field manager, Lease and ApplySet.', {
    default: 'default',
    minLength: 1,
    maxLength: 40,
    pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
  }),
  [
    {
      holds: (name) => !KEPT_NAME.test(name),
      message: `a name that ends in ${ADDED_TO_NAMES.map((word) => `-${word}`).join(', ')} is kept for what an instance of the shorter name stores`,
    },
  ],
);

const SETTINGS = object(
  {
    name: NAME,
    apiGroup: text('API group of the custom resources.', { default: DEFAULT_API_GROUP, minLength: 1 }),
    sources: SOURCES,
    schedule: text('When `skep run` runs: a cron expression with seconds.', { default: '*/30 * * * * *' }),
    timeZone: text('Time zone of the schedule (IANA name).', { default: 'UTC' }),
    jitterSeconds: integer('A run starts up to so much later, at random.', { default: 5, minimum: 0 }),
    windows: WINDOWS,
    namespaces: list(text('A name, or a glob such as team-*.'), 'Namespaces this instance may touch.', {
      default: ['*'],
    }),
    scope: choice(
      'git: only what the sources declare; cluster: custom resources that others apply get children and status, too; each of their changes wakes a run, which reads everything.',
      ['git', 'cluster'],
      { default: 'git' },
    ),
    children: bool('Make the children of the custom resources, and their status; else another operator does.', true),
    cluster: object(
      {
        kubeconfig: optional(text('Path of a kubeconfig; else KUBECONFIG, ~/.kube/config, or the pod itself.')),
        context: optional(text('Context of the kubeconfig; else its current one.')),
        concurrency: integer('Requests in flight at most.', { default: 16, minimum: 1, maximum: 256 }),
        timeoutSeconds: integer(
          'Within this time `skep status`, `skep plan --against` and other commands that only look, or write a record, answer or say what was not reached. A large repository that --against has to clone first needs more.',
          { default: 10, minimum: 1, maximum: 600 },
        ),
      },
      'The cluster to keep.',
      { default: {} },
    ),
    apply: object(
      {
        prune: bool('Delete objects of this instance that are no longer declared.', true),
        maxDeletes: integer('More deletions than this of one source wait for approval; 0: each deletion does.', {
          default: 20,
          minimum: 0,
        }),
        maxDeletesPercent: integer(
          'The same by share of what the source has, and of each kind of it, from the second deletion on.',
          {
            default: 25,
            minimum: 0,
            maximum: 100,
          },
        ),
        deadlineSeconds: integer(
          'A run that takes longer begins no further change, and soon after no further request; it ends with what was not reached, and the next run goes on there. How long `skep sync` waits for readiness is not part of it. `skep plan` ends in the same time. Both wait for a silent source for half of it at most, and no longer than two minutes.',
          { default: 600, minimum: 1, maximum: 86_400 },
        ),
        waitSeconds: integer('How long `skep sync` waits for readiness.', { default: 300, minimum: 0 }),
        conflicts: choice('What becomes of declared fields that another manager has changed.', ['force', 'report'], {
          default: 'force',
        }),
      },
      'How changes are made.',
      { default: {} },
    ),
    approval: object(
      {
        expiresHours: integer('How long what `skep approve` approved may wait for its run.', {
          default: 24,
          minimum: 1,
          maximum: 720,
        }),
      },
      'Approvals of deletions beyond the limits.',
      { default: {} },
    ),
    plans: PLANS,
    snapshot: optional(SNAPSHOT),
    images: IMAGES,
    policies: list(
      text('A folder or file, or builtin: the pack that comes with skep.', { minLength: 1 }),
      'ValidatingAdmissionPolicies that everything declared is checked against; never those of a source.',
      { default: [] },
    ),
    pods: object(
      {
        nodeSelector: optional(textMap('Labels of the nodes that they may run on.')),
        tolerations: list(anyObject('A toleration, as in a pod.'), 'Taints of nodes that they put up with.', {
          default: [],
        }),
        platform: choice(
          'openshift leaves user and group ids to the cluster; its rules refuse pods that name some.',
          ['kubernetes', 'openshift'],
          { default: 'kubernetes' },
        ),
      },
      'Every pod that skep makes; what a podTemplateSpec says wins.',
      { default: {} },
    ),
    outbound: object(
      {
        allowPrivate: list(text('A range in CIDR notation.'), 'Private addresses that may be connected to.', {
          default: [],
        }),
        allowFiles: bool('Allow file:/// repositories.', false),
        caFile: optional(text('PEM file of further trusted certificate authorities.')),
      },
      'Connections to Git servers, registries and identity providers.',
      { default: {} },
    ),
    git: GIT,
    history: HISTORY,
    notify: NOTIFY,
    stateDir: text('Folder for what is kept between runs; it can be rebuilt.', { default: '.skep' }),
    http: optional(HTTP),
    dev: optional(DEV),
    catalogue: optional(
      object({ database: CATALOGUE_DATABASE }, 'Where MCPRegistries without a databaseConfig are stored.'),
    ),
  },
  'Configuration of a skep instance.',
);

export const CONFIG_SCHEMA = withRules(SETTINGS, [
  {
    holds: ({ sources, scope }) => sources.length > 0 || scope === 'cluster',
    message: 'nothing is declared anywhere: name a source, or set scope to cluster to keep what others apply',
    at: '/sources',
  },
]);

export type Config = Static<typeof CONFIG_SCHEMA>;
