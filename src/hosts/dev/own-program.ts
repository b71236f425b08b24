// Starts this program in place of skep's own image, for pods that a custom resource of skep owns. Each role
// (subcommand) accepts only certain arguments. Node.js lets the process read only this program, the folders of its pod
// and a kubeconfig, and lets it start no programs.

import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CALLS_NODE_OPTIONS, RUN_CONFIG_DIRECTORY, RUN_CONFIG_FILE, SCRATCH_PATH } from '#contracts/run-config.ts';
import { RUNNING_SERVERS_PATH } from '#contracts/running-servers.ts';
import { VMCP_CONFIG_DIRECTORY, VMCP_CONFIG_FILE } from '#contracts/vmcp-config.ts';
import type { Owner } from '#kubernetes/devcluster/controllers/owners.ts';
import type { Container, PodSpec } from '#kubernetes/devcluster/node/objects.ts';
import type { AdaptedFor, EntryPoint, ImageProgram, NotHere } from '#kubernetes/devcluster/node/ports.ts';
import { groupOf } from '#kubernetes/rules/object.ts';
import { isObject, parseJson } from '#std/json.ts';
import { relocateRunConfig } from './local-run-config.ts';
import { relocateVmcpConfig } from './local-vmcp-config.ts';

export interface OwnProgramOptions {
  /** Origin of the servers' URLs. */
  readonly origin: string;
  /** Path of the embedded cluster's kubeconfig. The file exists before the first pod starts. */
  readonly kubeconfig: string;
  /** Paths of Node.js and of this program. */
  readonly self: readonly [string, string];
  /** API group of skep's custom resources. */
  readonly apiGroup: string;
}

interface Role {
  /** Kinds of custom resources whose pods may run this role. */
  readonly kinds: readonly string[];
  /** Configuration file that the pod must mount. If not set, the role has no configuration. */
  readonly config?: { readonly directory: string; readonly file: string };
  /** Returns whether the argument is allowed. The argument `--config` is always allowed. */
  takes(argument: string): boolean;
}

const LOGGING = ['--debug', '--log-level=debug', '--log-level=info', '--log-level=warn', '--log-level=error'];

/** Roles (subcommands) that may run as processes of pods. */
const ROLES: Readonly<Record<string, Role>> = {
  proxy: {
    kinds: ['MCPServer', 'MCPRemoteProxy'],
    config: { directory: RUN_CONFIG_DIRECTORY, file: RUN_CONFIG_FILE },
    takes: (argument) => LOGGING.includes(argument),
  },
  vmcp: {
    kinds: ['VirtualMCPServer'],
    config: { directory: VMCP_CONFIG_DIRECTORY, file: VMCP_CONFIG_FILE },
    takes: (argument) => LOGGING.includes(argument) || /^--(host|port)=/.test(argument),
  },
  // All arguments are allowed: they only name a server and a folder, and the process is confined to the folders of its
  // pod.
  sample: { kinds: ['MCPServer'], takes: () => true },
};

export function ownProgram(
  options: OwnProgramOptions,
  container: Container,
  pod: PodSpec,
  owners: readonly Owner[],
): ImageProgram | NotHere {
  const [role = ''] = container.args ?? [];
  if (role === 'serve') return { absent: 'skep dev serves this registry itself' };
  const known = Object.hasOwn(ROLES, role) ? ROLES[role] : undefined;
  if (known === undefined) return { absent: `skep dev does not start skep ${role}` };
  const { config } = known;
  const fault = whyRefused(options, known, container, pod, owners);
  if (fault !== undefined) return { absent: `skep dev does not start skep ${role} here: ${fault}` };
  // A proxy attaches to pods, and a virtual server writes the states of its members to the cluster.
  const asksCluster = role !== 'sample' && pod.automountServiceAccountToken !== false;
  const own = asksCluster ? [options.kubeconfig] : [];
  return {
    command: async (_run, { folders }) => confinedCommand(options.self, folders, own),
    expected: EXPECTED,
    environment: async (): Promise<Record<string, string>> => ({
      ...(config === undefined ? {} : { NODE_OPTIONS: CALLS_NODE_OPTIONS }),
      ...(asksCluster ? { KUBECONFIG: options.kubeconfig } : {}),
    }),
    adaptFile: (name, text, place) => adaptOwnFile(options, name, text, place),
  };
}

/**
 * Variables that skep renders for the container: paths inside the container, and Node.js options for a process that
 * serves many calls.
 */
const EXPECTED = {
  HOME: SCRATCH_PATH,
  XDG_CONFIG_HOME: SCRATCH_PATH,
  NODE_OPTIONS: CALLS_NODE_OPTIONS,
};

