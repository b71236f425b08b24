// Lists the servers that run on this machine, including virtual servers, from their Deployments, configurations and
// Services.

import { type ImageProvenance, readProvenance } from '#contracts/registry/image-provenance.ts';
import { RUN_CONFIG_FILE } from '#contracts/run-config.ts';
import { readRunConfig } from '#contracts/run-config-read.ts';
import { readVmcpConfig, VMCP_CONFIG_FILE } from '#contracts/vmcp-config.ts';
import { frontOf } from '#gateway/proxy/settings.ts';
import type { ClusterNode } from '#kubernetes/devcluster/node/node.ts';
import { asPod, type PodSpec } from '#kubernetes/devcluster/node/objects.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import type { ApiResource, Cluster } from '#reconciler/run/ports.ts';
import { driftText } from '#reconciler/run/settle/readiness.ts';
import { isObject, objectsIn } from '#std/json.ts';
import type { FrontServer } from './front/front.ts';

export interface RunningOptions {
  readonly cluster: Pick<Cluster, 'list'>;
  readonly node: Pick<ClusterNode, 'whyAbsent' | 'services'>;
  /** Returns milliseconds of a monotonic clock. */
  now(): number;
}

/** Maximum age of a list that is returned again. */
const KEPT_MS = 500;

/** Returns a function that lists the servers. The list is at most `KEPT_MS` old. */
export function watchRunning(options: RunningOptions): () => Promise<readonly FrontServer[]> {
  let found: Promise<readonly FrontServer[]> | undefined;
  let since = 0;
  return () => {
    if (found !== undefined && options.now() - since < KEPT_MS) return found;
    since = options.now();
    found = findRunning(options).catch((error: unknown) => {
      found = undefined;
      throw error;
    });
    return found;
  };
}

function resource(apiVersion: string, kind: string, plural: string): ApiResource {
  return { apiVersion, kind, plural, namespaced: true, verbs: ['list'] };
}

const DEPLOYMENTS = resource('apps/v1', 'Deployment', 'deployments');
const STATEFUL_SETS = resource('apps/v1', 'StatefulSet', 'statefulsets');
const CONFIG_MAPS = resource('v1', 'ConfigMap', 'configmaps');
const SERVICES = resource('v1', 'Service', 'services');

async function findRunning(options: RunningOptions): Promise<readonly FrontServer[]> {
  const [deployments, configMaps, services, statefulSets] = await Promise.all(
    [DEPLOYMENTS, CONFIG_MAPS, SERVICES, STATEFUL_SETS].map((kind) => options.cluster.list(kind)),
  );
  const drifts = await readDrifts(options, deployments ?? []);
  const found = (deployments ?? []).map(async (deployment) => {
    const spec = podSpecOf(deployment);
    if (spec === undefined || (await options.node.whyAbsent(deployment)) !== undefined) return [];
    const server = describe(spec, deployment, configMaps ?? []);
    const service = (services ?? []).find((each) => leadsTo(each, deployment));
    if (server === undefined || service === undefined) return [];
    const drift = drifts.get(controllerOf(deployment) ?? '');
    const backends = backendsOf(deployment, statefulSets ?? []);
    const provenance = backendProvenance(server, backends);
    const known = { ...(drift === undefined ? {} : { drift }), ...(provenance.length === 0 ? {} : { provenance }) };
    const running = { ...(await frontServer(options, server, service)), ...known };
    const notRunHere = await whyBackendAbsent(options, backends);
    return notRunHere === undefined ? [running] : [{ ...running, ready: false, notRunHere }];
  });
  return (await Promise.all(found)).flat();
}

/** Returns a text for each server whose definitions differ from the reviewed definitions, by the server's uid. */
async function readDrifts(
  { cluster }: RunningOptions,
  deployments: readonly KubeObject[],
): Promise<ReadonlyMap<string, string>> {
  const owners = deployments.flatMap(({ metadata }) => metadata.ownerReferences ?? []);
  const resources = KINDS.flatMap(({ kind, plural }) => {
    const owner = owners.find((each) => each.kind === kind);
    return owner === undefined ? [] : [resource(owner.apiVersion, kind, plural)];
  });
  const lists = await Promise.all(resources.map((each) => cluster.list(each)));
  return new Map(
    lists.flatMap((objects) =>
      (objects ?? []).flatMap(({ metadata, status }): readonly [string, string][] => {
        const drift = isObject(status) ? driftText(status) : undefined;
        return drift === undefined || metadata.uid === undefined ? [] : [[metadata.uid, drift]];
      }),
    ),
  );
}

