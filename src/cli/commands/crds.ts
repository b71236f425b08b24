// `skep crds`: prints our CustomResourceDefinitions as YAML, for `kubectl apply --server-side -f -`.

import { Command, Option } from 'commander';
import { DEFAULT_API_GROUP } from '#hosts/config/api-group.ts';

interface Options {
  readonly apiGroup: string;
  readonly stored?: string;
}

export function crdsCommand(): Command {
  return new Command('crds')
    .description('Print the CustomResourceDefinitions as YAML.')
    .option('--api-group <group>', 'API group of the custom resources', DEFAULT_API_GROUP)
    .addOption(
      new Option(
        '--stored <version>',
        'version that the API server stores; set it before you install definitions that lack the other version',
      ).choices(['v1alpha1', 'v1beta1']),
    )
    .addHelpText('after', '\nExample:\n  skep crds | kubectl apply --server-side -f -')
    .action(async ({ apiGroup, stored }: Options) => {
      const [{ stringify }, { crd }, { KINDS }] = await Promise.all([
        import('yaml'),
        import('#reconciler/kinds/crd.ts'),
        import('#reconciler/kinds/index.ts'),
      ]);
      const documents = KINDS.map((kind) =>
        stringify(crd(kind, apiGroup, stored), { lineWidth: 0, aliasDuplicateObjects: false }),
      );
      process.stdout.write(documents.join('---\n'));
    });
}
