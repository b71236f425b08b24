// Makes the next run sync an MCPRegistry, with a connection that writes as a field manager of its own.

import { connectCluster } from '#adapters/cluster/connect.ts';
import { fieldManager } from '#reconciler/run/labels.ts';
import { type TriggerRequest, triggerSync } from '#reconciler/run/operate/trigger.ts';
import { systemClock } from '../../clock.ts';
import type { Config } from '../../config/config.ts';
import { VERSION } from '../../version.ts';

interface Triggered extends Pick<TriggerRequest, 'namespace' | 'name'> {
  /** Value of the annotation. */
  readonly value: string;
}

/** By default, the namespace is the namespace of the kubeconfig. Throws the Failures of `triggerSync`. */
export async function triggerRegistry(
  config: Config,
  registry: Pick<TriggerRequest, 'name'> & { readonly namespace?: string | undefined },
): Promise<Triggered> {
  const { kubeconfig, context, concurrency, timeoutSeconds } = config.cluster;
  const cluster = await connectCluster({
    usual: process.env.KUBECONFIG ?? '',
    kubeconfig,
    context,
    fieldManager: `${fieldManager(config.name)}-trigger`,
    concurrency,
    version: VERSION,
    clock: systemClock,
    withinMs: timeoutSeconds * 1000,
    timeoutMs: timeoutSeconds * 1000,
  });
  try {
    const { name, namespace = cluster.homeNamespace() } = registry;
    const { apiGroup } = config;
    const value = await triggerSync({ cluster, clock: systemClock }, { apiGroup, namespace, name });
    return { namespace, name, value };
  } finally {
    await cluster.close();
  }
}