/** Returns the StatefulSets of the MCP server behind a proxy. */
function backendsOf(proxy: KubeObject, statefulSets: readonly KubeObject[]): readonly KubeObject[] {
  const owner = controllerOf(proxy);
  return statefulSets.filter((each) => owner !== undefined && controllerOf(each) === owner);
}

function backendProvenance({ image }: Described, backends: readonly KubeObject[]): readonly ImageProvenance[] {
  return image === undefined ? [] : backends.flatMap(({ metadata }) => readProvenance(metadata.annotations, image));
}

/** Returns the reason why the MCP server behind a proxy does not run on this machine; undefined if it runs. */
async function whyBackendAbsent(
  { node }: RunningOptions,
  backends: readonly KubeObject[],
): Promise<string | undefined> {
  const reasons = await Promise.all(backends.map((each) => node.whyAbsent(each)));
  return reasons.find((reason) => reason !== undefined && reason !== '');
}

function podSpecOf({ spec }: KubeObject): PodSpec | undefined {
  const template = isObject(spec) ? spec.template : undefined;
  return isObject(template) && isObject(template.spec) ? asPod(template).spec : undefined;
}

type Described = Omit<FrontServer, 'ready' | 'port'>;

/** Returns undefined if the Deployment is not a proxy or virtual server, or if its configuration cannot be read. */
function describe(spec: PodSpec, { metadata }: KubeObject, configMaps: readonly KubeObject[]): Described | undefined {
  const names = (spec.volumes ?? []).flatMap(({ configMap }) => configMap?.name ?? []);
  const mounted = configMaps.filter(
    (each) =>
      each.metadata.namespace === metadata.namespace &&
      names.includes(each.metadata.name) &&
      controllerOf(each) === controllerOf({ metadata }),
  );
  const textOf = (file: string) =>
    mounted.map(({ data }) => (isObject(data) ? data[file] : undefined)).find((text) => typeof text === 'string');
  switch (spec.containers[0]?.args?.[0]) {
    case 'proxy':
      return describeProxy(textOf(RUN_CONFIG_FILE) ?? '');
    case 'vmcp':
      return describeVirtual(textOf(VMCP_CONFIG_FILE) ?? '', metadata.namespace ?? '');
    default:
      return undefined;
  }
}

function controllerOf({ metadata }: Pick<KubeObject, 'metadata'>): string | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
}

function describeProxy(text: string): Described | undefined {
  const read = readRunConfig(text);
  if (!('config' in read)) return undefined;
  const { config } = read;
  const { namespace, name, image, cmd_args: args, remote_url: remoteUrl } = config;
  const auth = config.oidc_config === undefined ? 'token' : 'oidc';
  const issues = config.embedded_auth_server_config !== undefined;
  return { namespace, name, transport: frontOf(config), auth, issues, image, args, remoteUrl };
}

function describeVirtual(text: string, namespace: string): Described | undefined {
  const read = readVmcpConfig(text);
  if ('fault' in read) return undefined;
  const { name, incomingAuth, authServer } = read.config;
  const auth = incomingAuth.oidc === undefined ? 'token' : 'oidc';
  return { namespace, name, transport: 'streamable-http', auth, issues: authServer !== undefined };
}

function leadsTo({ metadata, spec }: KubeObject, deployment: KubeObject): boolean {
  const selector = isObject(spec) && isObject(spec.selector) ? Object.entries(spec.selector) : [];
  const template = isObject(deployment.spec) ? deployment.spec.template : undefined;
  const labels = isObject(template) && isObject(template.metadata) ? template.metadata.labels : undefined;
  const fits = isObject(labels) && selector.every(([key, value]) => labels[key] === value);
  return metadata.namespace === deployment.metadata.namespace && selector.length > 0 && fits;
}

async function frontServer(
  { node }: RunningOptions,
  server: Described,
  { metadata, spec }: KubeObject,
): Promise<FrontServer> {
  const [first] = objectsIn(isObject(spec) ? spec.ports : []);
  const place = [server.namespace, metadata.name, Number(first?.port)] as const;
  // Asks the node, because the status of the Deployment may be outdated.
  return { ...server, ready: await node.services.answers(...place), port: await node.services.port(...place) };
}
