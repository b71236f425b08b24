// Reads the permission profile of an MCPServer: a built-in profile or a profile in a ConfigMap.

import { configMapText } from '#kubernetes/rules/content.ts';
import { formatCidr, formatIp, type Ip, maskCidr, parseCidr, parseIp } from '#kubernetes/rules/formats/ip.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import { readDocuments } from '#std/yaml/yaml.ts';
import type { View } from '../kind.ts';
import type { Server } from './facts.ts';

/**
 * Allowed destinations. Networks without ports are open at every port. Ports without any host are open to every host.
 * Without networks and ports, no destination is allowed.
 */
export type Outbound =
  | { readonly all: true }
  | {
      readonly all: false;
      /** CIDR notation. */
      readonly networks: readonly string[];
      readonly ports: readonly number[];
      /** Hosts that are DNS names. They stay unreachable, because Kubernetes limits egress only by address. */
      readonly names: readonly string[];
    };

export interface Profile {
  readonly outbound: Outbound;
  /** Sentences about fields of the profile that cannot be enforced. */
  readonly unenforced: readonly string[];
}

const NOTHING: Outbound = { all: false, networks: [], ports: [], names: [] };

/** Returns undefined if the server has no profile. `fault`: the reason why the ConfigMap contains no valid profile. */
export function profileOf({ spec }: Server, view: View): Profile | { readonly fault: string } | undefined {
  const { permissionProfile } = spec;
  if (permissionProfile === undefined) return undefined;
  const { type, name, key = '' } = permissionProfile;
  if (type === 'builtin') return { outbound: name === 'none' ? NOTHING : { all: true }, unenforced: [] };
  const text = configMapText(view.find('ConfigMap', name), key);
  const read = text === undefined ? { fault: 'is missing' } : readProfile(text);
  return 'fault' in read ? { fault: `ConfigMap ${name}, key ${key}: ${read.fault}` } : read;
}

/** Reads a profile in JSON or YAML. ToolHive's profiles have a `network` object and snake_case keys. */
function readProfile(text: string): Profile | { readonly fault: string } {
  const [document, ...more] = readDocuments(text, '');
  const problem = document?.problems[0];
  if (problem !== undefined) return { fault: problem.message };
  const value = document?.value ?? {};
  if (!isObject(value) || more.length > 0) return { fault: 'must be one object' };
  const network = value.network ?? value;
  if (!isObject(network)) return { fault: 'network must be an object' };
  const { mode = '', outbound = {} } = network;
  if (typeof mode !== 'string') return { fault: 'network.mode must be a string' };
  if (!isObject(outbound)) return { fault: 'network.outbound must be an object' };
  const read = readOutbound(outbound);
  if ('fault' in read) return read;
  return { outbound: mode === 'none' ? NOTHING : read, unenforced: unenforced(value, mode, read) };
}

function readOutbound(given: JsonObject): Outbound | { readonly fault: string } {
  const all = either(given, 'insecureAllowAll', 'insecure_allow_all') ?? false;
  const hosts = either(given, 'allowHost', 'allow_host') ?? [];
  const ports = either(given, 'allowPort', 'allow_port') ?? [];
  if (typeof all !== 'boolean') return { fault: 'network.outbound.insecureAllowAll must be true or false' };
  if (!Array.isArray(hosts) || !hosts.every(isText))
    return { fault: 'network.outbound.allowHost must be a list of text' };
  if (!Array.isArray(ports) || !ports.every(isPort)) {
    return { fault: 'network.outbound.allowPort must be a list of numbers from 1 to 65535' };
  }
  if (all) return { all };
  const networks = hosts.map((host) => ({ host, network: networkOf(host) }));
  return {
    all,
    networks: networks.flatMap(({ network }) => network ?? []),
    ports,
    names: networks.flatMap(({ host, network }) => (network === undefined ? [host] : [])),
  };
}

function either(given: JsonObject, key: string, older: string): Json | undefined {
  return given[key] ?? given[older];
}

function isText(value: Json): value is string {
  return typeof value === 'string' && value !== '';
}

function isPort(value: Json): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 65_535;
}

/** Returns the CIDR of an address or a network; undefined for a DNS name. */
function networkOf(host: string): string | undefined {
  const ip = parseIp(host);
  if (ip !== undefined) return `${formatIp(ip)}/${widthOf(ip)}`;
  const cidr = parseCidr(host);
  return cidr === undefined ? undefined : formatCidr(maskCidr(cidr));
}

function widthOf({ version }: Ip): number {
  return version === 4 ? 32 : 128;
}

function unenforced(profile: JsonObject, mode: string, outbound: Outbound): readonly string[] {
  const names = outbound.all || mode === 'none' ? [] : outbound.names;
  const ignored = ['read', 'write', 'privileged'].filter((field) => {
    const value = profile[field];
    return value === true || (Array.isArray(value) && value.length > 0);
  });
  return [
    ...(names.length === 0
      ? []
      : [
          `Kubernetes limits egress by address, not by name: ${names.join(', ')} cannot be reached (allow addresses instead)`,
        ]),
    ...(mode === '' || mode === 'none' ? [] : [`network mode ${mode} has no meaning for a pod`]),
    ...(ignored.length === 0 ? [] : [`${ignored.join(', ')}: not granted (use volumes and podTemplateSpec)`]),
  ];
}
