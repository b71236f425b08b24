// The configuration files of MCP clients, ready to be pasted. Knows no DOM. Sources: the clients' documentation of
// VS Code's mcp.json and its install links, Claude Code's .mcp.json, Claude Desktop's claude_desktop_config.json, Cursor's
// mcp.json and its deep links, Windsurf's mcp_config.json, Zed's settings.json, ToolHive's
// thv run.

import { lastSegment } from './entry.ts';
import type { Command, Launch, Subject } from './launch.ts';
import type { Blank, Template } from './template.ts';

export interface Client {
  readonly name: string;
  /** Where the text goes. */
  readonly file: string;
  /** Undefined where it cannot run the server this way. */
  readonly configure: (server: string, launch: Launch) => Configuration | undefined;
  /** It starts what listens by itself. */
  readonly starts?: true;
  /** A link that has the client ask whether to install it; undefined where this way has none. */
  readonly install?: (server: string, launch: Launch) => string | undefined;
}

export interface Configuration {
  readonly text: string;
  /** Environment variables that must be set where the client runs. */
  readonly variables: readonly Blank[];
}

const CLAUDE_CODE: Client = {
  name: 'Claude Code',
  file: '.mcp.json',
  configure: (server, launch) => forVariables(server, launch, (name) => `\${${name}}`, 'typed'),
};

export const CLIENTS: readonly Client[] = [
  { name: 'VS Code', file: '.vscode/mcp.json', configure: forVsCode, install: linkForVsCode },
  CLAUDE_CODE,
  {
    name: 'Cursor',
    file: '.cursor/mcp.json',
    configure: (server, launch) => forVariables(server, launch, (name) => `\${env:${name}}`, 'untyped'),
    install: linkForCursor,
  },
  {
    name: 'Claude Desktop',
    file: 'claude_desktop_config.json',
    configure: (server, launch) => forFilledIn(server, bridged(launch)),
  },
  {
    name: 'Windsurf',
    file: '~/.codeium/windsurf/mcp_config.json',
    configure: (server, launch) =>
      forVariables(server, launch, (name) => `\${env:${name}}`, 'untyped', { members: 'mcpServers', url: 'serverUrl' }),
  },
  {
    name: 'Zed',
    file: 'settings.json',
    configure: (server, launch) => forFilledIn(server, launch, 'context_servers'),
  },
  { name: 'thv', file: 'A terminal', starts: true, configure: forThv },
];

/** What is blank is to be written into the file by hand: these clients know no variables. */
function forFilledIn(server: string, launch: Launch, membersName = 'mcpServers'): Configuration {
  const write = ({ name }: Blank) => `<${name}>`;
  const definition = define(launch, 'untyped', write);
  return { text: pretty({ [membersName]: { [configurationKey(server)]: definition } }), variables: [] };
}

/** Claude Desktop starts programs only; this one passes on what is said over HTTP. */
function bridged(launch: Launch): Launch {
  if (launch.kind === 'command') return launch;
  const { url, headers } = launch;
  const passed = headers.flatMap(({ name, value }): Template[] => [['--header'], [`${name}:`, ...value]]);
  return {
    kind: 'command',
    command: {
      program: 'npx',
      args: [['-y'], ['mcp-remote'], url, ...passed],
      environment: [],
      subject: { kind: 'npm', identifier: 'mcp-remote', args: [url, ...passed], environment: [] },
    },
  };
}

/** https://code.visualstudio.com/docs/copilot/customization/mcp-servers: the same definition, in the address. */
function linkForVsCode(server: string, launch: Launch): string | undefined {
  const { inputs = [], servers } = JSON.parse(forVsCode(server, launch).text);
  const [[name, definition] = []] = Object.entries<object>(servers);
  const text = JSON.stringify({ name, ...definition, ...(inputs.length === 0 ? {} : { inputs }) });
  return `vscode:mcp/install?${encodeURIComponent(text)}`;
}

/** https://docs.cursor.com/en/tools/developers: the definition in base64. */
function linkForCursor(server: string, launch: Launch): string | undefined {
  const { text } = forVariables(server, launch, (name) => `\${env:${name}}`, 'untyped');
  const [[name = '', definition] = []] = Object.entries<object>(JSON.parse(text).mcpServers);
  const bytes = new TextEncoder().encode(JSON.stringify(definition));
  const packed = btoa(String.fromCharCode(...bytes));
  return `cursor://anysphere.cursor-deeplink/mcp/install?name=${encodeURIComponent(name)}&config=${encodeURIComponent(packed)}`;
}

