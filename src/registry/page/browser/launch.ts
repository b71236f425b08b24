// Finds the ways to use a server: a command that a client starts, or an address to which it connects. They follow from
// the packages and remotes of a server.json (official schema 2025-12-11).

import type { Argument, Entry, Input, Package, Remote } from './entry.ts';
import { addressOf, type Blank, type Template, templateOf } from './template.ts';

export interface Command {
  readonly program: string;
  readonly args: readonly Template[];
  readonly environment: readonly Setting[];
  /** The package without the program that starts it, for clients that have a program of their own. */
  readonly subject: Subject;
}

/** The package to start, with any program. */
export interface Subject {
  readonly kind: 'npm' | 'pypi' | 'nuget' | 'oci';
  /** Includes the version. */
  readonly identifier: string;
  readonly args: readonly Template[];
  readonly environment: readonly Setting[];
  /** Options of the program that starts this package; other programs do not accept them. */
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
      /** The command that must run before the address can be reached. */
      readonly start?: Command;
    };

/** One way to run or reach a server; `launch` is undefined if it cannot be expressed in a client's configuration. */
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
  // An address may begin with a variable; otherwise it must be an address of the web.
  if (url === undefined || (typeof start === 'string' && !/^https?:\/\//i.test(start)) || start === undefined)
    return undefined;
  return {
    kind: 'address',
    type: remote.type === 'sse' ? 'sse' : 'http',
    url,
    headers: settings(remote.headers, /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/),
  };
}

/** `args`: arguments of the container, if the package itself has none. */
function launchOfPackage(pkg: Package, args: readonly string[]): Launch | undefined {
  const command = commandOf(pkg, args);
  if (command === undefined) return undefined;
  if (pkg.transport.type === 'stdio') return { kind: 'command', command };
  const reached = launchOfRemote(pkg.transport);
  return reached?.kind === 'address' ? { ...reached, start: command } : undefined;
}

function commandOf(pkg: Package, ownArgs: readonly string[]): Command | undefined {
  const { registryType, identifier, version } = pkg;
  // An identifier that begins with a dash would be an option of the program, and real identifiers contain no spaces or
  // variables.
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
 * Variables that programs on the reader's machine read as well, above all `docker`. A container gets such a value in
 * its own arguments, so these programs never see it.
 */
const OF_MACHINE =
  /^(PATH|HOME|SHELL|USER|TMPDIR|IFS|ENV|GODEBUG|SSH_AUTH_SOCK|(HTTPS?|ALL|NO)_PROXY|(BASH|LD|DYLD|DOCKER|COMPOSE|BUILDKIT|XDG)_.*)$/i;

function ofContainer(part: string | Blank): string | Blank {
  return typeof part === 'string' ? part : { ...part, name: `CONTAINER_${part.name.toUpperCase()}` };
}

/** Publishes the port of an address on this machine only, so that the container cannot be reached from elsewhere. */
function published({ url }: Remote): readonly Template[] {
  const port = URL.parse(url ?? '')?.port ?? '';
  return port === '' ? [] : [['-p'], [`127.0.0.1:${port}:${port}`]];
}

/** Returns the image: the identifier contains the tag, or in older documents registry and version are separate. */
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
  // A flag without a value is written if the document fixes or requires it.
  const [name] = given.name === '' ? [] : fixedArgument(given.name);
  if (value === undefined || name === undefined) return [];
  return value.length === 0 ? [name] : [name, value];
}

/** Returns the argument unchanged, or nothing if it must not be given to a client. */
function fixedArgument(text: string): readonly Template[] {
  const value = addressOf(text, []);
  return value === undefined ? [] : [value];
}

/** Returns the settings to write down, if their names are valid. */
function settings(inputs: readonly Input[], name: RegExp): readonly Setting[] {
  return inputs.flatMap((input) => {
    const value = name.test(input.name) ? templateOf(input) : undefined;
    return value === undefined ? [] : [{ name: input.name, value }];
  });
}
