// Provides defaults of built-in kinds that the published schemas do not contain, by type. Source: defaults observed on
// a Kubernetes 1.36 API server.

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

/** Returns the defaults function for a schema name such as `io.k8s.api.core.v1.Container`. */
export function defaulterOf(schemaName: string): Defaulter | undefined {
  const name = schemaName.startsWith(PREFIX) ? schemaName.slice(PREFIX.length) : schemaName;
  return Object.hasOwn(ALL, name) ? ALL[name] : undefined;
}

const PREFIX = 'io.k8s.api.';
