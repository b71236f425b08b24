// `skep validate`: what is wrong with the manifests of a folder, without a cluster.

import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import { isManifest, type SourceFile } from '../reconcile/source-file.ts';
import { Failure } from '../std/failure.ts';
import { sha256 } from '../std/hash.ts';
import { DEFAULT_API_GROUP } from './api-group.ts';
import { outputOption } from './configuration.ts';

interface Options {
  readonly apiGroup: string;
  readonly output: 'text' | 'json';
}

export function validateCommand(): Command {
  return new Command('validate')
    .description('Check manifests offline: schema, rules and references.')
    .argument('<path...>', 'files or folders; every *.yaml, *.yml and *.json in a folder is read')
    .option('--api-group <group>', 'API group of the custom resources', DEFAULT_API_GROUP)
    .addOption(outputOption())
    .addHelpText('after', '\nExample:\n  skep validate clusters/prod')
    .action(async (paths: string[], { apiGroup, output }: Options) => {
      const [{ KINDS }, { validate }, { textOfValidation }, { jsonOfValidation }] = await Promise.all([
        import('../kinds/index.ts'),
        import('../reconcile/validate.ts'),
        import('../report/text.ts'),
        import('../report/json.ts'),
      ]);
      const files = await Promise.all(paths.map(manifests));
      const validation = validate({ documents: files.flat(), kinds: KINDS, apiGroup });
      process.stdout.write(output === 'json' ? jsonOfValidation(validation) : textOfValidation(validation));
      if (validation.problems.some(({ severity }) => severity === 'error')) process.exitCode = 3;
    });
}

/** A file as it is given; a folder's manifests, sorted. */
async function manifests(path: string): Promise<SourceFile[]> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw new Failure('usage', `${path}: no such file or folder`);
  if (!found.isDirectory()) return [await file(path)];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile() && isManifest(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((name) => !name.split('/').includes('.git'));
  return Promise.all(names.sort().map(file));
}

async function file(path: string): Promise<SourceFile> {
  const text = await readFile(path, 'utf8');
  return { path, oid: sha256(text), text };
}