/** Returns the reason why the container must not run as a process; undefined if skep may have rendered it. */
function whyRefused(
  { apiGroup }: OwnProgramOptions,
  { kinds, config, takes }: Role,
  container: Container,
  pod: PodSpec,
  owners: readonly Owner[],
): string | undefined {
  const owner = owners.find(({ apiVersion }) => groupOf(apiVersion) === apiGroup);
  if (owner === undefined) return `no ${kinds.join(' or ')} owns it. Declare one in place of the pod`;
  if (!kinds.includes(owner.kind)) return `its owner is ${owner.kind} ${owner.name}, not ${kinds.join(' or ')}`;
  if (container.command !== undefined) return 'the container sets a command in place of the entry point of the image';
  const [, ...given] = container.args ?? [];
  if (config === undefined) return undefined;
  const expected = `--config=${config.directory}/${config.file}`;
  const others = given.filter((argument) => argument !== expected);
  const wrong = others.find((argument) => !takes(argument));
  if (wrong !== undefined) return `its argument ${wrong} is not one that ${owner.kind} sets`;
  if (given.length - others.length !== 1) return `its arguments do not name the configuration once: ${expected}`;
  return mountsConfig(container, pod, config.directory) ? undefined : `${config.directory} is not a mounted ConfigMap`;
}

/** Returns true if a ConfigMap is mounted at the folder, and no other volume is mounted at or below the folder. */
function mountsConfig({ volumeMounts = [] }: Container, { volumes = [] }: PodSpec, directory: string): boolean {
  const [mount, ...others] = volumeMounts.filter(({ mountPath }) => `${mountPath}/`.startsWith(`${directory}/`));
  if (mount?.mountPath !== directory || mount.subPath !== undefined || others.length > 0) return false;
  const volume = volumes.find(({ name }) => name === mount.name);
  return volume?.configMap !== undefined && volume.configMap.items === undefined;
}

/**
 * Returns a command that makes Node.js refuse to start programs and to open other files (Node.js documentation,
 * "Permissions").
 */
function confinedCommand(
  [node, script]: readonly [string, string],
  folders: readonly string[],
  files: readonly string[],
): EntryPoint {
  const readable = [...PROGRAM_FOLDERS, ...withRealPaths([...folders, ...files])];
  return [
    node,
    '--permission',
    ...readable.map((path) => `--allow-fs-read=${path}`),
    ...withRealPaths(folders).map((path) => `--allow-fs-write=${path}`),
    // npm installs the program as a link.
    realpathSync(script),
  ];
}

/** Adds the real path of each path, because Node.js resolves links. */
function withRealPaths(paths: readonly string[]): readonly string[] {
  return [...new Set(paths.flatMap((path) => [path, realpathSync(path)]))];
}

/** The path is the same from `src/hosts/dev/` and `dist/hosts/dev/`. */
const PACKAGE = fileURLToPath(new URL('../../..', import.meta.url));
/** Folders of the package and of its dependencies. They may be links, or belong to a parent package. */
const PROGRAM_FOLDERS = withRealPaths([PACKAGE, ...dependencyFolders(realpathSync(PACKAGE))]);

function dependencyFolders(folder: string): readonly string[] {
  const own = join(folder, 'node_modules');
  const above = dirname(folder);
  return [...(existsSync(own) ? [own] : []), ...(above === folder ? [] : dependencyFolders(above))];
}

/**
 * Returns the text adapted to this machine. Throws if the configuration does not belong to the custom resource that
 * owns the pod.
 */
async function adaptOwnFile(
  { origin, apiGroup }: OwnProgramOptions,
  file: string,
  text: string,
  { pod, addresses, owners, fileOwners }: AdaptedFor,
): Promise<string> {
  if (file !== RUN_CONFIG_FILE && file !== VMCP_CONFIG_FILE) return text;
  const owner = owners.find(({ apiVersion }) => groupOf(apiVersion) === apiGroup);
  if (owner === undefined || !fileOwners.some(({ uid }) => uid === owner.uid)) {
    throw new Error(
      `the ConfigMap with ${file} does not belong to ${owner?.kind} ${owner?.name}: another program wrote it`,
    );
  }
  const urlOf = (server: unknown) => `${origin}${RUNNING_SERVERS_PATH}/${pod.metadata.namespace}/${server}`;
  if (file === VMCP_CONFIG_FILE) return relocateVmcpConfig(file, text, urlOf, addresses.apiServer()) ?? text;
  const config = parseJson(text);
  const url = urlOf(isObject(config) ? config.name : undefined);
  return (await relocateRunConfig(file, text, { addresses, url })) ?? text;
}
