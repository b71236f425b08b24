// Renders the children of an MCPRegistry: the registry service, and the configuration and password file of this
// service. The service has no Role, because it needs no rights in the cluster.

import assert from 'node:assert/strict';
import { REGISTRY_CONFIG_KEY } from '#contracts/registry/config-map.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { digest, fnv1a32 } from '#std/hash.ts';
import { canonicalJson, type JsonObject, objectsIn } from '#std/json.ts';
import { yamlText } from '#std/yaml/package.ts';
import { configMap, imagePullSecrets, service, serviceAccount } from '../generated.ts';
import type { KindSettings, View } from '../kind.ts';
import { CONTAINER_SECURITY, httpProbe, POD_SECURITY, SCRATCH } from '../pods/pod.ts';
import { podTemplateHash, withPodTemplate } from '../pods/pod-template.ts';
import { pullSecretNames } from '../pods/pull-secrets.ts';
import { secretChecksum } from '../pods/secret-checksum.ts';
import {
  ACCOUNT_DIRECTORY,
  API_PORT,
  apiLabels,
  apiSelector,
  type EffectiveRegistry,
  METRICS_PORT,
  registryChildNames,
} from './facts.ts';
import { isSamePath, type Volumes } from './mounted-files.ts';
import {
  certificateMounts,
  certificateRefs,
  dataMounts,
  type Mounted,
  mountedSecrets,
  readCertificates,
  type Selector,
  secretMounts,
} from './mounts.ts';
import { passwordFile, passwordRefs } from './pgpass.ts';
import { serverConfig } from './server-config.ts';

const CONFIG_DIRECTORY = '/config';
const DATA_DIRECTORY = '/data';
const PGPASS = '.pgpass';
const PGPASS_FILE = `/home/appuser/${PGPASS}`;

export function children(self: EffectiveRegistry, view: View, settings: KindSettings): readonly KubeObject[] {
  const { name, namespace } = self;
  const names = registryChildNames(name);
  const labels = apiLabels(name);
  const text = configText(self, settings);
  const config = configMap(
    settings.apiGroup,
    { name: names.config, namespace, labels },
    { [REGISTRY_CONFIG_KEY]: text },
  );
  return [
    serviceAccount(
      { name: names.account, namespace, labels },
      pullSecretNames(self.spec.imagePullSecrets, settings.pullSecrets),
    ),
    config.object,
    ...passwordSecret(self, view),
    deployment(self, text, view, settings),
    service(
      { name: names.api, namespace, labels },
      { selector: apiSelector(name), port: { name: 'http', number: API_PORT } },
    ),
  ];
}

/** Returns the text of the service's `config.yaml`. */
export function configText(self: EffectiveRegistry, settings: Pick<KindSettings, 'catalogueDatabase'>): string {
  return yamlText(serverConfig(self, settings));
}

/**
 * Returns the Secret that contains the password file: the rendered Secret, or a Secret that the author or skep.yaml
 * names.
 */
function passwordSource(
  { name, spec: { databaseConfig } }: EffectiveRegistry,
  { catalogueDatabase }: Pick<KindSettings, 'catalogueDatabase'>,
): Selector | undefined {
  if (databaseConfig === undefined) return catalogueDatabase?.services?.passFileSecret;
  const { passwords } = databaseConfig;
  return 'file' in passwords ? passwords.file : { name: registryChildNames(name).pgpass, key: PGPASS };
}

function passwordSecret({ name, namespace, spec }: EffectiveRegistry, view: View): readonly KubeObject[] {
  if (spec.databaseConfig === undefined || 'file' in spec.databaseConfig.passwords) return [];
  const text = passwordFile(spec.databaseConfig, view);
  assert(text !== undefined, 'children are created only for resources whose references were found');
  const metadata = { name: registryChildNames(name).pgpass, namespace, labels: apiLabels(name) };
  const data = { [PGPASS]: Buffer.from(text, 'utf8').toString('base64') };
  return [{ apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data }];
}

/** `config`: text of the service's `config.yaml`. */
function deployment(self: EffectiveRegistry, config: string, view: View, settings: KindSettings): KubeObject {
  const { name, namespace, spec, written } = self;
  const { apiGroup } = settings;
  const { podTemplateSpec } = spec;
  const template = {
    metadata: {
      labels: apiLabels(name),
      annotations: {
        [`${apiGroup}/config-hash`]: fnv1a32(canonicalJson(written)),
        ...mountedChecksum(self, config, view, settings),
        ...secretChecksum([...mountedSecrets(spec), ...passwordRefs(self, settings)], view, settings),
      },
    },
    spec: withVolumes(pod(self, settings), spec),
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: registryChildNames(name).api,
      namespace,
      labels: apiLabels(name),
      ...podTemplateHash(podTemplateSpec),
    },
    spec: { selector: { matchLabels: apiSelector(name) }, template: withPodTemplate(template, podTemplateSpec) },
  };
}

/**
 * Returns a digest of inputs that are not in the spec: the rendered configuration, and the certificates that the
 * service reads only at its start.
 */
function mountedChecksum(self: EffectiveRegistry, config: string, view: View, settings: KindSettings): JsonObject {
  const certificates = readCertificates(self, settings).map(({ name }) => ({
    name,
    data: view.find('ConfigMap', name)?.data,
  }));
  return { [`${settings.apiGroup}/mounts-checksum`]: digest({ config, certificates }) };
}

