// Builds the command with which ToolHive's CLI runs or reaches a server
// (https://docs.stacklok.com/toolhive/reference/cli/thv_run).

import { type Configuration, configurationKey } from './configuration.ts';
import type { Launch, Subject } from './launch.ts';
import { shellName, shellWord } from './shell.ts';
import type { Template } from './template.ts';

/**
 * Schemes of ToolHive's CLI for packages. The CLI builds an image for npm and PyPI packages. The CLI supports no NuGet
 * packages.
 */
const THV_SCHEMES: Readonly<Record<Subject['kind'], string | undefined>> = {
  npm: 'npx://',
  pypi: 'uvx://',
  nuget: undefined,
  oci: '',
};

/** Returns a line for a POSIX shell. Returns undefined if ToolHive's CLI does not support the package. */
export function configureThv(server: string, launch: Launch): Configuration | undefined {
  const name: Template[] = [['--name'], [configurationKey(server).toLowerCase()]];
  const command = launch.kind === 'command' ? launch.command : launch.start;
  const words = command === undefined ? thvRemote(launch) : thvWorkload(command.subject, launch);
  if (words === undefined) return undefined;
  const all = [['thv'], ['run'], ...name, ...words] as readonly Template[];
  const blanks = all.flat().filter((part) => typeof part !== 'string');
  const variables = new Map(blanks.map((blank) => [shellName(blank.name), { ...blank, name: shellName(blank.name) }]));
  return { text: all.map(shellWord).join(' '), variables: [...variables.values()] };
}

function thvRemote(launch: Launch): readonly Template[] | undefined {
  if (launch.kind === 'command') return undefined;
  const headers = launch.headers.flatMap(({ name, value }): Template[] => [
    ['--remote-forward-headers'],
    [`${name}=`, ...value],
  ]);
  return [['--transport'], [thvTransport(launch)], ...headers, launch.url];
}

function thvWorkload(
  { kind, identifier, args, environment, options }: Subject,
  launch: Launch,
): readonly Template[] | undefined {
  const scheme = THV_SCHEMES[kind];
  // The CLI cannot express runtime options: without a required mount, a server would start without its data.
  if (scheme === undefined || options.length > 0) return undefined;
  const settings = environment.flatMap(({ name, value }): Template[] => [['-e'], [`${name}=`, ...value]]);
  const rest: Template[] = args.length === 0 ? [] : [['--'], ...args];
  return [
    ['--transport'],
    [thvTransport(launch)],
    ...thvPort(launch),
    ...settings,
    [`${scheme}${identifier}`],
    ...rest,
  ];
}

function thvPort(launch: Launch): readonly Template[] {
  const [address] = launch.kind === 'address' ? launch.url : [];
  const port = typeof address === 'string' ? URL.parse(address)?.port : undefined;
  return port === undefined || port === '' ? [] : [['--target-port'], [port]];
}

function thvTransport(launch: Launch): string {
  if (launch.kind === 'command') return 'stdio';
  return launch.type === 'sse' ? 'sse' : 'streamable-http';
}