/** Asks for what is blank when the server is started. */
function forVsCode(server: string, launch: Launch): Configuration {
  const key = configurationKey(server);
  const inputs = new Map<string, object>();
  const definition = define(launch, 'typed', (blank) => {
    const id = `${key}-${blank.name}`.toLowerCase().replaceAll(/[^a-z0-9-]+/g, '-');
    const { fallback } = blank;
    const description = blank.description === '' ? blank.name : blank.description;
    inputs.set(id, {
      type: 'promptString',
      id,
      description,
      ...(fallback === undefined ? {} : { default: fallback }),
      ...(blank.secret ? { password: true } : {}),
    });
    return `\${input:${id}}`;
  });
  const asked = inputs.size === 0 ? {} : { inputs: [...inputs.values()] };
  return { text: pretty({ ...asked, servers: { [key]: definition } }), variables: [] };
}

/** Takes what is blank from the environment. */
function forVariables(
  server: string,
  launch: Launch,
  reference: (name: string) => string,
  style: 'typed' | 'untyped',
  words: Words = { members: 'mcpServers', url: 'url' },
): Configuration {
  const variables = new Map<string, Blank>();
  const definition = define(
    launch,
    style,
    (blank) => {
      const name = variableOf(blank, server);
      variables.set(name, { ...blank, name });
      return reference(name);
    },
    words,
  );
  return {
    text: pretty({ [words.members]: { [configurationKey(server)]: definition } }),
    variables: [...variables.values()],
  };
}

/** How a client calls the list of its servers, and the address of one. */
interface Words {
  readonly members: string;
  readonly url: string;
}

type Write = (blank: Blank) => string;

/** `untyped`: without the type of an address, which the client finds out. */
function define(
  launch: Launch,
  style: 'typed' | 'untyped',
  write: Write,
  { url: address = 'url' }: Partial<Words> = {},
): object {
  const settle = (settings: Command['environment']) =>
    Object.fromEntries(settings.map(({ name, value }) => [name, fillTemplate(value, write)]));
  if (launch.kind === 'address') {
    const { type, url, headers } = launch;
    return {
      ...(style === 'typed' ? { type } : {}),
      [address]: fillTemplate(url, write),
      ...(headers.length === 0 ? {} : { headers: settle(headers) }),
    };
  }
  const { program, args, environment } = launch.command;
  return {
    ...(style === 'typed' ? { type: 'stdio' } : {}),
    command: program,
    args: args.map((arg) => fillTemplate(arg, write)),
    ...(environment.length === 0 ? {} : { env: settle(environment) }),
  };
}

/** The command as a line for a POSIX shell; what is blank comes from the shell's environment. */
export function shellLine({ program, args, environment }: Command): string {
  const assignments = environment.flatMap(({ name, value }) => {
    // The shell hands on what is set in it anyway.
    const isOwn = value.length === 1 && typeof value[0] === 'object' && value[0].name === name;
    return isOwn || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? [] : [`${name}=${shellWord(value)}`];
  });
  return [...assignments, program, ...args.map(shellWord)].join(' ');
}

/** How ToolHive's CLI calls what it builds an image for; it has no name for packages of NuGet. */
const THV_SCHEMES: Readonly<Record<Subject['kind'], string | undefined>> = {
  npm: 'npx://',
  pypi: 'uvx://',
  nuget: undefined,
  oci: '',
};

/** A line for a POSIX shell. https://docs.stacklok.com/toolhive/reference/cli/thv_run */
function forThv(server: string, launch: Launch): Configuration | undefined {
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
  { kind, identifier, args, environment }: Subject,
  launch: Launch,
): readonly Template[] | undefined {
  const scheme = THV_SCHEMES[kind];
  if (scheme === undefined) return undefined;
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

function shellWord(template: Template): string {
  const word = template
    .map((part) => (typeof part === 'string' ? quoteShell(part) : `"$${shellName(part.name)}"`))
    .join('');
  return word === '' ? "''" : word;
}

/** As it is where the shell leaves it alone, else in single quotes, in which nothing has a meaning. */
function quoteShell(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

function shellName(name: string): string {
  return name
    .toUpperCase()
    .replaceAll(/[^A-Z0-9_]+/g, '_')
    .replace(/^(?=[0-9])/, '_');
}

/** An environment variable keeps its name; the name of a header or an argument says little without its server. */
function variableOf({ name }: Blank, server: string): string {
  return /^[A-Z_][A-Z0-9_]*$/.test(name) ? name : shellName(`${lastSegment(server)}_${name}`);
}

function fillTemplate(template: Template, write: Write): string {
  return template.map((part) => (typeof part === 'string' ? part : write(part))).join('');
}

function configurationKey(server: string): string {
  return lastSegment(server).replaceAll(/[^A-Za-z0-9._-]+/g, '-');
}

function pretty(value: object): string {
  return JSON.stringify(value, undefined, 2);
}
