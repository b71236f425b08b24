// Lists the tools of an MCP server at a URL, or calls a tool and prints the result, for `skep call`.

import { readFileSync } from 'node:fs';
import type { CallToolResult, Client, LoggingLevel, Tool } from '@modelcontextprotocol/client';
import { readAppMarks } from '#gateway/wire/extensions/app-marks.ts';
import { visible } from '#reconciler/report/visible.ts';
import { didYouMean } from '#std/closest.ts';
import { Failure } from '#std/failure.ts';
import { isObject } from '#std/json.ts';
import { textOfFile } from '#std/utf8.ts';
import { type ArgumentWords, argumentsOf } from './arguments.ts';
import { connect, leave } from './connect.ts';
import { createRequests } from './fetch.ts';
import { fixedToken, type LoginSettings, loginProvider } from './login.ts';
import { answerElicitation } from './questions.ts';
import { finishTask, taskOf } from './tasks.ts';
import type { Terminal } from './terminal.ts';
import { type ServerFacts, textOfResult, textOfTools } from './text.ts';

export interface CallSettings {
  readonly url: URL;
  /** Name of the tool. If undefined, the tools are listed. */
  readonly tool: string | undefined;
  readonly written: ArgumentWords;
  readonly output: 'text' | 'json';
  readonly logLevel: LoggingLevel;
  readonly token: string | undefined;
  readonly login: Omit<LoginSettings, 'terminal' | 'fetch'>;
  readonly terminal: Terminal;
  readonly print: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Lists the tools or calls a tool. Throws Failure with a code in CALL_CODES. */
export async function call(settings: CallSettings): Promise<void> {
  await useServer(settings, (client) => askServer(settings, client));
}

export type ServerSettings = Pick<CallSettings, 'url' | 'terminal' | 'token' | 'login'>;

/**
 * Connects to the server, logs in if necessary, runs `use`, and disconnects. Throws Failure with a code in CALL_CODES.
 */
export async function useServer<T>(settings: ServerSettings, use: (client: Client) => Promise<T>): Promise<T> {
  const { url, terminal, token, login } = settings;
  const requests = createRequests(url);
  const { fetch } = requests;
  const authProvider = token === undefined ? loginProvider({ ...login, terminal, fetch }) : fixedToken(token);
  async function ask(): Promise<T> {
    const client = await connect({
      url,
      fetch,
      authProvider,
      elicit: (params) => answerElicitation(terminal, params),
      log: (level, logger, data) =>
        terminal.say(`${level}${logger === undefined ? '' : ` ${logger}`}: ${dataText(data)}`),
    });
    try {
      return await use(client);
    } finally {
      await leave(client);
    }
  }
  try {
    try {
      return await ask();
    } catch (error) {
      if (!(await authProvider.stepUp(causeOf(error), url))) throw error;
      return await ask();
    }
  } catch (error) {
    throw asFailure(error, url, requests.refusal());
  } finally {
    await requests.close();
  }
}

function dataText(data: unknown): string {
  return typeof data === 'string' ? data : JSON.stringify(data);
}

/**
 * Returns the Failure for an error. `refusal` is the reason in the server's response. The client library reports only
 * the status.
 */
function asFailure(error: unknown, url: URL, refusal: string | undefined): Failure {
  const known = error instanceof Failure ? error : causeOf(error);
  if (known instanceof Failure) {
    if (known.code !== 'call-login' || refusal === undefined) return known;
    return new Failure(known.code, `${known.message} (the server says: ${refusal})`, { cause: error });
  }
  const reason = refusal ?? shortReason(known);
  return new Failure('call-failed', `${url.origin}${url.pathname}: ${reason}`, { cause: error });
}

/** Returns the innermost cause of an error. The outer message `fetch failed` contains no reason. */
function causeOf(error: unknown): unknown {
  let current = error;
  while (current instanceof Error && current.cause !== undefined && !(current instanceof Failure))
    current = current.cause;
  return current;
}

function shortReason(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(shortReason).join('; ');
  return error instanceof Error ? error.message : String(error);
}

async function askServer(settings: CallSettings, client: Client): Promise<void> {
  const { tool: name, output, print } = settings;
  const { tools } = await client.listTools();
  const facts = factsOf(client);
  if (name === undefined) {
    const json = () => `${JSON.stringify({ version: 1, server: facts, tools }, null, 2)}\n`;
    return print(output === 'json' ? json() : textOfTools(facts, tools));
  }
  const tool = findTool(tools, name);
  const result = await callTool(settings, client, tool);
  settings.terminal.clear();
  print(output === 'json' ? `${JSON.stringify({ version: 1, ...result }, null, 2)}\n` : textOfResult(result));
  sayApp(settings, tool);
  if (result.isError === true) throw new Failure('call-tool-failed', `${name} failed`);
}

function factsOf(client: Client): ServerFacts {
  const { name = 'unnamed', version = '', title } = client.getServerVersion() ?? {};
  const protocolVersion = client.getNegotiatedProtocolVersion() ?? 'unknown';
  return { name, version, title, protocolVersion, instructions: client.getInstructions() };
}

function findTool(tools: readonly Tool[], name: string): Tool {
  const tool = tools.find((each) => each.name === name);
  if (tool !== undefined) return tool;
  const names = tools.map((each) => each.name);
  const known = names.length === 0 ? 'It has none.' : `It has ${names.join(', ')}.`;
  throw new Failure('call-arguments', `the server has no tool "${name}".${didYouMean(name, names)} ${known}`);
}

const LOG_LEVEL_META = 'io.modelcontextprotocol/logLevel';
/** Maximum delay of a timer. A tool may need any time, and the user can end the call with Ctrl-C. */
const NO_TIMEOUT = 2 ** 31 - 1;

async function callTool(settings: CallSettings, client: Client, tool: Tool): Promise<CallToolResult> {
  const { written, logLevel, terminal, signal } = settings;
  const schema: unknown = tool.inputSchema;
  const given = argumentsOf(isObject(schema) ? schema : {}, written, readArgument);
  const stateless = client.getProtocolEra() === 'modern';
  if (!stateless && client.getServerCapabilities()?.logging !== undefined) await client.setLoggingLevel(logLevel);
  const result = await client.callTool(
    { name: tool.name, arguments: given, _meta: stateless ? { [LOG_LEVEL_META]: logLevel } : undefined },
    {
      signal,
      timeout: NO_TIMEOUT,
      onprogress: ({ progress, total, message }) => {
        const share = total === undefined ? `${progress}` : `${progress}/${total}`;
        terminal.progress(message === undefined ? share : `${share} ${message}`);
      },
    },
  );
  const task = taskOf(result);
  return task === undefined ? result : finishTask(client, task, { terminal, signal });
}

/** Reports that the tool has a user interface (SEP-1865), which a terminal cannot show. */
function sayApp({ terminal }: CallSettings, tool: Tool): void {
  const uri = readAppMarks(Buffer.from(JSON.stringify(tool)))?.uris[0];
  if (uri !== undefined) terminal.say(`${tool.name} has a user interface for clients that support it: ${uri}`);
}

function readArgument(path: string): string {
  try {
    return textOfFile(readFileSync(path), path, 'call-arguments');
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    throw new Failure('call-arguments', `${path} cannot be read`, { cause });
  }
}

/**
 * Returns a function that prints text. On a terminal, control characters are escaped, so that a server's text cannot
 * move the cursor. Other outputs get the text unchanged.
 */
export function printTo(stdout: NodeJS.WriteStream): (text: string) => void {
  return (text) => void stdout.write(stdout.isTTY === true ? visible(text.replaceAll('\r\n', '\n')) : text);
}
