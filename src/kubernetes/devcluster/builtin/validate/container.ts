// Checks the containers of a pod template.

import type { Json, JsonObject } from '#std/json.ts';
import { storedQuantity } from '../../../rules/quantity.ts';
import type { Cause } from '../../api/status.ts';
import { nameComplaints } from '../../api/validate-metadata.ts';
import { isUnset, itemsAt, objectAt } from '../fields.ts';
import { duplicate, invalidValue, missing, oneOf, portNumber, required } from './cause.ts';
import { validateProbes } from './probe.ts';

/** Checks the containers. `volumes` are the names of the template's volumes. */
export function validateContainers(
  containers: readonly JsonObject[],
  volumes: ReadonlySet<string>,
  field: string,
): Cause[] {
  const seen = new Set<string>();
  return containers.flatMap((container, index) => {
    const path = `${field}[${index}]`;
    const name = String(container.name ?? '');
    const causes = [...validateContainer(container, volumes, path)];
    if (seen.has(name)) causes.push(duplicate(`${path}.name`, name));
    seen.add(name);
    return [...causes, ...validateProbes(container, path)];
  });
}

function validateContainer(container: JsonObject, volumes: ReadonlySet<string>, path: string): Cause[] {
  return [
    ...validateLabelName(container.name, `${path}.name`),
    ...(isUnset(container.image) ? [required(`${path}.image`)] : []),
    ...oneOf(`${path}.terminationMessagePolicy`, container.terminationMessagePolicy, ['File', 'FallbackToLogsOnError']),
    ...validatePorts(itemsAt(container, 'ports'), `${path}.ports`),
    ...validateEnv(itemsAt(container, 'env'), `${path}.env`),
    ...validateMounts(itemsAt(container, 'volumeMounts'), volumes, `${path}.volumeMounts`),
    ...oneOf(`${path}.imagePullPolicy`, container.imagePullPolicy, ['Always', 'IfNotPresent', 'Never']),
    ...validateResources(objectAt(container, 'resources'), `${path}.resources`),
  ];
}

/** Checks a required RFC 1123 label. */
export function validateLabelName(value: Json | undefined, field: string): Cause[] {
  if (isUnset(value)) return [required(field)];
  return nameComplaints(String(value), 'label').map((why) => invalidValue(field, value, why));
}

function validatePorts(ports: readonly JsonObject[], field: string): Cause[] {
  const names = new Set<string>();
  return ports.flatMap((port, index) => {
    const path = `${field}[${index}]`;
    const causes: Cause[] = [];
    if (typeof port.name === 'string' && port.name !== '') {
      causes.push(...validatePortName(port.name, `${path}.name`));
      if (names.has(port.name)) causes.push(duplicate(`${path}.name`, port.name));
      names.add(port.name);
    }
    if (isUnset(port.containerPort) || port.containerPort === 0) causes.push(required(`${path}.containerPort`));
    else causes.push(...portNumber(`${path}.containerPort`, port.containerPort));
    if (port.hostPort !== undefined) causes.push(...portNumber(`${path}.hostPort`, port.hostPort));
    return [...causes, ...oneOf(`${path}.protocol`, port.protocol, ['SCTP', 'TCP', 'UDP'])];
  });
}

/** Checks an IANA service name (RFC 6335 section 5.1) in lower case. */
export function validatePortName(name: string, field: string): Cause[] {
  const complaints: string[] = [];
  if (name.length > 15) complaints.push('must be no more than 15 characters');
  if (!/^[-a-z0-9]+$/.test(name))
    complaints.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  if (!/[a-z]/.test(name)) complaints.push('must contain at least one letter (a-z)');
  if (name.includes('--')) complaints.push('must not contain consecutive hyphens');
  if (name.startsWith('-') || name.endsWith('-')) complaints.push('must not begin or end with a hyphen');
  return complaints.map((why) => invalidValue(field, name, why));
}

const ENV_NAME = /^[ -<>-~]+$/;
const ENV_NAME_TEXT =
  "a valid environment variable name must consist only of printable ASCII characters other than '='";

