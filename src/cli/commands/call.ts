// `skep call`: lists or calls the tools of an MCP server from a terminal.

import { randomBytes } from 'node:crypto';
import { homedir } from 'node:os';
import { Command, Option } from 'commander';
import { Failure } from '#std/failure.ts';

interface Options {
  readonly args?: string;
  readonly output: 'text' | 'json';
  readonly tokenFile?: string;
  readonly clientId?: string;
  readonly clientSecretFile?: string;
  readonly scope?: string;
  readonly logLevel: (typeof LEVELS)[number];
}

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;

const EXAMPLES = `
Examples:
  skep call http://127.0.0.1:8080/mcp/ops/holidays
  skep call http://127.0.0.1:8080/mcp/ops/holidays next_holiday country=DE
  skep call https://mcp.example.com/mcp send_report text=@report.md tags=weekly tags=draft
  skep call https://mcp.example.com/mcp search --args '{"query": {"team": "ops"}}' -o json`;

export function callCommand(): Command {
  return new Command('call')
    .description('List the tools of an MCP server, or call one.')
    .argument('<url>', 'URL of the server, as in the configuration of a client')
    .argument('[tool]', 'tool to call; without it, lists the tools')
    .argument('[key=value...]', 'arguments, converted to the types of the tool; key=@file reads the text of a file')
    .option('--args <json>', 'arguments as a JSON object; key=value adds to it')
    .addOption(new Option('-o, --output <format>', 'format').choices(['text', 'json']).default('text'))
    .option('--token-file <file>', 'file with a token; without it you log in if the server requires it')
    .option('--client-id <id>', 'OAuth client to log in with; without it one is registered')
    .option('--client-secret-file <file>', 'file with the secret of that client')
    .option('--scope <scopes>', 'OAuth scopes to request, instead of those that the server names')
    .addOption(
      new Option('--log-level <level>', 'lowest level of server messages that is printed')
        .choices(LEVELS)
        .default('info'),
    )
    .addHelpText('after', EXAMPLES)
    .action(runCall);
}

async function runCall(
  url: string,
  tool: string | undefined,
  words: readonly string[],
  options: Options,
): Promise<void> {
  const { call, printTo } = await import('../call/call.ts');
  const [{ openTerminal }, { loginFile, stateFolder }] = await Promise.all([
    import('../call/terminal.ts'),
    import('../call/logins.ts'),
  ]);
  const server = serverUrl(url);
  const { args: json, output, logLevel, clientId, scope } = options;
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  await call({
    url: server,
    tool,
    written: { json, words },
    output,
    logLevel,
    token: await secretOf(options.tokenFile),
    login: {
      file: loginFile(stateFolder(process.env, homedir()), server.href),
      clientId,
      clientSecret: await secretOf(options.clientSecretFile),
      scope,
      browser: process.env.BROWSER,
      newState: () => randomBytes(16).toString('base64url'),
    },
    terminal: openTerminal(process),
    print: printTo(process.stdout),
    signal: interrupted.signal,
  });
}

function serverUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new Failure('usage', `${text} is not the URL of a server, such as http://127.0.0.1:8080/mcp/ops/holidays`);
}

async function secretOf(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const { readSecretFile: secretsFrom } = await import('#hosts/config/secret-file.ts');
  const [secret] = await secretsFrom(file);
  return secret;
}
