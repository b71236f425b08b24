// Reads the configuration of a proxy. Unknown keys are reported and left out, so that a proxy can read the file of a
// newer reconciler with the same major version of the schema.

import { addressFaults } from '#std/address/address.ts';
import { isObject, type Json, type JsonObject, parseJson, pointerToken } from '#std/json.ts';
import { RUN_CONFIG_SCHEMA, type RunConfig, runConfigCheck } from './run-config.ts';
import { firstMisfit } from './schema-check.ts';

export type RunConfigRead =
  | { readonly config: RunConfig; readonly unknown: readonly string[] }
  /** End of a sentence that begins with the file, such as `is not a JSON object`. */
  | { readonly fault: string };

const VERSION = 'v0.1.0';
const MAJOR = 'v0.';

/** Parses the configuration. `unknown`: pointers of keys that this release does not know. */
export function readRunConfig(text: string): RunConfigRead {
  const parsed = parseJson(text);
  if (!isObject(parsed)) return { fault: 'is not a JSON object' };
  const { schema_version: version } = parsed;
  if (typeof version !== 'string' || !version.startsWith(MAJOR)) {
    return { fault: `has schema_version ${JSON.stringify(version)}; this release reads ${MAJOR}x` };
  }
  const unknown: string[] = [];
  const known = dropUnknown(RUN_CONFIG_SCHEMA, { ...parsed, schema_version: VERSION }, '', unknown);
  const fits = runConfigCheck();
  if (fits(known)) {
    const fault = missingPart(known) ?? addressFaultIn(known);
    return fault === undefined ? { config: known, unknown } : { fault };
  }
  const misfit = firstMisfit(fits);
  return { fault: `${misfit?.pointer} ${misfit?.message}` };
}

/** Returns a fault if the configuration contains no address of the server, or if `sleep` cannot be used. */
function missingPart(config: RunConfig): string | undefined {
  const { transport, remote_url: remote, target_host: host, target_port: port, sleep } = config;
  if (sleep !== undefined && whyAwake(config) !== undefined) return `/sleep cannot be used: ${whyAwake(config)}`;
  if (transport === 'stdio' || remote !== undefined || (host !== undefined && port !== undefined)) return undefined;
  return `/transport is ${transport}, and neither /remote_url nor /target_host with /target_port has its address`;
}

/** Returns the reason why the proxy could not start the server again after a sleep; undefined if it could. */
function whyAwake({ remote_url: remote, process, stdio }: RunConfig): string | undefined {
  if (remote !== undefined) return '/remote_url names a server that this proxy does not run';
  if (process !== undefined) return '/process is a program that ends with the proxy';
  return stdio?.sharing === 'perSession' ? '/stdio/sharing is perSession' : undefined;
}

function addressFaultIn(config: RunConfig): string | undefined {
  const [fault] = addressFaults(RUN_CONFIG_SCHEMA, config);
  return fault && `${fault.pointer} ${fault.message}`;
}

/** Returns a copy without keys that the schema does not define, and adds their pointers to `unknown`. */
function dropUnknown(schema: unknown, value: Json | undefined, pointer: string, unknown: string[]): Json | undefined {
  if (!isObject(schema)) return value;
  if (Array.isArray(value)) {
    return value.map((item, index) => dropUnknown(schema.items, item, `${pointer}/${index}`, unknown) ?? null);
  }
  const { properties } = schema;
  if (!isObject(value) || !isObject(properties)) return value;
  const copy: JsonObject = {};
  for (const [key, field] of Object.entries(value)) {
    const place = `${pointer}/${pointerToken(key)}`;
    if (Object.hasOwn(properties, key)) copy[key] = dropUnknown(properties[key], field, place, unknown);
    else unknown.push(place);
  }
  return copy;
}
