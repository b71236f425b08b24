// Renders objects that several kinds have: ConfigMaps with a checksum, Services, service accounts.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import { digest } from '#std/hash.ts';
import type { JsonObject } from '#std/json.ts';

interface ObjectMetadata {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/**
 * Renders a ConfigMap and a digest of its content. Pods with the digest in an annotation restart when the content
 * changes.
 */
export function configMap(apiGroup: string, { name, namespace, labels }: ObjectMetadata, data: Record<string, string>) {
  const checksum = digest({ data, labels });
  const annotations = { [`${apiGroup}/content-checksum`]: checksum };
  const object: KubeObject = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace, labels: { ...labels }, annotations },
    data,
  };
  return { object, checksum };
}

export interface ServiceShape {
  /** If not set, the type is ClusterIP. */
  readonly type?: 'ClusterIP' | 'NodePort' | 'LoadBalancer';
  readonly selector: Readonly<Record<string, string>>;
  readonly port: { readonly name: string; readonly number: number };
  readonly sessionAffinity?: 'ClientIP' | 'None';
  /** Seconds of client affinity. If not set, Kubernetes uses its default. */
  readonly affinityTimeoutSeconds?: number;
  readonly headless?: boolean;
}

export function service(place: ObjectMetadata, shape: ServiceShape): KubeObject {
  const { type, selector, port, sessionAffinity, affinityTimeoutSeconds, headless } = shape;
  const { name, namespace, labels, annotations } = place;
  const spec: JsonObject = {
    type,
    clusterIP: headless === true ? 'None' : undefined,
    selector: { ...selector },
    ports: [{ name: port.name, port: port.number, targetPort: port.number, protocol: 'TCP' }],
    sessionAffinity,
    sessionAffinityConfig:
      affinityTimeoutSeconds === undefined ? undefined : { clientIP: { timeoutSeconds: affinityTimeoutSeconds } },
  };
  const metadata = {
    ...{ name, namespace, labels: { ...labels } },
    annotations: annotations && { ...annotations },
  };
  return { apiVersion: 'v1', kind: 'Service', metadata, spec };
}

/** Renders a service account without rights. */
export function serviceAccount(
  { name, namespace, labels }: ObjectMetadata,
  pullSecrets: readonly string[],
): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name, namespace, labels: { ...labels } },
    ...imagePullSecrets(pullSecrets),
  };
}

/** Renders a service account, a Role with the rights, and a RoleBinding between the Role and the account. */
export function accountWithRights(
  place: ObjectMetadata,
  pullSecrets: readonly string[],
  rules: JsonObject[],
): KubeObject[] {
  const { name, namespace, labels } = place;
  const metadata = { name, namespace, labels: { ...labels } };
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  return [
    serviceAccount(place, pullSecrets),
    { apiVersion, kind: 'Role', metadata, rules },
    {
      apiVersion,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    },
  ];
}

/** Returns the field `imagePullSecrets` of pods and service accounts; an empty object if no secrets are named. */
export function imagePullSecrets(names: readonly string[]): JsonObject {
  const unique = [...new Set(names)];
  return unique.length === 0 ? {} : { imagePullSecrets: unique.map((name) => ({ name })) };
}
