// `skep validate`: what is wrong with the manifests of a folder, without a cluster.

import { Command } from 'commander';
import type { Validation } from '../reconcile/validate.ts';
import { DEFAULT_API_GROUP } from './api-group.ts';
import { outputOption } from './configuration.ts';
import { checkKubernetesVersion } from './kubernetes-version.ts';
import { openUserCache, validation } from './validation.ts';

interface Options {
  readonly apiGroup: string;
  readonly output: 'text' | 'json';
  readonly schemas: readonly string[];
  readonly kubernetesVersion?: string;
  readonly cache: boolean;
}

const EXAMPLES = `
Examples:
  skep validate clusters/prod
  skep validate clusters/prod --schemas vendor/crds`;

export function validateCommand(): Command {
  return new Command('validate')
    .description('Check manifests offline: schema, rules and references.')
    .argument('<path...>', 'files or folders; every *.yaml, *.yml and *.json in a folder is read')
    .option('--schemas <path>', 'CustomResourceDefinitions that are not among the manifests; repeatable', collect, [])
    .option('--kubernetes-version <version>', 'version that built-in kinds are held against (1.36 is bundled)')
    .option('--api-group <group>', 'API group of the custom resources', DEFAULT_API_GROUP)
    .option('--no-cache', 'check everything anew, also where nothing has changed since the last time')
    .addOption(outputOption())
    .addHelpText('after', EXAMPLES)
    .action(async (paths: string[], options: Options) => {
      const { apiGroup, schemas, output, cache } = options;
      if (options.kubernetesVersion !== undefined) checkKubernetesVersion(options.kubernetesVersion);
      const result = await validation({ paths, schemas, apiGroup }, cache ? openUserCache() : undefined);
      process.stdout.write(output === 'json' ? await asJson(result) : await asText(result));
      if (result.problems.some(({ severity }) => severity === 'error')) process.exitCode = 3;
    });
}

function collect(path: string, before: readonly string[]): readonly string[] {
  return [...before, path];
}

async function asJson(result: Validation): Promise<string> {
  return (await import('../report/json.ts')).jsonOfValidation(result);
}

async function asText(result: Validation): Promise<string> {
  return (await import('../report/text.ts')).textOfValidation(result);
}
