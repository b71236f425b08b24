// `skep convert`: rewrites manifests of v1alpha1 as v1beta1.

import { lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { DEFAULT_API_GROUP } from '#hosts/config/api-group.ts';
import { Failure } from '#std/failure.ts';

interface Options {
  readonly apiGroup: string;
  readonly check: boolean;
}

const EXAMPLES = `
Exit codes: 0 converted, or nothing to convert; 2 something to convert (--check); 3 a file could not be converted.

Examples:
  skep convert clusters
  skep convert clusters/prod/servers.yaml
  skep convert clusters --check`;

export function convertCommand(): Command {
  return new Command('convert')
    .description('Rewrite manifests of v1alpha1 in the spelling of v1beta1: comments, order, anchors and layout stay.')
    .argument('<path...>', 'files, or folders with files (.yaml, .yml, .json)')
    .option('--check', 'write nothing; exit 2 if a file has something to convert', false)
    .option('--api-group <group>', 'API group of the custom resources', DEFAULT_API_GROUP)
    .addHelpText('after', EXAMPLES)
    .action(async (paths: string[], { apiGroup, check }: Options) => {
      const [{ KINDS }, { respell }] = await Promise.all([
        import('#reconciler/kinds/index.ts'),
        import('#reconciler/kinds/respell.ts'),
      ]);
      let [changed, failed] = [0, 0];
      for (const file of paths.flatMap(manifestFiles)) {
        const before = readFileSync(file, 'utf8');
        const result = respell(before, KINDS, apiGroup);
        if ('fault' in result) {
          failed += 1;
          process.stderr.write(`${file}: left unchanged: ${result.fault}\n`);
        } else if (result.text !== before) {
          changed += 1;
          if (!check) writeFileSync(file, result.text);
          process.stdout.write(`${file}: ${check ? 'to be converted' : 'converted'}\n`);
        }
      }
      if (failed > 0) process.exitCode = 3;
      else if (check && changed > 0) process.exitCode = 2;
    });
}

/**
 * Returns the manifests in a folder. If the path is a file, returns the file, regardless of its name. Ignores symbolic
 * links in a folder, because they may point outside of the folder.
 */
function manifestFiles(path: string): readonly string[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new Failure('usage', `${path} does not exist: name a file or a folder of manifests`);
  return found.isDirectory() ? filesBelow(path) : [path];
}

function filesBelow(folder: string): readonly string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === '.git' || entry.name === 'node_modules' ? [] : filesBelow(path);
    return entry.isFile() && /\.(ya?ml|json)$/.test(entry.name) ? [path] : [];
  });
}
