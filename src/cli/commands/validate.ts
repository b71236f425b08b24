// `skep validate`: reports the problems in the manifests of a folder, without a cluster.

import { Command } from 'commander';
import { writeReport } from '#hosts/colour.ts';
import { DEFAULT_API_GROUP } from '#hosts/config/api-group.ts';
import { outputOption } from '#hosts/config/configuration.ts';
import { checkKubernetesVersion } from '#hosts/config/kubernetes-version.ts';
import { findManifestFolders } from '#hosts/config/repository.ts';
import { commandOf } from '#hosts/own-command.ts';
import { BUILTIN } from '#hosts/reconciler/instance/policy-files.ts';
import { formatNames, VALIDATION_FORMATS, type ValidationFormat } from '#reconciler/report/formats.ts';
import { problemsExit } from '#reconciler/run/problems-exit.ts';
import { Failure } from '#std/failure.ts';
import { openUserCache, runValidation, type ValidationRequest } from '../offline/validation.ts';
import { reportContext } from '../report-context.ts';

interface Options {
  readonly apiGroup: string;
  readonly output: ValidationFormat;
  readonly schemas: readonly string[];
  readonly kubernetesVersion?: string;
  readonly watch?: true;
  readonly cache: boolean;
  /** False if `--no-policies` is set. */
  readonly policies?: readonly string[] | false;
  readonly ageKeyFile?: string;
}

const EXAMPLES = `
Examples:
  skep validate .
  skep validate clusters/prod
  skep validate clusters/prod --schemas vendor/crds
  skep validate clusters/prod --policies builtin --policies policies
  skep validate clusters/prod --age-key-file ~/.config/sops/age/keys.txt
  skep validate clusters/prod -o sarif > skep.sarif
  skep validate clusters/prod --watch`;

export function validateCommand(): Command {
  return new Command('validate')
    .description('Check manifests offline: schema, rules, references and policies.')
    .argument(
      '<path...>',
      'files or folders; every *.yaml, *.yml and *.json in a folder, or, if it has a skep.yaml, the manifests that this reads',
    )
    .option(
      '--schemas <path>',
      'CustomResourceDefinitions that are not among the manifests; repeatable',
      collectPath,
      [],
    )
    .option('--kubernetes-version <version>', 'version whose schemas check built-in kinds (1.36 is bundled)')
    .option('--api-group <group>', 'API group of the custom resources', DEFAULT_API_GROUP)
    .option(
      '--policies <path>',
      'ValidatingAdmissionPolicies to check them against; repeatable (default: builtin)',
      collectPath,
    )
    .option('--no-policies', 'check them without policies')
    .option(
      '--age-key-file <file>',
      'private age keys, to check also the values of Secrets that are encrypted with SOPS',
    )
    .option('--no-cache', 'check everything again, even if nothing has changed since the last time')
    .option('--watch', 'continue, and report the effect of each change, until interrupted')
    .addOption(outputOption(formatNames(VALIDATION_FORMATS)))
    .addHelpText('after', EXAMPLES)
    .action(async (paths: string[], options: Options) => {
      const { apiGroup, schemas, output, cache, policies = [BUILTIN], ageKeyFile } = options;
      if (options.kubernetesVersion !== undefined) checkKubernetesVersion(options.kubernetesVersion);
      const keys = ageKeyFile === undefined ? {} : { ageKeyFile };
      const folders = (await Promise.all(paths.map((path) => findManifestFolders(path, process.env)))).flat();
      const request = { folders, schemas, apiGroup, policies: policies || [], ...keys };
      if (options.watch === true) return watch(request, output);
      const result = await runValidation(request, cache ? openUserCache() : undefined);
      const render = await VALIDATION_FORMATS[output]();
      writeReport(output, await render(result, reportContext(commandOf({}))));
      process.exitCode = problemsExit(result.problems);
    });
}

async function watch(request: ValidationRequest, output: ValidationFormat): Promise<void> {
  if (output !== 'text') throw new Failure('usage', `--watch reports changes as text, not as ${output}`);
  const [{ watchValidation }, { listKustomizationFiles }, { openLoadCache }, { awaitSignal: untilSignal }] =
    await Promise.all([
      import('../offline/validate-watch.ts'),
      import('../offline/folders.ts'),
      import('#hosts/reconciler/kept/load-cache.ts'),
      import('#hosts/signals.ts'),
    ]);
  // If a path does not exist, the first validation ends the command. Later validations wait for the path.
  const files = openLoadCache();
  const validate = () => runValidation(request, undefined, files).finally(files.ended);
  await validate();
  const stop = new AbortController();
  const interrupted = untilSignal().then(() => stop.abort());
  const watching = watchValidation({
    paths: async () => [
      ...request.folders.map(({ path }) => path),
      ...request.schemas,
      ...(request.policies ?? []).filter((path) => path !== BUILTIN),
      ...(await listKustomizationFiles(request.folders)),
    ],
    validate,
    say: (text) => writeReport('text', text),
    complain: (text) => process.stderr.write(text),
    signal: stop.signal,
  });
  await Promise.race([interrupted, watching]);
  // A validation in progress would keep the process alive. The validation can be stopped at any point, because it only
  // reads.
  process.exit();
}

function collectPath(path: string, before: readonly string[] | false | undefined): readonly string[] {
  return [...(before || []), path];
}
