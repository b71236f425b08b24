// `skep validate`: what is wrong with the manifests of a folder, without a cluster.

import { Command } from 'commander';
import { formatNames, VALIDATION_FORMATS, type ValidationFormat } from '../report/formats.ts';
import { DEFAULT_API_GROUP } from './api-group.ts';
import { outputOption } from './configuration.ts';
import { checkKubernetesVersion } from './kubernetes-version.ts';
import { reportContext } from './report-context.ts';
import { openUserCache, validation } from './validation.ts';

interface Options {
  readonly apiGroup: string;
  readonly output: ValidationFormat;
  readonly schemas: readonly string[];
  readonly kubernetesVersion?: string;
  readonly cache: boolean;
}

const EXAMPLES = `
Examples:
  skep validate clusters/prod
  skep validate clusters/prod --schemas vendor/crds
  skep validate clusters/prod -o sarif > skep.sarif`;

export function validateCommand(): Command {
  return new Command('validate')
    .description('Check manifests offline: schema, rules and references.')
    .argument('<path...>', 'files or folders; every *.yaml, *.yml and *.json in a folder is read')
    .option('--schemas <path>', 'CustomResourceDefinitions that are not among the manifests; repeatable', collect, [])
    .option('--kubernetes-version <version>', 'version that built-in kinds are held against (1.36 is bundled)')
    .option('--api-group <group>', 'API group of the custom resources', DEFAULT_API_GROUP)
    .option('--no-cache', 'check everything anew, also where nothing has changed since the last time')
    .addOption(outputOption(formatNames(VALIDATION_FORMATS)))
    .addHelpText('after', EXAMPLES)
    .action(async (paths: string[], options: Options) => {
      const { apiGroup, schemas, output, cache } = options;
      if (options.kubernetesVersion !== undefined) checkKubernetesVersion(options.kubernetesVersion);
      const result = await validation({ paths, schemas, apiGroup }, cache ? openUserCache() : undefined);
      const render = await VALIDATION_FORMATS[output]();
      process.stdout.write(await render(result, reportContext()));
      if (result.problems.some(({ severity }) => severity === 'error')) process.exitCode = 3;
    });
}

function collect(path: string, before: readonly string[]): readonly string[] {
  return [...before, path];
}
