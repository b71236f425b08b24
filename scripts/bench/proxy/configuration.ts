// The files that `skep proxy` is started with: everything on that a call may pass.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AuthzConfigFile } from '#contracts/authz-config.ts';
import { formatRunConfig, type RunConfig } from '#contracts/run-config.ts';
import { AUDIENCE, type ProxyIssuer } from './issuer.ts';

/** What a call is decided by; `values`: what a policy makes of an argument, which only the engine can say. */
export type Policies = 'claims' | 'arguments' | 'values';

export interface ProxyFiles {
  readonly folder: string;
  readonly name: string;
  readonly issuer: ProxyIssuer;
  readonly policies: Policies;
  /** Of the streamable HTTP server; the one on standard streams where there is none. */
  readonly backendPort: number | undefined;
  readonly port: number;
  readonly metricsPort: number;
}

const LISTS = `permit(principal, action in [Action::"list_tools", Action::"list_prompts", Action::"list_resources"], resource)
when { context.claim_groups.contains("engineering") };`;

const FORBIDDEN_CITY = `forbid(principal, action == Action::"call_tool", resource)
when { context has arg_city && context.arg_city == "nowhere" };`;

/** Three each. */
const POLICIES: Readonly<Record<Policies, readonly string[]>> = {
  claims: [
    LISTS,
    `permit(principal, action == Action::"call_tool", resource)
when { context.claim_groups.contains("engineering") };`,
    `forbid(principal, action == Action::"call_tool", resource == Tool::"large")
unless { context.claim_groups.contains("operators") };`,
  ],
  arguments: [
    LISTS,
    `permit(principal, action == Action::"call_tool", resource)
when { context.claim_groups.contains("engineering") && context has arg_days && context.arg_days <= 14 };`,
    FORBIDDEN_CITY,
  ],
  values: [
    LISTS,
    `permit(principal, action == Action::"call_tool", resource)
when { context.claim_groups.contains("engineering") && context has arg_days && context.arg_days * 24 <= 336 };`,
    FORBIDDEN_CITY,
  ],
};

/** The path of the configuration. */
export function writeProxyFiles(files: ProxyFiles): string {
  const { folder, name } = files;
  const authz: AuthzConfigFile = {
    version: '1.0',
    type: 'cedarv1',
    cedar: { policies: [...POLICIES[files.policies]], entities_json: '[]' },
  };
  const authzPath = join(folder, `${name}-authz.json`);
  writeFileSync(authzPath, JSON.stringify(authz));
  const path = join(folder, `${name}.json`);
  writeFileSync(path, formatRunConfig(runConfigOf(files, authzPath)));
  return path;
}

function runConfigOf(files: ProxyFiles, authzPath: string): RunConfig {
  const { issuer, port, metricsPort } = files;
  return {
    ...plainConfig(files),
    oidc_config: oidcOf(issuer, port),
    authz_config_path: authzPath,
    metrics: { host: '127.0.0.1', port: metricsPort },
  };
}

/** Returns a configuration with audit, and without callers, policies and metrics. */
export function plainConfig({ name, backendPort, port }: Pick<ProxyFiles, 'name' | 'backendPort' | 'port'>): RunConfig {
  return {
    schema_version: 'v0.1.0',
    name,
    namespace: 'bench',
    ...backendOf(backendPort),
    proxy_mode: 'streamable-http',
    host: '127.0.0.1',
    port,
    trust_proxy_headers: false,
    audit_config: { enabled: true, component: name },
  };
}

/** Returns the settings for tokens of the issuer, on loopback. */
export function oidcOf(issuer: ProxyIssuer, port: number): RunConfig['oidc_config'] {
  return {
    issuer: issuer.url,
    audience: AUDIENCE,
    jwks_url: issuer.jwksUrl,
    jwks_allow_private_ip: true,
    protected_resource_allow_private_ip: true,
    insecure_allow_http: true,
    resource_url: `http://127.0.0.1:${port}/mcp`,
    scopes: [],
  };
}

function backendOf(port: number | undefined): Pick<RunConfig, 'transport' | 'target_host' | 'target_port' | 'process'> {
  if (port !== undefined) return { transport: 'streamable-http', target_host: '127.0.0.1', target_port: port };
  const server = fileURLToPath(new URL('./stdio-process.ts', import.meta.url));
  return { transport: 'stdio', process: { command: [process.execPath, server] } };
}
