// Lists all codes of problems and Failures by area, with meaning and remedy. Each table is in the module whose code
// throws the Failures.

import { ATTACH_CODES } from '#adapters/attach/codes.ts';
import { CLUSTER_CODES } from '#adapters/cluster/codes.ts';
import { GIT_CODES } from '#adapters/git/codes.ts';
import { OUTBOUND_CODES } from '#adapters/http/codes.ts';
import { KUSTOMIZE_CODES } from '#adapters/kustomize/codes.ts';
import { NOTIFY_CODES } from '#adapters/notify/codes.ts';
import { OCI_CODES } from '#adapters/oci/codes.ts';
import { DATABASE_CODES } from '#adapters/postgres/codes.ts';
import { PROCESS_CODES } from '#adapters/process/codes.ts';
import { REDIS_CODES } from '#adapters/redis/codes.ts';
import { SOURCE_CODES } from '#adapters/sources/codes.ts';
import { TELEMETRY_CODES } from '#adapters/telemetry/codes.ts';
import { AUTH_CODES } from '#auth/codes.ts';
import { CONTRACT_CODES } from '#contracts/codes.ts';
import { VIRTUAL_CODES } from '#contracts/virtual-model/codes.ts';
import { SSE_CODES } from '#gateway/backends/sse/codes.ts';
import { STDIO_CODES } from '#gateway/backends/stdio/codes.ts';
import { CREDENTIAL_CODES } from '#gateway/credentials/codes.ts';
import { GATE_CODES } from '#gateway/gate/codes.ts';
import { ISSUER_CODES } from '#gateway/issuer/codes.ts';
import { PROXY_CODES } from '#gateway/proxy/codes.ts';
import { VMCP_CODES } from '#gateway/virtual-server/codes.ts';
import { MAIN_CODES } from '#hosts/codes.ts';
import { DEVCLUSTER_CODES } from '#kubernetes/devcluster/codes.ts';
import { POLICY_CODES } from '#kubernetes/rules/policy/codes.ts';
import { STRATEGIC_CODES } from '#kubernetes/rules/strategic-codes.ts';
import { SCHEMA_CODES } from '#kubernetes/rules/structural/codes.ts';
import { CONTROL_CODES } from '#reconciler/control/codes.ts';
import { KINDS_CODES } from '#reconciler/kinds/codes.ts';
import { RECONCILE_CODES } from '#reconciler/run/codes.ts';
import { CATALOGUE_CODES } from '#registry/catalogue/codes.ts';
import { REGISTRY_CODES } from '#registry/service/codes.ts';
import { SOPS_CODES } from '#std/sops/codes.ts';
import { YAML_CODES } from '#std/yaml/codes.ts';
import { CALL_CODES } from './call/codes.ts';
import { LOCK_CODES } from './lock/codes.ts';
import { MCP_CODES } from './mcp/codes.ts';

export const AREAS: readonly { readonly title: string; readonly codes: Readonly<Record<string, string>> }[] = [
  { title: 'Reading YAML and JSON', codes: YAML_CODES },
  { title: 'Documents encrypted with SOPS', codes: SOPS_CODES },
  { title: 'Schemas of custom resources', codes: SCHEMA_CODES },
  { title: 'Policies', codes: POLICY_CODES },
  { title: 'Rules of the kinds', codes: KINDS_CODES },
  { title: 'Workflows of virtual MCP servers', codes: VIRTUAL_CODES },
  { title: 'The run', codes: RECONCILE_CODES },
  { title: 'Building kustomizations', codes: KUSTOMIZE_CODES },
  { title: 'Git', codes: GIT_CODES },
  { title: 'The cluster', codes: CLUSTER_CODES },
  { title: 'Outbound connections', codes: OUTBOUND_CODES },
  { title: 'Notifications', codes: NOTIFY_CODES },
  { title: 'Registries of images', codes: OCI_CODES },
  { title: 'Registry sources', codes: { ...SOURCE_CODES, ...CATALOGUE_CODES } },
  { title: 'The database', codes: DATABASE_CODES },
  { title: 'Configuration of the registry service', codes: CONTRACT_CODES },
  { title: 'The registry service', codes: REGISTRY_CODES },
  { title: 'Tokens', codes: AUTH_CODES },
  { title: 'The proxy', codes: { ...PROXY_CODES, ...TELEMETRY_CODES } },
  { title: 'The authorization server', codes: ISSUER_CODES },
  { title: 'Virtual MCP servers', codes: VMCP_CODES },
  { title: 'Checks of a call', codes: GATE_CODES },
  { title: 'Rights at the MCP server', codes: CREDENTIAL_CODES },
  {
    title: 'MCP servers behind a proxy',
    codes: { ...STDIO_CODES, ...SSE_CODES, ...PROCESS_CODES, ...ATTACH_CODES, ...REDIS_CODES },
  },
  { title: "The reconciler's own listener", codes: CONTROL_CODES },
  { title: 'The command line', codes: { ...MAIN_CODES, ...CALL_CODES, ...LOCK_CODES, ...MCP_CODES } },
  { title: 'Strategic merge', codes: STRATEGIC_CODES },
  { title: 'The embedded cluster', codes: DEVCLUSTER_CODES },
];

const MEANINGS: ReadonlyMap<string, string> = new Map(AREAS.flatMap(({ codes }) => Object.entries(codes)));

/** Returns meaning and remedy; an empty text for an unknown code. */
export function meaningOf(code: string): string {
  return MEANINGS.get(code) ?? '';
}