function validateEnv(env: readonly JsonObject[], field: string): Cause[] {
  return env.flatMap((variable, index) => {
    const path = `${field}[${index}]`;
    const { name, value, valueFrom } = variable;
    const causes: Cause[] = [];
    if (isUnset(name)) causes.push(required(`${path}.name`));
    else if (!ENV_NAME.test(String(name))) causes.push(invalidValue(`${path}.name`, name, ENV_NAME_TEXT));
    if (valueFrom === undefined) return causes;
    return [...causes, ...validateSource(objectAt(variable, 'valueFrom'), value, `${path}.valueFrom`)];
  });
}

function validateSource(source: JsonObject, value: Json | undefined, field: string): Cause[] {
  const sources = Object.keys(source);
  if (sources.length === 0) {
    return [
      invalidValue(
        field,
        '',
        'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
      ),
    ];
  }
  if (!isUnset(value)) return [invalidValue(field, '', 'may not be specified when `value` is not empty')];
  if (sources.length > 1) return [invalidValue(field, '', 'may not have more than one field specified at a time')];
  return ['secretKeyRef', 'configMapKeyRef']
    .filter((key) => source[key] !== undefined && isUnset(objectAt(source, key).key))
    .map((key) => required(`${field}.${key}.key`));
}

function validateMounts(mounts: readonly JsonObject[], volumes: ReadonlySet<string>, field: string): Cause[] {
  const paths = new Set<string>();
  return mounts.flatMap((mount, index) => {
    const path = `${field}[${index}]`;
    const causes: Cause[] = [];
    const name = String(mount.name ?? '');
    if (name === '') causes.push(required(`${path}.name`));
    else if (!volumes.has(name)) causes.push(missing(`${path}.name`, name));
    const mountPath = String(mount.mountPath ?? '');
    if (mountPath === '') causes.push(required(`${path}.mountPath`));
    if (paths.has(mountPath)) causes.push(invalidValue(`${path}.mountPath`, mountPath, 'must be unique'));
    paths.add(mountPath);
    if (!isUnset(mount.subPath)) causes.push(...validateDescending(mount.subPath, `${path}.subPath`));
    return causes;
  });
}

/** Reports a path that is absolute or contains `..`. */
export function validateDescending(value: Json | undefined, field: string): Cause[] {
  const path = String(value);
  const causes = path.startsWith('/') ? [invalidValue(field, path, 'must be a relative path')] : [];
  return path.split('/').includes('..') ? [...causes, invalidValue(field, path, "must not contain '..'")] : causes;
}

function validateResources(resources: JsonObject, field: string): Cause[] {
  const limits = objectAt(resources, 'limits');
  const requests = objectAt(resources, 'requests');
  const negative = [...entries(limits, 'limits'), ...entries(requests, 'requests')]
    .filter(([, , quantity]) => quantity.startsWith('-'))
    .map(([list, name, quantity]) =>
      invalidValue(`${field}.${list}[${name}]`, quantity, 'must be greater than or equal to 0'),
    );
  const above = Object.keys(requests).flatMap((name) => {
    const limit = limits[name];
    const request = requests[name];
    if (limit === undefined || request === undefined || amountOf(request) <= amountOf(limit)) return [];
    const why = `must be less than or equal to ${name} limit of ${String(limit)}`;
    return [invalidValue(`${field}.requests`, String(request), why)];
  });
  return [...negative, ...above];
}

function entries(quantities: JsonObject, list: string): [list: string, name: string, quantity: string][] {
  return Object.entries(quantities).map(([name, quantity]) => [list, name, String(quantity)]);
}

const UNITS: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** Returns the quantity as a double, which is exact enough to compare a request with a limit. */
function amountOf(quantity: Json): number {
  const text = storedQuantity(String(quantity)) ?? String(quantity);
  const match = /^([+-]?[0-9.]+)([a-zA-Z]*)(?:([+-]?[0-9]+))?$/.exec(text);
  if (match === null) return Number.NaN;
  const [, digits = '0', unit = '', exponent] = match;
  if (exponent !== undefined) return Number(digits) * 10 ** Number(exponent);
  return Number(digits) * (UNITS[unit] ?? Number.NaN);
}
