// `skep trigger`: makes the next run sync a registry, even if the registry is not due.

import { Command } from 'commander';
import { type InstanceFlags, loadConfig, withInstanceFlags } from '#hosts/config/configuration.ts';

export function triggerCommand(): Command {
  return withInstanceFlags(new Command('trigger'))
    .description('Make the next run sync all sources of an MCPRegistry, even if they are not due yet.')
    .argument('<registry>', '[namespace/]name; default: the namespace of the kubeconfig')
    .addHelpText('after', '\nExample:\n  skep trigger tools/catalogue -c skep.yaml')
    .action(async (registry: string, flags: InstanceFlags) => {
      const config = await loadConfig(flags);
      const [{ connectCluster }, { triggerSync }, { fieldManager }, { systemClock }, { VERSION }] = await Promise.all([
        import('#adapters/cluster/connect.ts'),
        import('#reconciler/run/operate/trigger.ts'),
        import('#reconciler/run/labels.ts'),
        import('#hosts/clock.ts'),
        import('#hosts/version.ts'),
      ]);
      const { kubeconfig, context, concurrency } = config.cluster;
      const cluster = await connectCluster({
        usual: process.env.KUBECONFIG ?? '',
        kubeconfig,
        context,
        fieldManager: `${fieldManager(config.name)}-trigger`,
        concurrency,
        version: VERSION,
        clock: systemClock,
        withinMs: config.cluster.timeoutSeconds * 1000,
        timeoutMs: config.cluster.timeoutSeconds * 1000,
      });
      try {
        const [name = '', namespace = cluster.homeNamespace()] = registry.split('/').reverse();
        const { apiGroup } = config;
        const value = await triggerSync({ cluster, clock: systemClock }, { apiGroup, namespace, name });
        process.stdout.write(`the next run syncs ${namespace}/${name} (sync-trigger ${value})\n`);
      } finally {
        await cluster.close();
      }
    });
}
