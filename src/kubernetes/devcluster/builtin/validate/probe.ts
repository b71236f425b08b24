// Checks the probes of a container.

import type { JsonObject } from '#std/json.ts';
import type { Cause } from '../../api/status.ts';
import { isUnset, objectAt } from '../fields.ts';
import { forbiddenField, invalidValue, nonNegative, required } from './cause.ts';

const HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc'];
const COUNTS = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'];

export function validateProbes(container: JsonObject, path: string): Cause[] {
  return ['livenessProbe', 'readinessProbe', 'startupProbe'].flatMap((key) => {
    if (container[key] === undefined) return [];
    const probe = objectAt(container, key);
    const causes = validateProbe(probe, `${path}.${key}`);
    const repeated = key !== 'readinessProbe' && probe.successThreshold !== undefined && probe.successThreshold !== 1;
    return repeated
      ? [...causes, invalidValue(`${path}.${key}.successThreshold`, probe.successThreshold, 'must be 1')]
      : causes;
  });
}

function validateProbe(probe: JsonObject, path: string): Cause[] {
  const handlers = HANDLERS.filter((key) => probe[key] !== undefined);
  const causes = COUNTS.flatMap((key) => nonNegative(`${path}.${key}`, probe[key]));
  const [first, ...more] = handlers;
  if (first === undefined) return [required(path, 'must specify a handler type'), ...causes];
  for (const extra of more) causes.push(forbiddenField(`${path}.${extra}`, 'may not specify more than 1 handler type'));
  if (isUnset(objectAt(probe, first).port) && (first === 'httpGet' || first === 'tcpSocket')) {
    causes.push(required(`${path}.${first}.port`));
  }
  return causes;
}
