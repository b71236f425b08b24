// Defines the schema of skep.yaml, with the schemas in the files that this file imports.

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
  return object(
    { name: text('Name of the object.', { minLength: 1 }), key: text('Key in its data.', { default: key }) },
    description,
  );
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
    passFile: optional(text('Password file (pgpass format); default: PGPASSFILE.')),
    caFile: optional(text('PEM file of the certificate authority; default: PGSSLROOTCERT.')),
    services: optional(
      object(
        {
          passFileSecret: optional(objectKey('Secret with a password file (pgpass format) for user.', '.pgpass')),
          caConfigMap: optional(objectKey('ConfigMap with the certificates that verify the server.', 'ca.crt')),
        },
        'Password and certificates for the services of MCPRegistries without a databaseConfig: objects in the namespace of each.',
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
      message: `a name that ends in ${ADDED_TO_NAMES.map((word) => `-${word}`).join(', ')} is reserved for the objects that an instance with the shorter name stores`,
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
    jitterSeconds: integer('Longest random delay of a run, in seconds.', { default: 5, minimum: 0 }),
    windows: WINDOWS,
    namespaces: list(text('A name, or a glob such as team-*.'), 'Namespaces this instance may touch.', {
      default: ['*'],
    }),
    scope: choice(
      'git: only objects that the sources declare; cluster: also children and status of custom resources that other managers apply; each change of these wakes a run, which reads everything.',
      ['git', 'cluster'],
      { default: 'git' },
    ),
    children: bool(
      'Create the children of the custom resources, and write their status; false: another operator does both.',
      true,
    ),
    cluster: object(
      {
        kubeconfig: optional(
          text('Path of a kubeconfig; default: KUBECONFIG, ~/.kube/config, or the account of the pod.'),
        ),
        context: optional(text('Context of the kubeconfig; default: its current one.')),
        concurrency: integer('Limit of requests in flight.', { default: 16, minimum: 1, maximum: 256 }),
        timeoutSeconds: integer(
          'Time after which `skep status`, `skep plan --against` and other commands that only read, or only write a record, name the servers that did not respond. A large repository that --against has to clone first needs more.',
          { default: 10, minimum: 1, maximum: 600 },
        ),
      },
      'The cluster that skep reconciles.',
      { default: {} },
    ),
    apply: object(
      {
        prune: bool('Delete objects of this instance that are no longer declared.', true),
        maxDeletes: integer(
          'Deletions of one source in a run that need no approval. If a run has more, all wait; 0: all wait.',
          {
            default: 20,
            minimum: 0,
          },
        ),
        maxDeletesPercent: integer(
          'The same limit as a share of the objects of the source, and of each of its kinds. A single deletion is exempt.',
          {
            default: 25,
            minimum: 0,
            maximum: 100,
          },
        ),
        deadlineSeconds: integer(
          'A run that takes longer begins no further change, and soon after no further request; it reports the changes that were not begun, and the next run continues there. The time does not include the time that `skep sync` waits for readiness. `skep plan` ends in the same time. Both commands wait for a silent source for at most half of the time, and no longer than two minutes.',
          { default: 600, minimum: 1, maximum: 86_400 },
        ),
        waitSeconds: integer('Time that `skep sync` waits for readiness.', { default: 300, minimum: 0 }),
        conflicts: choice('Declared fields that another manager changed: force or only report.', ['force', 'report'], {
          default: 'force',
        }),
      },
      'Settings for changes.',
      { default: {} },
    ),
    approval: object(
      {
        expiresHours: integer('How long an approval of `skep approve` is valid.', {
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
      text('A folder or file, or builtin: the pack that is bundled with skep.', { minLength: 1 }),
      'ValidatingAdmissionPolicies that check all declared objects; never policies of a source.',
      { default: [] },
    ),
    pods: object(
      {
        nodeSelector: optional(textMap('Labels of the nodes that they may run on.')),
        tolerations: list(anyObject('A toleration, as in a pod.'), 'Taints of nodes that they tolerate.', {
          default: [],
        }),
        platform: choice(
          'openshift: the cluster chooses user and group ids, because OpenShift refuses pods that set them.',
          ['kubernetes', 'openshift'],
          { default: 'kubernetes' },
        ),
      },
      'Settings for every pod that skep creates; a podTemplateSpec takes precedence.',
      { default: {} },
    ),
    outbound: object(
      {
        allowPrivate: list(text('A range in CIDR notation.'), 'Private addresses to which connections are allowed.', {
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
    stateDir: text('Folder for state that is kept between runs; it can be rebuilt.', { default: '.skep' }),
    http: optional(HTTP),
    dev: optional(DEV),
    catalogue: optional(object({ database: CATALOGUE_DATABASE }, 'Store of MCPRegistries without a databaseConfig.')),
  },
  'Configuration of a skep instance.',
);

export const CONFIG_SCHEMA = withRules(SETTINGS, [
  {
    holds: ({ sources, scope }) => sources.length > 0 || scope === 'cluster',
    message:
      'there is no source: name one, or set scope to cluster to reconcile custom resources that other managers apply',
    at: '/sources',
  },
]);

export type Config = Static<typeof CONFIG_SCHEMA>;
