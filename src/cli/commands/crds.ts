// `skep crds`: our CustomResourceDefinitions as YAML, for `kubectl apply --server-side -f -`.

import { Command } from 'commander';
import { DEFAULT_API_GROUP } from '#hosts/config/api-group.ts';

export function crdsCommand(): Command {
  return new Command('crds')
    .description('Print the CustomResourceDefinitions as YAML.')
    .option('--api-group <group>', 'API group of the custom resources', DEFAULT_API_GROUP)
    .addHelpText('after', '\nExample:\n  skep crds | kubectl apply --server-side -f -')
    .action(async ({ apiGroup }: { apiGroup: string }) => {
      const [{ stringify }, { crd }, { KINDS }] = await Promise.all([
        import('yaml'),
        import('#reconciler/kinds/crd.ts'),
        import('#reconciler/kinds/index.ts'),
      ]);
      const documents = KINDS.map((kind) =>
        stringify(crd(kind, apiGroup), { lineWidth: 0, aliasDuplicateObjects: false }),
      );
      process.stdout.write(documents.join('---\n'));
    });
}
