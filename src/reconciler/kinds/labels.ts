// Computes labels and annotations of generated objects.

/** Domain of the labels of ToolHive that do not depend on the API group. */
export const LABEL_DOMAIN = 'toolhive.stacklok.io';

/** Returns the labels of a workload's objects, which are also the selector of its pods. */
export function workloadLabels(workload: 'mcpserver' | 'mcpremoteproxy' | 'virtualmcpserver', name: string) {
  return {
    app: workload,
    'app.kubernetes.io/name': workload,
    'app.kubernetes.io/instance': name,
    toolhive: 'true',
    'toolhive-name': name,
  };
}

interface Metadata {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Merges labels and annotations of an object: `own` takes precedence over `added`. Empty maps are left out. */
export function withOverrides(own: Metadata, added: Metadata | undefined) {
  const labels = { ...added?.labels, ...own.labels };
  const annotations = { ...added?.annotations, ...own.annotations };
  return {
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  };
}
