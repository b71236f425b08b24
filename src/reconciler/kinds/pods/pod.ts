// Defines common parts of generated pods: security contexts, environment, probes, names of volumes.

import { CALLS_NODE_OPTIONS, SCRATCH_PATH } from '#contracts/run-config.ts';
import { sha256 } from '#std/hash.ts';
import type { Json, JsonObject } from '#std/json.ts';

/** Fulfils the pod security standard "restricted", because some namespaces enforce it. */
export const POD_SECURITY: JsonObject = {
  runAsNonRoot: true,
  runAsUser: 1000,
  runAsGroup: 1000,
  fsGroup: 1000,
  seccompProfile: { type: 'RuntimeDefault' },
};

/** Security context of each container, in addition to POD_SECURITY. */
export const CONTAINER_SECURITY: JsonObject = {
  privileged: false,
  runAsNonRoot: true,
  runAsUser: 1000,
  runAsGroup: 1000,
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

/** Volume for temporary files, because the root file system is read-only. */
export const SCRATCH = {
  volume: { name: 'skep-tmp', emptyDir: {} },
  mount: { name: 'skep-tmp', mountPath: SCRATCH_PATH },
} as const;

/**
 * Lets pods finish calls before they stop. Load balancers send requests for a moment after the stop begins, so the pod
 * serves for 5 more seconds (Kubernetes, Container Lifecycle Hooks). Running calls then have `shutdown_seconds` to end.
 */
export const ENDING = {
  pod: { terminationGracePeriodSeconds: 35 },
  container: { lifecycle: { preStop: { sleep: { seconds: 5 } } } },
} as const;

export interface Mounted {
  readonly volume: JsonObject;
  readonly mount: JsonObject;
}

/** Mounts a ConfigMap as files. */
export function mountedConfigMap(name: string, mountPath: string, configMap: JsonObject): Mounted {
  return { volume: { name, configMap }, mount: { name, mountPath, readOnly: true } };
}

/** Environment variable: a plain value, or a key of a Secret. */
export type Env =
  | { readonly name: string; readonly value: string }
  | { readonly name: string; readonly secret: { readonly name: string; readonly key: string } };

/** Returns the keys of Secrets that are values of variables. */
export function secretsOf(variables: readonly Env[]): readonly { readonly name: string; readonly key: string }[] {
  return variables.flatMap((variable) => ('secret' in variable ? [variable.secret] : []));
}

/**
 * Returns the `env` of a container. If several variables have the same name, the last value is used, at the position of
 * the first.
 */
export function envOf(variables: readonly Env[]): Json[] {
  const byName = new Map<string, JsonObject>();
  for (const variable of variables) {
    const { name } = variable;
    if ('value' in variable) byName.set(name, { name, value: variable.value });
    else byName.set(name, { name, valueFrom: { secretKeyRef: { ...variable.secret } } });
  }
  return [...byName.values()];
}

/** Adds the variables that every proxy's pod needs, unless they are already set. */
export function withSurroundings(variables: readonly Env[]): readonly Env[] {
  const surroundings: Env[] = [
    { name: 'XDG_CONFIG_HOME', value: SCRATCH.mount.mountPath },
    { name: 'HOME', value: SCRATCH.mount.mountPath },
    { name: 'TOOLHIVE_RUNTIME', value: 'kubernetes' },
    { name: 'UNSTRUCTURED_LOGS', value: 'false' },
    { name: 'NODE_OPTIONS', value: CALLS_NODE_OPTIONS },
    ...(variables.some(({ name }) => name.startsWith('TOOLHIVE_SECRET_'))
      ? [{ name: 'TOOLHIVE_SECRETS_PROVIDER', value: 'environment' }]
      : []),
  ];
  const names = new Set(variables.map(({ name }) => name));
  return [...variables, ...surroundings.filter(({ name }) => !names.has(name))];
}

export interface ProbeTimes {
  readonly initialDelaySeconds?: number;
  readonly periodSeconds: number;
  readonly timeoutSeconds?: number;
  readonly failureThreshold?: number;
}

export function httpProbe(path: string, port: string, times: ProbeTimes): JsonObject {
  return { httpGet: { path, port }, ...times };
}

/** Returns a volume name for a name that may be too long for a volume, or contain invalid characters. */
export function volumeName(prefix: string, name: string): string {
  const whole = `${prefix}-${name}`;
  if (whole.length <= 63 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(whole)) return whole;
  const suffix = sha256(name).slice(0, 8);
  const readable = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  return `${prefix}-${readable.slice(0, 63 - prefix.length - suffix.length - 2)}-${suffix}`.replaceAll(/-+/g, '-');
}
