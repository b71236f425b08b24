// Selects the proxy for a request from proxy settings in the format of environment variables (curl, "Environment").

import { BlockList, isIP } from 'node:net';
import { Failure } from '#std/failure.ts';

export interface EgressSettings {
  /** URL of the proxy for https, including user and password if required. */
  readonly https?: string | undefined;
  /** URL of the proxy for http, including user and password if required. */
  readonly http?: string | undefined;
  /** Comma-separated host names, domains, addresses and ranges that are reached without a proxy. `*` for all. */
  readonly except?: string | undefined;
}

/** Returns the URL of the proxy. undefined if the URL is reached without a proxy. */
export type Egress = (url: URL) => string | undefined;

/** Throws Failure `outbound-proxy-invalid`. */
export function egressOf({ https, http, except = '' }: EgressSettings): Egress {
  for (const proxy of [https, http]) assertProxy(proxy);
  const direct = except
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .map(matcherOf);
  return (url) => {
    const proxy = url.protocol === 'https:' ? https : http;
    if (proxy === undefined || proxy === '') return undefined;
    const host = (url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname).toLowerCase();
    const port = url.port || (url.protocol === 'https:' ? '443' : '80');
    return direct.some((matches) => matches(host, port)) ? undefined : proxy;
  };
}

function assertProxy(proxy: string | undefined): void {
  if (proxy === undefined || proxy === '') return;
  const protocol = URL.parse(proxy)?.protocol;
  if (protocol === 'http:' || protocol === 'https:') return;
  throw new Failure('outbound-proxy-invalid', 'HTTPS_PROXY and http_proxy must be http or https URLs');
}

type Matcher = (host: string, port: string) => boolean;

function matcherOf(entry: string): Matcher {
  if (entry === '*') return () => true;
  const range = rangeOf(entry);
  if (range !== undefined) return (host) => isIP(host) !== 0 && range.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4');
  const [, written = entry, port] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
  const name = written.replace(/^\*?\./, '');
  return (host, asked) => (port === undefined || port === asked) && (host === name || host.endsWith(`.${name}`));
}

function rangeOf(entry: string): BlockList | undefined {
  const [address = '', prefix] = entry.split('/');
  const family = isIP(address);
  if (family === 0) return undefined;
  const type = family === 6 ? 'ipv6' : 'ipv4';
  const list = new BlockList();
  if (prefix === undefined) list.addAddress(address, type);
  else if (/^\d+$/.test(prefix) && Number(prefix) <= (family === 6 ? 128 : 32))
    list.addSubnet(address, Number(prefix), type);
  return list;
}
