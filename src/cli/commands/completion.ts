// `skep completion`: prints the script with which a shell completes commands and options.

import { Argument, Command } from 'commander';
import { COMPLETIONS } from '../completion.ts';

export function completionCommand(): Command {
  return new Command('completion')
    .description('Print the completion of commands and options for a shell.')
    .addArgument(new Argument('<shell>', 'which').choices(Object.keys(COMPLETIONS)))
    .addHelpText(
      'after',
      '\nExamples:\n  skep completion fish > ~/.config/fish/completions/skep.fish\n  source <(skep completion bash)',
    )
    .action((shell: keyof typeof COMPLETIONS, _flags: unknown, { parent }: Command) => {
      if (parent !== null) process.stdout.write(COMPLETIONS[shell](parent));
    });
}
