// Gives advice to people who know other tools. If no cluster is found, gives advice about the cluster of `skep dev`.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isAboutDev } from '#hosts/config/configuration.ts';

/** Advice by name of another tool's command. */
const COMMANDS: Readonly<Record<string, string>> = {
  app: 'skep status shows the state of the fleet, and skep sync applies the manifests in Git',
  create: 'commit a manifest; the next run creates its objects',
  delete: 'remove the manifest from Git; the next run deletes its objects',
  describe: 'skep status shows the state of each resource, and kubectl describe shows one',
  diff: 'skep plan shows the changes of a sync',
  doctor: 'skep validate checks manifests, and skep status shows the problems of the fleet',
  edit: 'change the manifest in Git; the next run applies it',
  get: 'skep status shows the state of the fleet, and kubectl get lists its objects',
  lint: 'skep validate checks manifests',
  list: 'skep status lists the resources of the fleet, and skep history its runs',
  logs: 'kubectl logs has the logs of pods, and skep history lists the runs',
  reconcile: 'skep sync makes one run, and skep run makes runs continuously',
  start: 'skep dev starts a fleet on this machine, and skep run the reconciler',
  up: 'skep dev starts a fleet on this machine',
  version: 'skep --version prints it',
};

/** Advice by name of another tool's option. */
const OPTIONS: Readonly<Record<string, string>> = {
  '-f': 'manifests are read from Git; validate takes paths without an option, and apply a file of skep plan',
  '-n': 'resources are named as NAMESPACE/NAME',
  '--namespace': 'resources are named as NAMESPACE/NAME',
  '--token': 'write the token into a file, and name it with --token-file',
  '--watch': 'skep validate --watch follows manifests, and kubectl get --watch the cluster',
  '-w': 'skep validate --watch follows manifests, and kubectl get --watch the cluster',
};

/** Returns the advice about a command; undefined for a name that is not in `COMMANDS`. */
export function commandAdvice(name: string): string | undefined {
  return Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
}

/** Adds advice to a message of commander about an unknown option. */
export function withOptionAdvice(message: string): string {
  const [, option = ''] = /unknown option '([^']+)'/.exec(message) ?? [];
  const advice = Object.hasOwn(OPTIONS, option) ? OPTIONS[option] : undefined;
  return advice === undefined ? message : message.replace(/\n?$/, `: ${advice}\n`);
}

const STATE = '.skep';

/**
 * Returns advice after a Failure of the cluster or database: to select the configuration of `skep dev`, or to start it.
 * Returns undefined if neither the command nor the working directory refers to `skep dev`.
 */
export function devAdvice(code: string, words: readonly string[]): string | undefined {
  if (code === 'cluster-config-invalid') {
    const files = devConfigurations();
    const named = files.map((file) => `-c ${file}`).join(' or ');
    return files.length === 0
      ? undefined
      : `skep dev runs a fleet of this folder in its own cluster: select it with ${named}`;
  }
  if (code !== 'cluster-unreachable' && code !== 'database-unreachable') return undefined;
  const isNamed = words.some((word) => word.includes(join(STATE, 'dev')));
  const isOther = words.some((word) => /^(-c|--config|--kubeconfig)(=|$)/.test(word));
  return isNamed || (!isOther && isAboutDev())
    ? 'skep dev does not run here: start it again (npm start, or skep dev)'
    : undefined;
}

/** Returns the configuration files of `skep dev` below the working directory. */
function devConfigurations(): readonly string[] {
  const folders = existsSync(STATE) ? readdirSync(STATE) : [];
  const files = folders.filter((name) => /^dev(-|$)/.test(name)).map((name) => join(STATE, name, 'skep.yaml'));
  return files.filter((file) => existsSync(file));
}
