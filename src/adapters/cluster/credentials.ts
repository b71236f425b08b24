// Reads the API server's address and credentials from a kubeconfig or from inside a pod. Uses only `KubeConfig` of the
// official client.

import { readFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import type { ConnectionOptions } from 'node:tls';
import type { KubeConfig } from '@kubernetes/client-node';
import type { Clock } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';
import { digest } from '#std/hash.ts';
import { displayUrl } from '../http/failures.ts';
import type { ClusterCode } from './codes.ts';

type Tls = Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'pfx' | 'passphrase' | 'rejectUnauthorized' | 'servername'>;

export interface ClusterCredentials {
  /** `authorization` and impersonation headers. Never shown. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: Tls;
  /** URL of an HTTP proxy for CONNECT. */
  readonly proxy?: string;
  /** Digest of `headers`, `tls` and `proxy`. */
  readonly fingerprint: string;
  /** Digest of `tls` and `proxy`, whose change requires new connections. A new token does not. */
  readonly connection: string;
}

export interface CredentialSource {
  /** URL of the API server, possibly with a path, without a trailing slash. */
  readonly server: string;
  /** Scheme, host and port of `server`. */
  readonly origin: string;
  /** Namespace of the context or of the pod. Defaults to `default`. */
  readonly namespace: string;
  /** Returns credentials that are at most half a minute old: tokens in files rotate, tokens of commands expire. */
  current(): Promise<ClusterCredentials>;
  /** Reads everything again, including commands, after the server rejected `rejected` with 401. */
  renew(rejected: ClusterCredentials): Promise<ClusterCredentials>;
}

export interface CredentialOptions {
  /** Path. Default as for kubectl: $KUBECONFIG, ~/.kube/config, or the pod's service account. */
  readonly kubeconfig?: string;
  readonly context?: string;
  /** Value of $KUBECONFIG, for messages. */
  readonly usual?: string;
  readonly clock: Clock;
}

const FRESH_MS = 30_000;

/** Throws Failure `cluster-config-invalid`. */
export async function openCredentials(options: CredentialOptions): Promise<CredentialSource> {
  const { clock } = options;
  let config = await loadConfig(options);
  const named = serverAndNamespace(config, options);
  let read: { readonly at: number; readonly credentials: Promise<ClusterCredentials> } | undefined;
  let renewing: Promise<ClusterCredentials> | undefined;

  function current(): Promise<ClusterCredentials> {
    if (read === undefined || clock.monotonic() - read.at > FRESH_MS) {
      read = { at: clock.monotonic(), credentials: readCredentials(config) };
      read.credentials.catch(() => {
        read = undefined;
      });
    }
    return read.credentials;
  }

  async function reload(): Promise<ClusterCredentials> {
    config = await loadConfig(options);
    read = undefined;
    return current();
  }

  /** Renews the credentials. Requests that are rejected at the same time share one renewal. */
  async function renew(rejected: ClusterCredentials): Promise<ClusterCredentials> {
    const latest = await current();
    if (latest.fingerprint !== rejected.fingerprint) return latest;
    renewing ??= reload().finally(() => {
      renewing = undefined;
    });
    return renewing;
  }

  return { ...named, current, renew };
}

async function loadConfig({ kubeconfig, context, usual = '' }: CredentialOptions): Promise<KubeConfig> {
  // Imports only this file: the whole package has 90 MB and takes a third of a second to load. scripts/bundle.ts
  // bundles the file.
  const { KubeConfig } = await import('@kubernetes/client-node/dist/config.js');
  const config = new KubeConfig();
  try {
    if (kubeconfig === undefined) config.loadFromDefault();
    else loadFile(config, kubeconfig);
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    if (kubeconfig !== undefined)
      throw invalidKubeconfig(`${kubeconfig} is not a kubeconfig: ${firstLineOf(cause)}`, { kubeconfig }, cause);
    const where = usual === '' ? '~/.kube/config' : `$KUBECONFIG (${usual})`;
    throw invalidKubeconfig(
      `${where} cannot be read, or is not a kubeconfig: ${firstLineOf(cause)}`,
      { kubeconfig: where },
      cause,
    );
  }
  if (context !== undefined) config.setCurrentContext(context);
  return config;
}

/** Returns only the first line, because the YAML parser appends lines of the file, which may contain tokens. */
function firstLineOf(cause: unknown): string {
  const [line = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n');
  return line.replace(/:$/, '');
}

function loadFile(config: KubeConfig, file: string): void {
  try {
    readFileSync(file);
  } catch (cause) {
    throw invalidKubeconfig(`kubeconfig ${file} cannot be read`, { kubeconfig: file }, cause);
  }
  config.loadFromFile(file);
}

/** Name of the official client's context if it found neither a kubeconfig nor a pod's service account. */
const NOTHING_FOUND = 'loaded-context';

function serverAndNamespace(
  config: KubeConfig,
  options: CredentialOptions,
): Pick<CredentialSource, 'server' | 'origin' | 'namespace'> {
  const name = config.getCurrentContext();
  if (options.kubeconfig === undefined && name === NOTHING_FOUND) {
    throw invalidKubeconfig(
      'no kubeconfig was found, and this is not a pod: name one with --kubeconfig or $KUBECONFIG',
      {},
    );
  }
  const context = config.getContextObject(name);
  if (context === null)
    throw invalidKubeconfig(`the kubeconfig has no context "${name ?? ''}"`, { context: name ?? '' });
  const cluster = config.getCurrentCluster();
  if (cluster === null)
    throw invalidKubeconfig(`the kubeconfig has no cluster "${context.cluster}"`, { cluster: context.cluster });
  if (config.getCurrentUser() === null)
    throw invalidKubeconfig(`the kubeconfig has no user "${context.user}"`, { user: context.user });
  const url = URL.parse(cluster.server);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw invalidKubeconfig(`cluster "${cluster.name}" of the kubeconfig has no http or https server`, {
      cluster: cluster.name,
    });
  }
  if (url.protocol === 'http:' && cluster.skipTLSVerify !== true) {
    const shown = displayUrl(url);
    throw invalidKubeconfig(`${shown} is not TLS: the kubeconfig must say insecure-skip-tls-verify to accept that`, {
      url: shown,
    });
  }
  const server = `${url.origin}${url.pathname}`;
  return {
    server: server.endsWith('/') ? server.slice(0, -1) : server,
    origin: url.origin,
    namespace: context.namespace?.trim() || 'default',
  };
}

async function readCredentials(config: KubeConfig): Promise<ClusterCredentials> {
  const { proxyUrl } = config.getCurrentCluster() ?? {};
  // Read before `applyToHTTPSOptions`, which would create an unused agent for the proxy.
  const proxy = proxyUrl ? { proxy: checkedProxy(proxyUrl) } : {};
  const options: RequestOptions & { servername?: string } = { headers: {} };
  try {
    await config.applyToHTTPSOptions(options);
  } catch (cause) {
    const user = config.getCurrentUser()?.name ?? '';
    const says = cause instanceof Error ? firstLine(cause.message) : String(cause);
    throw failure('cluster-credentials', `credentials of user "${user}" cannot be obtained: ${says}`, { user }, cause);
  }
  const { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername, auth } = options;
  const given = { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername };
  const tls: Tls = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const basic: Record<string, string> =
    typeof auth === 'string' ? { authorization: `Basic ${Buffer.from(auth).toString('base64')}` } : {};
  const headers = { ...basic, ...textHeaders(options.headers) };
  return { headers, tls, ...proxy, fingerprint: digest([headers, tls, proxy]), connection: digest([tls, proxy]) };
}

function checkedProxy(url: string): string {
  const scheme = URL.parse(url)?.protocol;
  if (scheme === 'http:' || scheme === 'https:') return url;
  throw invalidKubeconfig('the proxy-url of the kubeconfig is not an http or https URL', {});
}

function textHeaders(headers: RequestOptions['headers']): Record<string, string> {
  const entries = Object.entries(headers ?? {}).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), String(value).trim()]));
}

function firstLine(text: string): string {
  const [line = ''] = text.trim().split('\n');
  return line.slice(0, 300);
}

function invalidKubeconfig(message: string, data: Record<string, string>, cause?: unknown): Failure {
  return failure('cluster-config-invalid', message, data, cause);
}

function failure(code: ClusterCode, message: string, data: Record<string, string>, cause?: unknown): Failure {
  return new Failure(code, message, { data, cause });
}
