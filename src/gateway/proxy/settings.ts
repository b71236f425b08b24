// Builds the settings of a proxy, with all defaults, from the proxy's configuration.

import { metadataUrl } from '#auth/metadata.ts';
import type { ProviderSettings, ResourceSettings } from '#auth/settings.ts';
import type { RunConfig } from '#contracts/run-config.ts';
import { isLoopback } from '#std/address/loopback.ts';

export type Target =
  /** URL of a streamable HTTP endpoint. */
  | { readonly kind: 'http'; readonly url: string }
  /** URL of the event stream of an HTTP+SSE server (MCP 2024-11-05). */
  | { readonly kind: 'sse'; readonly url: string }
  | { readonly kind: 'stdio' };

export interface ServiceLimits {
  readonly requestBytes: number;
  readonly messageBytes: number;
  readonly concurrentCalls: number;
  readonly streams: number;
  readonly requestsPerSecond?: number;
  readonly perCaller: {
    readonly requestsPerSecond?: number;
    readonly concurrentCalls?: number;
    readonly streams?: number;
  };
}

export interface ServiceTimes {
  readonly firstByteMs: number;
  readonly idleMs: number;
  readonly keepAliveMs: number;
  readonly shutdownMs: number;
}

export function targetOf(config: RunConfig): Target {
  const { transport, remote_url: remote, target_host: host, target_port: port, mcp_path: path } = config;
  if (remote !== undefined) return transport === 'sse' ? { kind: 'sse', url: remote } : httpEndpoint(remote);
  if (transport === 'stdio') return { kind: 'stdio' };
  const origin = `http://${host}:${port}`;
  if (transport === 'sse') return { kind: 'sse', url: `${origin}${path ?? '/sse'}` };
  return { kind: 'http', url: `${origin}${path ?? MCP_PATH}` };
}

/** Path of the proxy's endpoint, and default path of the server's endpoint. */
export const MCP_PATH = '/mcp';

/** Removes the fragment, which HTTP clients never send (RFC 9110 section 4.2.5). */
function httpEndpoint(url: string): Target {
  const endpoint = new URL(url);
  endpoint.hash = '';
  return { kind: 'http', url: endpoint.href };
}

/**
 * Returns the transport that clients use; `sse` is HTTP+SSE (MCP 2024-11-05). `proxy_mode` applies to stdio servers
 * only. Other servers keep their transport.
 */
export function frontOf({ transport, proxy_mode: mode }: RunConfig): 'streamable-http' | 'sse' {
  if (transport === 'stdio') return mode;
  return transport;
}

export function limitsOf({ limits = {} }: RunConfig): ServiceLimits {
  const { per_caller: caller = {} } = limits;
  return {
    requestBytes: limits.request_bytes ?? 4 * 1024 * 1024,
    messageBytes: limits.message_bytes ?? 16 * 1024 * 1024,
    concurrentCalls: limits.concurrent_calls ?? 1024,
    streams: limits.streams ?? 12_000,
    requestsPerSecond: limits.requests_per_second,
    perCaller: {
      requestsPerSecond: caller.requests_per_second,
      concurrentCalls: caller.concurrent_calls,
      streams: caller.streams,
    },
  };
}

export function timesOf({ timeouts = {} }: RunConfig): ServiceTimes {
  return {
    firstByteMs: (timeouts.first_byte_seconds ?? 300) * 1000,
    idleMs: (timeouts.idle_seconds ?? 300) * 1000,
    keepAliveMs: (timeouts.keep_alive_seconds ?? 20) * 1000,
    shutdownMs: (timeouts.shutdown_seconds ?? 25) * 1000,
  };
}

/**
 * Returns the settings of the protected resource, or undefined if callers are not authenticated. `clientSecret` is the
 * secret of the introspection client if no file contains it. `own` is an authorization server in this process.
 */
export function resourceOf(
  config: RunConfig,
  clientSecret: string | undefined,
  own?: OwnIssuer,
): ResourceSettings | undefined {
  const { oidc_config: oidc, name } = config;
  if (oidc === undefined) return undefined;
  return {
    ...namedResource(oidc),
    providers: [
      {
        name,
        issuerUrl: oidc.issuer,
        audience: audienceOf(oidc),
        account: oidc.service_account,
        ownKeys: own?.issuer === oidc.issuer ? own.publishedKeys : undefined,
        jwksUrl: oidc.jwks_url,
        isApiServer: oidc.issuer_is_api_server,
        introspectionUrl: oidc.introspection_url,
        clientId: oidc.client_id,
        clientSecretFile: oidc.client_secret_file,
        clientSecret,
        caCertPath: oidc.ca_bundle_path,
        authTokenFile: oidc.auth_token_file,
        allowPrivateIP: oidc.jwks_allow_private_ip,
        introspectionAllowPrivateIP: oidc.protected_resource_allow_private_ip,
      },
    ],
  };
}

interface OwnIssuer {
  readonly issuer: string;
  readonly publishedKeys: NonNullable<ProviderSettings['ownKeys']>;
}

/** Settings for the challenge that lets clients log in with more scopes. */
export type NamedResource = Pick<ResourceSettings, 'realm' | 'resourceUrl' | 'scopesSupported'>;

export function namedResource(oidc: NonNullable<RunConfig['oidc_config']>): NamedResource {
  return { realm: oidc.issuer, resourceUrl: oidc.resource_url, scopesSupported: oidc.scopes };
}

/** Returns the audience that tokens must name: `audience`, or else the URL of the resource (RFC 8707 section 2). */
export function audienceOf({ audience, resource_url: resource }: NonNullable<RunConfig['oidc_config']>): string {
  return audience ?? resource;
}

/**
 * Returns the paths of the resource's metadata (RFC 9728 section 3.1), with and without the path of the resource. Each
 * path also has a form with a trailing slash, which some clients add.
 */
export function metadataPaths(settings: ResourceSettings): readonly string[] {
  const { pathname } = new URL(metadataUrl(settings.resourceUrl));
  const paths = [pathname, '/.well-known/oauth-protected-resource'].flatMap((path) => [path, `${path}/`]);
  return [...new Set(paths)];
}

/** Returns configured URLs that use plain HTTP to another machine, each with its key. */
export function insecureUrls({ oidc_config: oidc }: RunConfig): readonly string[] {
  if (oidc === undefined || oidc.insecure_allow_http) return [];
  const urls = { issuer: oidc.issuer, jwks_url: oidc.jwks_url, introspection_url: oidc.introspection_url };
  return Object.entries(urls).flatMap(([key, url]) =>
    url === undefined || isSecure(url) ? [] : [`/oidc_config/${key} is ${url}`],
  );
}

/**
 * Returns whether a URL uses https or a loopback host. Loopback traffic stays on the machine (RFC 8252 section 8.3).
 */
function isSecure(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || isLoopback(hostname);
}
