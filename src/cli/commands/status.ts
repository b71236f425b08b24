// `skep status`: shows the state of an instance, even if no process runs it.

import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { writeReport } from '#hosts/colour.ts';
import type { Config } from '#hosts/config/config.ts';
import { type InstanceFlags, loadConfig, outputOption, withInstanceFlags } from '#hosts/config/configuration.ts';
import { commandOf } from '#hosts/own-command.ts';
import type { Instance } from '#hosts/reconciler/instance/instance.ts';
import { findPauseNow } from '#hosts/reconciler/instance/paused-now.ts';
import type { LastLook } from '#reconciler/report/status.ts';
import type { RunRecord } from '#reconciler/run/history/ports.ts';
import type { InstanceStatus } from '#reconciler/run/operate/status.ts';
import { Failure } from '#std/failure.ts';
import { isObject } from '#std/json.ts';
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
      const [{ openForOperator }, { lastRunFile }, { jsonOfStatus, textOfStatus }] = await Promise.all([
        import('#hosts/reconciler/instance/instance.ts'),
        import('#hosts/reconciler/instance/recorder.ts'),
        import('#reconciler/report/status.ts'),
      ]);
      const instance = await openForOperator(config);
      try {
        const status = await readStatus(instance, config);
        const lastLook = await readLastLook(lastRunFile(config));
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

/** Reads all parts of the status. If the database or the cluster is unavailable, the other parts are still shown. */
async function readStatus(instance: Instance, config: Config): Promise<InstanceStatus> {
  const { readInstanceStatus: statusOf, unknownStatus } = await import('#reconciler/run/operate/status.ts');
  const { paused } = await findPauseNow(config, {});
  const read = await readHistory(instance, config.history.limit);
  const history = read instanceof Failure ? [] : read;
  const unread = read instanceof Failure ? [read] : [];
  const deps = { ...instance.deps, history };
  const options = instance.options();
  try {
    const status = await statusOf(deps, options, paused);
    return { ...status, failures: [...status.failures, ...unread] };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return unknownStatus(deps, options, [error, ...unread.filter((failure) => failure.message !== error.message)]);
  }
}

async function readHistory({ history }: Instance, limit: number): Promise<readonly RunRecord[] | Failure> {
  try {
    return await history.latest(limit);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return error;
  }
}

/** Returns undefined if the file does not exist: another machine runs the instance, or no run was made yet. */
async function readLastLook(path: string): Promise<LastLook | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (!isObject(value) || typeof value.id !== 'string' || typeof value.finishedAt !== 'string') return undefined;
    return { id: value.id, finishedAt: value.finishedAt };
  } catch {
    return undefined;
  }
}