/** Returns the pod without volumes of the author and without the pod template. */
export function podWithoutVolumes(self: EffectiveRegistry): JsonObject {
  return pod(self, { images: { registry: '' }, pullSecrets: [] });
}

function withVolumes(made: JsonObject, { volumes = [], volumeMounts = [] }: Volumes): JsonObject {
  const [container, ...others] = objectsIn(made.containers);
  return {
    ...made,
    containers: [{ ...container, volumeMounts: [...objectsIn(container?.volumeMounts), ...volumeMounts] }, ...others],
    volumes: [...objectsIn(made.volumes), ...volumes],
  };
}

/** Mounts an empty folder for data, as ToolHive does, unless the author mounts a volume at the path. */
function scratchData({ volumeMounts = [] }: Volumes): readonly Mounted[] {
  if (volumeMounts.some(({ mountPath }) => isSamePath(String(mountPath), DATA_DIRECTORY))) return [];
  const name = 'storage-data';
  return [{ volume: { name, emptyDir: {} }, mount: { name, mountPath: DATA_DIRECTORY } }];
}

function pod(
  self: EffectiveRegistry,
  settings: Pick<KindSettings, 'catalogueDatabase' | 'pullSecrets'> & {
    readonly images: Pick<KindSettings['images'], 'registry'>;
  },
): JsonObject {
  const { name, spec } = self;
  const names = registryChildNames(name);
  const file = passwordSource(self, settings);
  const password = file && passwordParts(file, settings.images.registry);
  const mounts: readonly Mounted[] = [
    {
      volume: { name: 'registry-server-config', configMap: { name: names.config } },
      mount: { name: 'registry-server-config', mountPath: CONFIG_DIRECTORY, readOnly: true },
    },
    ...dataMounts(spec),
    ...scratchData(spec),
    ...secretMounts(spec),
    ...certificateMounts(certificateRefs(self, settings)),
    SCRATCH,
  ];
  return {
    serviceAccountName: names.account,
    automountServiceAccountToken: needsToken(self),
    securityContext: POD_SECURITY,
    ...imagePullSecrets(pullSecretNames(self.spec.imagePullSecrets, settings.pullSecrets)),
    initContainers: password && [password.initContainer],
    containers: [
      {
        name: 'registry-api',
        image: settings.images.registry,
        args: ['serve', `--config=${CONFIG_DIRECTORY}/${REGISTRY_CONFIG_KEY}`],
        ports: [
          { name: 'http', containerPort: API_PORT, protocol: 'TCP' },
          { name: 'metrics', containerPort: METRICS_PORT, protocol: 'TCP' },
        ],
        env: password && [{ name: 'PGPASSFILE', value: PGPASS_FILE }],
        resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '500m', memory: '512Mi' } },
        livenessProbe: httpProbe('/health', 'http', { initialDelaySeconds: 30, periodSeconds: 10 }),
        readinessProbe: httpProbe('/readiness', 'http', { initialDelaySeconds: 5, periodSeconds: 5 }),
        securityContext: CONTAINER_SECURITY,
        volumeMounts: [
          ...mounts.map(({ mount }) => ({ ...mount })),
          ...(password === undefined ? [] : [password.mount]),
        ],
      },
    ],
    volumes: [...mounts.map(({ volume }) => ({ ...volume })), ...(password?.volumes ?? [])],
  };
}

/** Returns true if a provider reads files of the pod's service account. Only then does the pod get a token. */
function needsToken({ spec }: EffectiveRegistry): boolean {
  const providers = spec.authConfig?.oauth?.providers ?? [];
  return providers.some(({ caCertPath, authTokenFile }) =>
    [caCertPath, authTokenFile].some((path) => path?.startsWith(ACCOUNT_DIRECTORY) === true),
  );
}

/**
 * Returns an init container that copies the password file, because PostgreSQL's clients refuse a file that other users
 * can read. A mounted Secret belongs to root: with mode 0600 the service, which is not root, cannot read it. With an
 * fsGroup its mode is 0640, which the clients refuse. The registry's own image makes the copy, because it runs as the
 * service's user, is pulled anyway, and has Node.js.
 */
function passwordParts({ name: secretName, key }: Selector, image: string) {
  const script = `const fs = require('node:fs'); fs.copyFileSync('/secret/${PGPASS}', '/pgpass/${PGPASS}'); fs.chmodSync('/pgpass/${PGPASS}', 0o600);`;
  return {
    initContainer: {
      name: 'setup-pgpass',
      image,
      command: ['node', '-e', script],
      resources: { requests: { cpu: '10m', memory: '64Mi' }, limits: { cpu: '50m', memory: '128Mi' } },
      securityContext: CONTAINER_SECURITY,
      volumeMounts: [
        { name: 'pgpass-secret', mountPath: '/secret', readOnly: true },
        { name: 'pgpass', mountPath: '/pgpass' },
      ],
    },
    mount: { name: 'pgpass', mountPath: PGPASS_FILE, subPath: PGPASS, readOnly: true },
    volumes: [
      { name: 'pgpass-secret', secret: { secretName, items: key === PGPASS ? undefined : [{ key, path: PGPASS }] } },
      { name: 'pgpass', emptyDir: {} },
    ],
  };
}
