// Derives from a server.json (official schema 2025-12-11) how clients can use a server: by a command that they start,
// or by a URL.

import type { Argument, Entry, Input, Package, Remote } from './entry.ts';
import { addressOf, type Blank, type Template, templateOf } from './template.ts';

export interface Command {
  readonly program: string;
  readonly args: readonly Template[];
  readonly environment: readonly Setting[];
  /** The package without the program that runs it, for clients that run packages themselves. */
  readonly subject: Subject;
}

/** A package to run. */
export interface Subject {
  readonly kind: 'npm' | 'pypi' | 'nuget' | 'oci';
  /** Identifier with the version. */
  readonly identifier: string;
  readonly args: readonly Template[];
  readonly environment: readonly Setting[];
  /** Options for `Command.program` itself. Other programs that run packages do not accept them. */
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
      /** Command that must run before the URL can be reached. */
      readonly start?: Command;
    };

/** One way to run or reach a server. `launch` is undefined if no client configuration can express it. */
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
  // A URL may begin with a variable. Otherwise it must be an http or https URL.
  if (url === undefined || (typeof start === 'string' && !/^https?:\/\//i.test(start)) || start === undefined)
    return undefined;
  return {
    kind: 'address',
    type: remote.type === 'sse' ? 'sse' : 'http',
    url,
    headers: settings(remote.headers, /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/),
  };
}

/** `args` are the container's arguments, used if the package has none. */
function launchOfPackage(pkg: Package, args: readonly string[]): Launch | undefined {
  const command = commandOf(pkg, args);
  if (command === undefined) return undefined;
  if (pkg.transport.type === 'stdio') return { kind: 'command', command };
  const reached = launchOfRemote(pkg.transport);
  return reached?.kind === 'address' ? { ...reached, start: command } : undefined;
}

function commandOf(pkg: Package, ownArgs: readonly string[]): Command | undefined {
  const { registryType, identifier, version } = pkg;
  // A leading dash would make the identifier an option of the program. Real identifiers contain no spaces or variables.
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
 * Variables that programs on the reader's machine also read, especially `docker`. The container gets their values in
 * its own arguments, so that these programs do not see them.
 */
const OF_MACHINE =
  /^(PATH|HOME|SHELL|USER|TMPDIR|IFS|ENV|GODEBUG|SSH_AUTH_SOCK|(HTTPS?|ALL|NO)_PROXY|(BASH|LD|DYLD|DOCKER|COMPOSE|BUILDKIT|XDG)_.*)$/i;

function ofContainer(part: string | Blank): string | Blank {
  return typeof part === 'string' ? part : { ...part, name: `CONTAINER_${part.name.toUpperCase()}` };
}

/** Returns the options that publish the port on the loopback address only. */
function published({ url }: Remote): readonly Template[] {
  const port = URL.parse(url ?? '')?.port ?? '';
  return port === '' ? [] : [['-p'], [`127.0.0.1:${port}:${port}`]];
}

/** Returns the image. In older documents, the identifier does not contain the tag, and `version` does. */
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
  // Without a value in the document, a required argument gets a blank, and any other is left out.
  const [name] = given.name === '' ? [] : fixedArgument(given.name);
  if (value === undefined || name === undefined) return [];
  return value.length === 0 ? [name] : [name, value];
}

/** Returns the argument unchanged. Returns an empty list if clients must not get the argument. */
function fixedArgument(text: string): readonly Template[] {
  const value = addressOf(text, []);
  return value === undefined ? [] : [value];
}

/** Returns the settings with valid names. Leaves out optional settings without a value. */
function settings(inputs: readonly Input[], name: RegExp): readonly Setting[] {
  return inputs.flatMap((input) => {
    const value = name.test(input.name) ? templateOf(input) : undefined;
    return value === undefined ? [] : [{ name: input.name, value }];
  });
}
