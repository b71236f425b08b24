// What images stand for on the machine of `skep dev`: our own is this very program, others what the user says. Nothing else
// runs. Knows nothing about processes.

import { RUN_CONFIG_FILE } from '../../contracts/run-config.ts';
import { RUNNING_SERVERS_PATH } from '../../contracts/running-servers.ts';
import type { Container, PodSpec } from '../../devcluster/node/objects.ts';
import type { AdaptedFor, FindProgram, NotHere, Program } from '../../devcluster/node/ports.ts';
import { globMatches, parseGlob } from '../../std/glob.ts';
import { isObject } from '../../std/json.ts';
import type { ImageRule } from '../config/dev.ts';
import { relocateRunConfig } from './local-run-config.ts';
import { relocateVmcpConfig } from './local-vmcp-config.ts';
import type { PackagePrograms } from './package-programs.ts';

export interface ProgramOptions {
  /** Beside which the servers have their URLs. */
  readonly origin: string;
  /** Of the embedded cluster; there once pods are. */
  readonly kubeconfig: string;
  /** Program and first arguments of this very program. */
  readonly self: readonly [string, ...string[]];
  /** Images that are this program, beside those of every release. */
  readonly ownImages: readonly string[];
  /** The first that fits counts. */
  readonly rules: readonly ImageRule[];
  /** Of the catalogue; absent: none may run. */
  readonly packages?: Pick<PackagePrograms, 'find'>;
}

/** Of our own image, as far as they run in processes of their own. */
const ROLES: readonly string[] = ['proxy', 'vmcp', 'sample'];
/** Whatever its tag says, there is one version on this machine. */
const RELEASED = /^(ghcr\.io\/skep-dev\/)?skep[:@]/;

export function findPrograms(options: ProgramOptions): FindProgram {
  const rules = options.rules.flatMap(({ image, command: [program = '', ...args] }) => {
    const glob = parseGlob(image);
    const command: [string, ...string[]] = [program, ...args];
    return glob === undefined ? [] : [{ glob, command }];
  });
  return (container, pod) => {
    const { image } = container;
    const rule = rules.find(({ glob }) => globMatches(glob, image));
    if (rule !== undefined) return { command: rule.command };
    if (RELEASED.test(image) || options.ownImages.includes(image)) return ownProgram(options, container, pod);
    if (options.packages !== undefined) return options.packages.find(container);
    return {
      absent: `skep dev knows no program for image ${image}, so nothing runs: name one in dev.images of skep.yaml`,
    };
  };
}

function ownProgram(
  { self, origin, kubeconfig }: ProgramOptions,
  { args = [] }: Container,
  pod: PodSpec,
): Program | NotHere {
  const [role = ''] = args;
  if (role === 'serve') return { absent: 'skep dev serves this registry itself' };
  if (!ROLES.includes(role)) return { absent: `skep dev does not start skep ${role}` };
  // A proxy attaches to its server, a virtual server writes how its members are.
  const asksCluster = role !== 'sample' && pod.automountServiceAccountToken !== false;
  return {
    command: self,
    environment: async (): Promise<Record<string, string>> => (asksCluster ? { KUBECONFIG: kubeconfig } : {}),
    adaptFile: (name, text, place) => adaptOwnFile(origin, name, text, place),
  };
}

async function adaptOwnFile(
  origin: string,
  file: string,
  text: string,
  { pod, addresses }: AdaptedFor,
): Promise<string> {
  const urlOf = (server: unknown) => `${origin}${RUNNING_SERVERS_PATH}/${pod.metadata.namespace}/${server}`;
  if (file !== RUN_CONFIG_FILE) return relocateVmcpConfig(file, text, urlOf) ?? text;
  const config: unknown = JSON.parse(text);
  const url = urlOf(isObject(config) ? config.name : undefined);
  return (await relocateRunConfig(file, text, { addresses, url })) ?? text;
}
