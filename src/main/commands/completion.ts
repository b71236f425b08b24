// `skep completion`: what a shell needs to complete commands and options.

import { Argument, Command } from 'commander';
import type { Shell } from '../completion.ts';

export function completionCommand(): Command {
  return new Command('completion')
    .description('Print the completion of commands and options for a shell.')
    .addArgument(new Argument('<shell>', 'which').choices(['bash', 'zsh', 'fish']))
    .addHelpText(
      'after',
      '\nExamples:\n  source <(skep completion bash)\n  skep completion fish > ~/.config/fish/completions/skep.fish',
    )
    .action(async (shell: Shell, _flags: unknown, { parent }: Command) => {
      if (parent === null) return;
      const { completionFor } = await import('../completion.ts');
      process.stdout.write(completionFor(shell, parent));
    });
}
