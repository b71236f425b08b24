// The one table of the chart: what of manifests its templates are, on what condition, and which places in them are values.
// Whatever is not named here is in the chart as it is in manifests.

import type { JsonObject } from '#std/json.ts';

/** What stands at a place instead of what manifests have there. */
export type Expression =
  | { readonly form: 'value'; readonly path: string }
  /** repository:tag; the tag is that of the chart unless said. */
  | { readonly form: 'image' }
  /** The namespace of the release, or the one of `namespaces` that the template is repeated for. */
  | { readonly form: 'namespace' }
  | { readonly form: 'release-namespace' }
  /** `prefix`, and a digest of a value: other content is another ConfigMap, and starts other pods. */
  | { readonly form: 'digest'; readonly prefix: string; readonly path: string }
  | { readonly form: 'literal'; readonly value: JsonObject };

export interface Place {
  /** Kind/name; either may be `*`. */
  readonly object: string;
  /** A JSON pointer; an item of a list goes by its name. */
  readonly pointer: string;
  readonly expression: Expression;
  /** Manifests have nothing there; neither has the chart while the value is empty. */
  readonly isAdded?: true;
}

export interface Condition {
  readonly path: string;
  readonly is: boolean | string;
}

export interface Part {
  /** Folder of templates. */
  readonly name: string;
  readonly resources: readonly string[];
  readonly components?: readonly string[];
  readonly when?: Condition;
  /** Other components for another value: what differs is there on condition. */
  readonly otherwise?: { readonly when: Condition; readonly components: readonly string[] };
  /** Once for each of a list of namespaces. */
  readonly each?: string;
}

const CRON_JOB: Condition = { path: 'cronJob.enabled', is: true };

export const PARTS: readonly Part[] = [
  { name: 'crds', resources: ['crds'], when: { path: 'crds.enabled', is: true } },
  {
    name: 'reconciler',
    resources: ['install/reconciler'],
    otherwise: { when: CRON_JOB, components: ['install/cronjob'] },
  },
  { name: 'rights', resources: ['install/rights'], when: { path: 'scope', is: 'cluster' } },
  { name: 'rights-home', resources: ['install/rights/home'], when: { path: 'scope', is: 'namespaced' } },
  { name: 'rights-namespaces', resources: ['install/one-namespace'], each: 'namespaces' },
  { name: 'registry', resources: ['install/registry'], when: { path: 'registry.enabled', is: true } },
  {
    name: 'observability',
    resources: [],
    components: ['observability'],
    when: { path: 'observability.enabled', is: true },
  },
];

/** docs/alerts.md: nothing is counted where `skep sync` runs as a CronJob. */
export const CONDITIONS: readonly { readonly object: string; readonly when: Condition }[] = [
  { object: 'PodMonitor/skep-reconciler', when: { ...CRON_JOB, is: false } },
  { object: 'PrometheusRule/skep-reconciler', when: { ...CRON_JOB, is: false } },
];

const value = (path: string): Expression => ({ form: 'value', path });

/** Containers, `resources` of the last one, and Secrets of a pod's volumes by the value that names them. */
function placesOfPod(
  object: string,
  spec: string,
  containers: readonly string[],
  own: { readonly values: string; readonly config: string; readonly secrets: readonly string[] },
): readonly Place[] {
  const configPath = `${own.values}config`;
  return [
    ...containers.flatMap((container): Place[] => [
      { object, pointer: `${spec}/${container}/image`, expression: { form: 'image' } },
      { object, pointer: `${spec}/${container}/imagePullPolicy`, expression: value('image.pullPolicy'), isAdded: true },
    ]),
    { object, pointer: `${spec}/containers/skep/resources`, expression: value(`${own.values}resources`) },
    {
      object,
      pointer: `${spec}/volumes/config/configMap/name`,
      expression: { form: 'digest', prefix: own.config, path: configPath },
    },
    ...own.secrets.map((name) => ({
      object,
      pointer: `${spec}/volumes/${name}/secret/secretName`,
      expression: value(`${own.values}secrets.${name}`),
    })),
  ];
}

function placesOfConfig(name: string, file: string, path: string): readonly Place[] {
  const object = `ConfigMap/${name}`;
  return [
    { object, pointer: '/metadata/name', expression: { form: 'digest', prefix: name, path } },
    { object, pointer: `/data/${file}`, expression: value(path) },
  ];
}

const RECONCILER = { values: '', config: 'skep-config' };
const REGISTRY = { values: 'registry.', config: 'skep-registry-config', secrets: ['database', 'migrator', 'git'] };

export const PLACES: readonly Place[] = [
  { object: '*/*', pointer: '/metadata/namespace', expression: { form: 'namespace' } },
  { object: '*/*', pointer: '/subjects/0/namespace', expression: { form: 'release-namespace' } },
  {
    object: 'CustomResourceDefinition/*',
    pointer: '/metadata/annotations',
    expression: { form: 'literal', value: { 'helm.sh/resource-policy': 'keep' } },
    isAdded: true,
  },
  {
    object: 'ServiceAccount/skep',
    pointer: '/metadata/annotations',
    expression: value('serviceAccount.annotations'),
    isAdded: true,
  },
  ...placesOfConfig('skep-config', 'skep.yaml', 'config'),
  ...placesOfPod('Deployment/skep', '/spec/template/spec', ['containers/skep'], {
    ...RECONCILER,
    secrets: ['git', 'http', 'age', 'database'],
  }),
  { object: 'CronJob/skep', pointer: '/spec/schedule', expression: value('cronJob.schedule') },
  ...placesOfPod('CronJob/skep', '/spec/jobTemplate/spec/template/spec', ['containers/skep'], {
    ...RECONCILER,
    secrets: ['git', 'age', 'database'],
  }),
  ...placesOfConfig('skep-registry-config', 'registry.yaml', 'registry.config'),
  ...placesOfPod(
    'Deployment/skep-registry',
    '/spec/template/spec',
    ['initContainers/migrate', 'containers/skep'],
    REGISTRY,
  ),
];
