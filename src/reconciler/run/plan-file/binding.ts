// Checks that a plan file was created for this instance and cluster, with this build of skep and these settings.
// Otherwise the same commits could lead to other rendered objects.

import { Failure } from '#std/failure.ts';
import type { Cluster } from '../ports.ts';
import { isQuarantined, type Quarantine } from '../records/quarantine.ts';
import type { PlanFile } from './format.ts';
import type { PlanBinding } from './plan-file.ts';

/**
 * Returns the uid of the home namespace, which identifies the cluster, because clusters have no names. Throws Failure
 * `plan-homeless` if the namespace does not exist.
 */
export async function identifyCluster(
  cluster: Pick<Cluster, 'get'>,
  homeNamespace: string,
): Promise<PlanFile['cluster']> {
  const namespace = await cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: homeNamespace });
  const uid = namespace?.metadata.uid;
  if (uid !== undefined) return { homeNamespace, uid };
  throw new Failure('plan-homeless', `namespace ${homeNamespace}, the home of the instance, does not exist`);
}

/**
 * Throws Failure `plan-expired` for an old plan. If people undid its changes, an old plan would match the cluster
 * again.
 */
export function checkAge({ createdAt }: Pick<PlanFile, 'createdAt'>, now: number, expiresHours: number): void {
  const hours = (now - Date.parse(createdAt)) / 3_600_000;
  if (hours <= expiresHours) return;
  const message = `the plan was made ${Math.floor(hours)} hours ago, and plans.expiresHours is ${expiresHours}: plan again`;
  throw new Failure('plan-expired', message);
}

/**
 * Throws Failure `plan-rolled-back` if a source was rolled back after the plan was created, or if the plan has a commit
 * that a rollback excludes. The next run would revert the changes of the plan.
 */
export function checkRollback(file: Pick<PlanFile, 'createdAt' | 'sources'>, { entries }: Quarantine): void {
  for (const { name, commit } of file.sources) {
    const entry = entries.get(name);
    if (entry === undefined || commit === entry.good) continue;
    const earlier = Date.parse(file.createdAt) <= Date.parse(entry.since);
    if (!earlier && !isQuarantined(entry, commit)) continue;
    const [there, good] = [commit, entry.good].map((each) => each.slice(0, 10));
    const message = `source ${name} was rolled back to ${good} at ${entry.since}, and the plan is of ${there}, which came before that: plan again, or end the rollback (skep rollback --clear)`;
    throw new Failure('plan-rolled-back', message);
  }
}

/**
 * Throws Failure `plan-foreign` for another instance or cluster, `plan-mismatch` for another build or other settings.
 */
export function checkBinding(file: PlanFile, here: PlanBinding): void {
  if (file.instance !== here.instance) {
    throw foreign(`the file is for instance "${file.instance}", and this is instance "${here.instance}"`);
  }
  if (file.cluster.homeNamespace !== here.cluster.homeNamespace) {
    const [theirs, ours] = [file.cluster.homeNamespace, here.cluster.homeNamespace];
    throw foreign(`the home namespace of its instance is ${theirs}, and the home namespace here is ${ours}`);
  }
  if (file.cluster.uid !== here.cluster.uid) {
    throw foreign(`the file is for another cluster: namespace ${here.cluster.homeNamespace} had another uid there`);
  }
  if (file.tool.digest !== here.tool.digest) {
    throw mismatch(
      `the file was created by ${file.tool.name}, and this is another build (${here.tool.name}): use the same build`,
    );
  }
  const names = [...new Set([...Object.keys(file.settings), ...Object.keys(here.settings)])].sort();
  const differing = names.filter((name) => file.settings[name] !== here.settings[name]);
  if (differing.length > 0)
    throw mismatch(`these settings have changed since the file was created: ${differing.join(', ')}`);
}

function foreign(reason: string): Failure {
  return new Failure('plan-foreign', `the plan is not for here: ${reason}`);
}

function mismatch(reason: string): Failure {
  return new Failure('plan-mismatch', `the plan would be rendered otherwise here: ${reason}`);
}
