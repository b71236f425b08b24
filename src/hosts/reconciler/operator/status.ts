// Reads the state of an instance for an operator, even if the database or the cluster is unavailable.

import { readFile } from 'node:fs/promises';
import type { LastLook } from '#reconciler/report/status.ts';
import type { RunRecord } from '#reconciler/run/history/ports.ts';
import { type InstanceStatus, readInstanceStatus, unknownStatus } from '#reconciler/run/operate/status.ts';
import { Failure } from '#std/failure.ts';
import { isObject } from '#std/json.ts';
import type { Config } from '../../config/config.ts';
import type { Instance } from '../instance/instance.ts';
import { findPauseNow } from '../instance/paused-now.ts';
import { lastRunFile } from '../instance/recorder.ts';

export interface OperatorStatus {
  readonly status: InstanceStatus;
  readonly lastLook: LastLook | undefined;
}

/** Reads all parts of the status. If the database or the cluster is unavailable, returns the other parts. */
export async function readOperatorStatus(instance: Instance, config: Config): Promise<OperatorStatus> {
  const status = await readStatus(instance, config);
  return { status, lastLook: await readLastLook(lastRunFile(config)) };
}

async function readStatus(instance: Instance, config: Config): Promise<InstanceStatus> {
  const { paused } = await findPauseNow(config, {});
  const read = await readHistory(instance, config.history.limit);
  const history = read instanceof Failure ? [] : read;
  const unread = read instanceof Failure ? [read] : [];
  const deps = { ...instance.deps, history };
  const options = instance.options();
  try {
    const status = await readInstanceStatus(deps, options, paused);
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

/**
 * Returns undefined if the file is missing or invalid. It is missing if no run was made, or if another machine runs the
 * instance.
 */
async function readLastLook(path: string): Promise<LastLook | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (!isObject(value) || typeof value.id !== 'string' || typeof value.finishedAt !== 'string') return undefined;
    return { id: value.id, finishedAt: value.finishedAt };
  } catch {
    return undefined;
  }
}
