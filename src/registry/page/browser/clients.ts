// Builds configuration files and install links for MCP clients. Sources are the clients' documentation of VS Code's
// mcp.json and install links, Claude Code's .mcp.json, Claude Desktop's claude_desktop_config.json, Cursor's mcp.json
// and deep links, Windsurf's mcp_config.json, and Zed's settings.json.

import { type Configuration, configurationKey } from './configuration.ts';
import { lastSegment } from './entry.ts';
import type { Command, Launch } from './launch.ts';
import { shellName } from './shell.ts';
import type { Blank, Template } from './template.ts';
import { configureThv } from './thv.ts';

export interface Client {
  readonly name: string;
  /** File for the text. */
  readonly file: string;
  /** Returns undefined if the client does not support the launch. */
  readonly configure: (server: string, launch: Launch) => Configuration | undefined;
  /** True if the client also starts servers that listen at a URL. */
  readonly starts?: true;
  /** Returns a link with which the client offers to install the server. Absent if the client supports no such links. */
  readonly install?: (server: string, launch: Launch) => string | undefined;
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
  { name: 'thv', file: 'A terminal', starts: true, configure: configureThv },
];

/** Returns a file in which readers replace `<name>` by hand, for clients without variables. */
function forFilledIn(server: string, launch: Launch, membersName = 'mcpServers'): Configuration {
  const write = ({ name }: Blank) => `<${name}>`;
  const definition = define(launch, 'untyped', write);
  return { text: pretty({ [membersName]: { [configurationKey(server)]: definition } }), variables: [] };
}

/**
 * Returns a command that connects to the server's URL. Claude Desktop can only start commands, so `mcp-remote` forwards
 * the messages.
 */
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
      subject: { kind: 'npm', identifier: 'mcp-remote', args: [url, ...passed], environment: [], options: [] },
    },
  };
}

/**
 * Returns a link with the definition as JSON (https://code.visualstudio.com/docs/copilot/customization/mcp-servers).
 */
function linkForVsCode(server: string, launch: Launch): string | undefined {
  const { inputs = [], servers } = JSON.parse(forVsCode(server, launch).text);
  const [[name, definition] = []] = Object.entries<object>(servers);
  const text = JSON.stringify({ name, ...definition, ...(inputs.length === 0 ? {} : { inputs }) });
  return `vscode:mcp/install?${encodeURIComponent(text)}`;
}

/** Returns a link with the definition in base64 (https://docs.cursor.com/en/tools/developers). */
function linkForCursor(server: string, launch: Launch): string | undefined {
  const { text } = forVariables(server, launch, (name) => `\${env:${name}}`, 'untyped');
  const [[name = '', definition] = []] = Object.entries<object>(JSON.parse(text).mcpServers);
  const bytes = new TextEncoder().encode(JSON.stringify(definition));
  const packed = btoa(String.fromCharCode(...bytes));
  return `cursor://anysphere.cursor-deeplink/mcp/install?name=${encodeURIComponent(name)}&config=${encodeURIComponent(packed)}`;
}

/** Returns a file whose blanks are inputs. VS Code prompts the user for the inputs when it starts the server. */
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

/** Returns a file whose blanks are variables, which the client reads from the environment. */
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

/** The client's keys for the list of servers and for a server's URL. */
interface Words {
  readonly members: string;
  readonly url: string;
}

type Write = (blank: Blank) => string;

/** Returns the definition of one server. With `untyped`, it has no `type`: the client detects the type. */
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

/**
 * Returns the variable for a value. A name in capitals, as most environment variables have, stays. Other names, such as
 * names of headers and arguments, get the server's name as a prefix, because other servers may have the same names.
 */
function variableOf({ name }: Blank, server: string): string {
  return /^[A-Z_][A-Z0-9_]*$/.test(name) ? name : shellName(`${lastSegment(server)}_${name}`);
}

function fillTemplate(template: Template, write: Write): string {
  return template.map((part) => (typeof part === 'string' ? part : write(part))).join('');
}

function pretty(value: object): string {
  return JSON.stringify(value, undefined, 2);
}
