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
      const { triggerRegistry } = await import('#hosts/reconciler/operator/trigger.ts');
      const [given = '', within] = registry.split('/').reverse();
      const { namespace, name, value } = await triggerRegistry(config, { name: given, namespace: within });
      process.stdout.write(`the next run syncs ${namespace}/${name} (sync-trigger ${value})\n`);
    });
}
