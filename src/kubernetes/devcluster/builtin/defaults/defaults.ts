// Finds the defaults of the built-in kinds that the published schemas do not state. They belong to a type and apply
// wherever the type occurs. Source: the defaults that a Kubernetes 1.36 API server was observed to fill in.

import type { Defaulter } from './defaulter.ts';
import { OTHER_DEFAULTS } from './others.ts';
import { POD_DEFAULTS } from './pod.ts';
import { SERVICE_DEFAULTS } from './service.ts';
import { WORKLOAD_DEFAULTS } from './workloads.ts';

const ALL: Readonly<Record<string, Defaulter>> = {
  ...POD_DEFAULTS,
  ...SERVICE_DEFAULTS,
  ...WORKLOAD_DEFAULTS,
  ...OTHER_DEFAULTS,
};

/** Returns the defaulter of a schema by its name, such as `io.k8s.api.core.v1.Container`. */
export function defaulterOf(schemaName: string): Defaulter | undefined {
  const name = schemaName.startsWith(PREFIX) ? schemaName.slice(PREFIX.length) : schemaName;
  return Object.hasOwn(ALL, name) ? ALL[name] : undefined;
}

const PREFIX = 'io.k8s.api.';
