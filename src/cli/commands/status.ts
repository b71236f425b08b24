// `skep status`: shows the state of an instance, even if no process runs it.

import { Command } from 'commander';
import { writeReport } from '#hosts/colour.ts';
import { type InstanceFlags, loadConfig, outputOption, withInstanceFlags } from '#hosts/config/configuration.ts';
import { commandOf } from '#hosts/own-command.ts';
import { devAdvice } from '../advice.ts';
import { chooseTimes } from '../times.ts';

interface Options extends InstanceFlags {
  readonly output: 'text' | 'json';
}

export function statusCommand(): Command {
  return withInstanceFlags(new Command('status'))
    .description(
      'Show objects that differ from Git, are kept unchanged, are waiting or have problems, since when and why.',
    )
    .addOption(outputOption())
    .addHelpText(
      'after',
      '\nReads Git and the cluster itself, and writes nothing: no reconciler needs to be running.\n' +
        '\nExamples:\n  skep status -c skep.yaml\n  skep status -o json',
    )
    .action(async (flags: Options) => {
      const config = await loadConfig(flags);
      const [{ openForOperator }, { readOperatorStatus }, { jsonOfStatus, textOfStatus }] = await Promise.all([
        import('#hosts/reconciler/instance/instance.ts'),
        import('#hosts/reconciler/operator/status.ts'),
        import('#reconciler/report/status.ts'),
      ]);
      const instance = await openForOperator(config);
      try {
        const { status, lastLook } = await readOperatorStatus(instance, config);
        const isJson = flags.output === 'json';
        const report = isJson
          ? jsonOfStatus(status, lastLook)
          : textOfStatus(status, lastLook, commandOf(flags), chooseTimes());
        writeReport(flags.output, report);
        const advice = status.failures
          .map(({ code }) => devAdvice(code, process.argv))
          .find((each) => each !== undefined);
        if (advice !== undefined) process.stderr.write(`${advice}\n`);
        process.exitCode = status.failures.length > 0 ? 1 : 0;
      } finally {
        await instance.close();
      }
    });
}
