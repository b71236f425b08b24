// `skep init`: creates a config repository.

import { resolve } from 'node:path';
import { Command } from 'commander';
import { ownCommand } from '#hosts/own-command.ts';
import { quoteWord } from '#std/page/shared/shell-word.ts';

interface Options {
  readonly repository?: string;
}

function nextSteps(folder: string): string {
  const command = ownCommand(resolve(folder));
  return `Next:
  put your images into clusters/prod/tools, your repository and the catalogue's database into skep.yaml
  (or remove clusters/prod/platform/catalogue.yaml: nothing else needs a database)
  cd ${quoteWord(folder)}
  ${command} validate .
  ${command} plan       (needs access to a cluster)
`;
}

export function initCommand(): Command {
  return new Command('init')
    .description('Create a config repository: manifests, a catalogue, policies, CI.')
    .argument('<folder>', 'folder of the repository; created if it does not exist. Nothing is overwritten')
    .option('--repository <url>', 'URL that the repository will have')
    .addHelpText('after', '\nExample:\n  skep init fleet --repository git@git.example.com:platform/fleet.git')
    .action(async (folder: string, { repository }: Options) => {
      const { scaffold } = await import('../scaffold.ts');
      const files = scaffold(folder, repository);
      process.stdout.write(`${files.map((file) => `${folder}/${file}\n`).join('')}\n${nextSteps(folder)}`);
    });
}
