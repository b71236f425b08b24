// Adapts the configuration of a proxy to this machine: replaces its ports, the address of its server, and the URL at
// which clients reach it.

import { RUN_CONFIG_FILE } from '#contracts/run-config.ts';
import { readRunConfig } from '#contracts/run-config-read.ts';
import type { Addresses } from '#kubernetes/devcluster/node/ports.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import { relocateAuthServer } from './local-auth-server.ts';

export interface LocalPlace {
  readonly addresses: Addresses;
  /** URL at which clients call the server. If not set, the URL in the configuration stays. */
  readonly url?: string;
}

/**
 * Returns undefined if the file is not the configuration or is not JSON, which the proxy itself reports. Throws if the
 * configuration names a process.
 */
export async function relocateRunConfig(file: string, text: string, place: LocalPlace): Promise<string | undefined> {
  const config = file === RUN_CONFIG_FILE ? parse(text) : undefined;
  if (!isObject(config)) return undefined;
  if (config.process !== undefined) {
    throw new Error(`${file} names a process to start, and skep dev starts no program that a commit names`);
  }
  const { endpoint_prefix: _prefix, oidc_config: oidc, ...others } = await relocate(config, place.addresses);
  const { url } = place;
  const read = url === undefined ? undefined : readRunConfig(text);
  const server = read !== undefined && 'config' in read ? read.config.embedded_auth_server_config : undefined;
  const resource = url === undefined ? {} : { resource_url: url, ...(server && { issuer: url }) };
  return JSON.stringify(
    {
      ...others,
      ...(isObject(oidc) ? { oidc_config: { ...oidc, ...apiServer(oidc, place.addresses), ...resource } } : {}),
      ...(server && url !== undefined && isObject(oidc)
        ? { embedded_auth_server_config: relocateAuthServer(server, url, String(oidc.resource_url)) }
        : {}),
      // The main listener of `skep dev` sends the removed prefix of the path in a header.
      trust_proxy_headers: true,
    },
    undefined,
    2,
  );
}

/** Returns the local API server as issuer, if the API server is the issuer. */
function apiServer({ issuer_is_api_server: isApiServer }: JsonObject, addresses: Addresses): JsonObject {
  return isApiServer === true ? { issuer: addresses.apiServer() } : {};
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const SERVICE = /^([^.]+)\.([^.]+)\.svc\.cluster\.local$/;

async function relocate(object: JsonObject, addresses: Addresses): Promise<JsonObject> {
  const { host, port, metrics, target_host: target, target_port: targetPort } = object;
  const [, name, namespace] = SERVICE.exec(String(target)) ?? [];
  const toService =
    name === undefined || namespace === undefined
      ? {}
      : { target_host: '127.0.0.1', target_port: await addresses.service(namespace, name, Number(targetPort)) };
  return {
    ...object,
    ...toService,
    ...listening(host, port, addresses),
    ...(isObject(metrics) ? { metrics: { ...metrics, ...listening(metrics.host, metrics.port, addresses) } } : {}),
  };
}

function listening(host: Json | undefined, port: Json | undefined, addresses: Addresses): JsonObject {
  if (host !== '0.0.0.0' || typeof port !== 'number') return {};
  return { host: '127.0.0.1', port: addresses.port(port) };
}
