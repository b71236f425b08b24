// How a client gets to a server: a command that it starts, or an address that it connects to. Made from the packages and
// remotes of a server.json (official schema 2025-12-11).

import type { Argument, Entry, Input, Package, Remote } from './entry.ts';
import { addressOf, type Blank, type Template, templateOf } from './template.ts';

export interface Command {
  readonly program: string;
  readonly args: readonly Template[];
  readonly environment: readonly Setting[];
  /** The same without a program, for what brings its own. */
  readonly subject: Subject;
}

/** What is started, whoever starts it. */
export interface Subject {
  readonly kind: 'npm' | 'pypi' | 'nuget' | 'oci';
  /** With its version. */
  readonly identifier: string;
  readonly args: readonly Template[];
  readonly environment: readonly Setting[];
  /** What the program needs to know to start this; no other program takes them. */
  readonly options: readonly Template[];
}

interface Setting {
  readonly name: string;
  readonly value: Template;
}

export type Launch =
  | { readonly kind: 'command'; readonly command: Command }
  | {
      readonly kind: 'address';
      readonly type: 'http' | 'sse';
      readonly url: Template;
      readonly headers: readonly Setting[];
      /** What must run before anything answers there. */
      readonly start?: Command;
    };

/** One way to run or reach a server; `launch` is undefined where there is no way to tell a client how. */
export interface Way {
  readonly label: string;
  readonly launch: Launch | undefined;
}

export function waysOf({ packages, remotes, args }: Entry): readonly Way[] {
  return [
    ...remotes.map((remote) => ({ label: `Remote: ${remote.url ?? remote.type}`, launch: launchOfRemote(remote) })),
    ...packages.map((pkg) => ({ label: `${pkg.registryType}: ${pkg.identifier}`, launch: launchOfPackage(pkg, args) })),
  ];
}

function launchOfRemote(remote: Remote): Launch | undefined {
  const url = addressOf(remote.url ?? '', remote.variables);
  const [start] = url ?? [];
  // An address may begin with a variable; otherwise it is one of the web or none at all.
  if (url === undefined || (typeof start === 'string' && !/^https?:\/\//i.test(start)) || start === undefined)
    return undefined;
  return {
    kind: 'address',
    type: remote.type === 'sse' ? 'sse' : 'http',
    url,
    headers: settings(remote.headers, /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/),
  };
}

/** `args`: of the container, where the package itself names none. */
function launchOfPackage(pkg: Package, args: readonly string[]): Launch | undefined {
  const command = commandOf(pkg, args);
  if (command === undefined) return undefined;
  if (pkg.transport.type === 'stdio') return { kind: 'command', command };
  const reached = launchOfRemote(pkg.transport);
  return reached?.kind === 'address' ? { ...reached, start: command } : undefined;
}

function commandOf(pkg: Package, ownArgs: readonly string[]): Command | undefined {
  const { registryType, identifier, version } = pkg;
  // One that begins with a dash would be an option of the program, and nothing real holds spaces or variables.
  if (!isPlain(identifier) || (version !== undefined && !isPlain(version))) return undefined;
  const environment = settings(pkg.environment, /^[A-Za-z_][A-Za-z0-9_.-]*$/);
  const runtime = pkg.runtimeArguments.flatMap(argument);
  const own = pkg.packageArguments.flatMap(argument);
  const versioned = version === undefined ? identifier : `${identifier}@${version}`;
  const subject = { identifier: versioned, args: own, environment, options: runtime };
  switch (registryType) {
    case 'npm':
      return {
        program: 'npx',
        args: [['-y'], ...runtime, [versioned], ...own],
        environment,
        subject: { ...subject, kind: registryType },
      };
    case 'pypi':
      return {
        program: 'uvx',
        args: [...runtime, [versioned], ...own],
        environment,
        subject: { ...subject, kind: registryType },
      };
    case 'nuget':
      return {
        program: 'dnx',
        args: [...runtime, [versioned], ['--yes'], ...(own.length > 0 ? [['--'], ...own] : [])],
        environment,
        subject: { ...subject, kind: registryType },
      };
    case 'oci':
      return containerCommand(pkg, environment, runtime, own.length > 0 ? own : ownArgs.flatMap(fixedArgument));
    default:
      return undefined;
  }
}

function containerCommand(
  pkg: Package,
  environment: readonly Setting[],
  runtime: readonly Template[],
  args: readonly Template[],
): Command {
  const ofMachine = environment.filter(({ name }) => OF_MACHINE.test(name));
  const handedOn = environment.filter(({ name }) => !OF_MACHINE.test(name));
  const passed = [
    ...handedOn.flatMap(({ name }): Template[] => [['-e'], [name]]),
    ...ofMachine.flatMap(({ name, value }): Template[] => [['-e'], [`${name}=`, ...value.map(ofContainer)]]),
  ];
  const image = imageOf(pkg);
  return {
    program: 'docker',
    args: [['run'], ['-i'], ['--rm'], ...published(pkg.transport), ...passed, ...runtime, [image], ...args],
    environment: handedOn,
    subject: {
      kind: 'oci',
      identifier: image,
      args,
      options: runtime,
      environment: [...handedOn, ...ofMachine.map(({ name, value }) => ({ name, value: value.map(ofContainer) }))],
    },
  };
}

/**
 * Variables that the programs of the reader's machine follow as well, `docker` first of all: a container gets its value in
 * its own arguments, and they never see it.
 */
const OF_MACHINE =
  /^(PATH|HOME|SHELL|USER|TMPDIR|IFS|ENV|GODEBUG|SSH_AUTH_SOCK|(HTTPS?|ALL|NO)_PROXY|(BASH|LD|DYLD|DOCKER|COMPOSE|BUILDKIT|XDG)_.*)$/i;

function ofContainer(part: string | Blank): string | Blank {
  return typeof part === 'string' ? part : { ...part, name: `CONTAINER_${part.name.toUpperCase()}` };
}

/** The port of an address on this machine, so that the container is reached there and from nowhere else. */
function published({ url }: Remote): readonly Template[] {
  const port = URL.parse(url ?? '')?.port ?? '';
  return port === '' ? [] : [['-p'], [`127.0.0.1:${port}:${port}`]];
}

/** The identifier has the tag, or older documents keep registry and version apart. */
function imageOf({ identifier, version }: Package): string {
  const tagged = identifier.includes('@') || lastPart(identifier).includes(':');
  return tagged || version === undefined ? identifier : `${identifier}:${version}`;
}

function lastPart(identifier: string): string {
  return identifier.slice(identifier.lastIndexOf('/') + 1);
}

function isPlain(text: string): boolean {
  return text !== '' && !text.startsWith('-') && !/[\s\p{Cc}$"'`\\]/u.test(text);
}

function argument(given: Argument): readonly Template[] {
  const value = templateOf(given);
  if (!given.named) return value === undefined ? [] : [value];
  // A flag without a value is written where the document fixes or requires it.
  const [name] = given.name === '' ? [] : fixedArgument(given.name);
  if (value === undefined || name === undefined) return [];
  return value.length === 0 ? [name] : [name, value];
}

/** As it stands; what no client may be given is left out. */
function fixedArgument(text: string): readonly Template[] {
  const value = addressOf(text, []);
  return value === undefined ? [] : [value];
}

/** Those that are to be written down, as far as their names can be names. */
function settings(inputs: readonly Input[], name: RegExp): readonly Setting[] {
  return inputs.flatMap((input) => {
    const value = name.test(input.name) ? templateOf(input) : undefined;
    return value === undefined ? [] : [{ name: input.name, value }];
  });
}
