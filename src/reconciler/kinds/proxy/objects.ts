// Renders the objects of a proxy other than its Deployment and Services: its account, its rights, its ConfigMaps.

import { AUTHZ_FILE, type AuthzConfigFile } from '#contracts/authz-config.ts';
import { formatRunConfig, RUN_CONFIG_FILE, type RunConfig } from '#contracts/run-config.ts';
import { readAtStart } from '#contracts/run-config-keys.ts';
import { SHARD_FILE, type Shard, splitLock } from '#contracts/tool-lock/shards.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { digest } from '#std/hash.ts';
import type { JsonObject } from '#std/json.ts';
import { renderedPolicies } from '../auth/authz-settings.ts';
import { accountWithRights, configMap } from '../generated.ts';
import type { View } from '../kind.ts';
import { LABEL_DOMAIN, workloadLabels } from '../labels.ts';
import { type Mounted, mountedConfigMap } from '../pods/pod.ts';
import { collectorBundle, type ProxyFacts, type ProxyNeeds } from './proxy.ts';

/**
 * Returns the account of a proxy with its rights in the cluster. The Role and its binding are rendered even without
 * rights, because clients of ToolHive expect them.
 */
export function proxyAccount(
  proxy: ProxyFacts,
  { pullSecrets }: ProxyNeeds,
  rules: JsonObject[],
): readonly KubeObject[] {
  const { workload, name, namespace, names } = proxy;
  return accountWithRights(
    { name: names.account, namespace, labels: workloadLabels(workload, name) },
    pullSecrets,
    rules,
  );
}

export interface ProxyFiles {
  readonly objects: readonly KubeObject[];
  /** Mounts of the ConfigMaps into which a large tools lock is split. */
  readonly mounted: readonly Mounted[];
  /** Annotations with digests of files that the proxy reads only at its start. Changed files thus start new pods. */
  readonly checksums: Readonly<Record<string, string>>;
}

interface FilesOptions {
  readonly view: View;
  readonly apiGroup: string;
  readonly needs: ProxyNeeds;
  /** Names of ConfigMaps that the proxy reads only at its start, in addition to its collector's certificates. */
  readonly atStart: readonly string[];
}

/** Renders the ConfigMaps of a proxy, and their mounts and checksums. */
export function proxyFiles(proxy: ProxyFacts, config: RunConfig, options: FilesOptions): ProxyFiles {
  const { view, apiGroup, needs } = options;
  const bundle = collectorBundle(needs.telemetry);
  const atStart = [...options.atStart, ...(bundle === undefined ? [] : [bundle.configMap])];
  const authz = inlineAuthz(proxy, view, apiGroup);
  const { tools_lock: held } = config;
  const { lock, shards } = held === undefined ? { shards: [] } : splitLock(proxy.name, held);
  const runConfig = runConfigMap(proxy, { ...config, tools_lock: lock }, apiGroup);
  const parts = shards.map((shard) => lockPart(proxy, shard, apiGroup));
  return {
    objects: [runConfig, ...parts, ...(authz === undefined ? [] : [authz]), ...toolsReport(proxy, config)],
    mounted: shards.map(({ configMap: name, directory }, index) =>
      mountedConfigMap(`tools-lock-${index + 1}`, directory, { name }),
    ),
    checksums: {
      [`${apiGroup}/runconfig-checksum`]: digest(readAtStart(config)),
      ...(atStart.length === 0 ? {} : { [`${apiGroup}/mounts-checksum`]: mountedDigest(atStart, view) }),
    },
  };
}

const OWNER_LABEL = { mcpserver: 'mcp-server', mcpremoteproxy: 'mcp-remote-proxy' } as const;

function runConfigMap({ workload, name, namespace, names }: ProxyFacts, config: RunConfig, apiGroup: string) {
  const labels = {
    [`${LABEL_DOMAIN}/component`]: 'run-config',
    [`${LABEL_DOMAIN}/${OWNER_LABEL[workload]}`]: name,
    [`${LABEL_DOMAIN}/managed-by`]: 'toolhive-operator',
  };
  const data = { [RUN_CONFIG_FILE]: formatRunConfig(config) };
  return configMap(apiGroup, { name: names.runConfig, namespace, labels }, data).object;
}

function lockPart({ workload, name, namespace }: ProxyFacts, { configMap: part, text }: Shard, apiGroup: string) {
  const labels = { ...workloadLabels(workload, name), [`${LABEL_DOMAIN}/component`]: 'tools-lock' };
  return configMap(apiGroup, { name: part, namespace, labels }, { [SHARD_FILE]: text }).object;
}

/** Returns the empty ConfigMap into which the proxy writes its report. */
function toolsReport({ workload, name, namespace }: ProxyFacts, { tools_lock: lock }: RunConfig): KubeObject[] {
  if (lock?.report_to === undefined) return [];
  const labels = { ...workloadLabels(workload, name), [`${LABEL_DOMAIN}/component`]: 'tools-report' };
  return [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: lock.report_to, namespace, labels } }];
}

function inlineAuthz({ workload, name, namespace, names, spec }: ProxyFacts, view: View, apiGroup: string) {
  const rendered = renderedPolicies(spec, view);
  if (rendered === undefined) return undefined;
  const labels = { ...workloadLabels(workload, name), [`${LABEL_DOMAIN}/authz`]: 'inline' };
  const file: AuthzConfigFile = {
    version: '1.0',
    type: 'cedarv1',
    cedar: {
      policies: [...rendered.policies],
      entities_json: rendered.entitiesJson,
      primary_upstream_provider: rendered.upstreamProvider,
      ...rendered.groups,
    },
  };
  const data = { [AUTHZ_FILE]: `${JSON.stringify(file, undefined, 2)}\n` };
  return configMap(apiGroup, { name: names.inlineAuthz, namespace, labels }, data).object;
}

/** Returns a digest of the contents of these ConfigMaps. */
function mountedDigest(names: readonly string[], view: View): string {
  const contents = names.map((name) => {
    const found = view.find('ConfigMap', name);
    return { name, data: found?.data ?? null, binaryData: found?.binaryData ?? null };
  });
  return digest({ contents });
}
