// Performs the gateway's handshake with a shared process, in either era, and pings the process.

import { Failure } from '#std/failure.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { ERRORS } from '../../wire/errors.ts';
import type { Era } from '../../wire/revisions.ts';
import type { BackendClock } from '../ports.ts';
import { lineOf, type ProcessLine } from './line.ts';
import { type ClientInfo, initializeParams, statelessParams } from './protocol.ts';
import type { Requests } from './requests.ts';

/** Process whose handshake has succeeded. */
export interface Greeted {
  readonly line: ProcessLine;
  readonly era: Era;
  /** Result of `initialize` or `server/discover`. */
  readonly result: JsonObject;
}

export interface HandshakeParts {
  readonly requests: Requests;
  readonly clock: BackendClock;
  readonly clientInfo: ClientInfo;
  readonly initializeMs: number;
  /** Time after which a process that has not answered `server/discover` is treated as a process of the session era. */
  readonly discoverMs: number;
  /** True if processes of the session era are refused. */
  readonly statelessOnly: boolean;
}

export function otherEra(spoken: Era): Failure {
  const data = { reason: 'not-supported' };
  return new Failure('stdio-era', `the MCP server speaks the ${spoken} era`, { data });
}

export function ended(detail: string): Failure {
  return new Failure('stdio-ended', `the MCP server ended during the handshake: ${detail}`, { retryable: true });
}

/**
 * Sends a request that every process of this era answers. Returns true if an answer arrives in time. An error counts as
 * an answer.
 */
export async function pingProcess(parts: HandshakeParts, { line, era }: Greeted, timeoutMs: number): Promise<boolean> {
  const { clientInfo } = parts;
  const answer =
    era === 'session'
      ? await askServer(parts, line, 'ping', {}, timeoutMs)
      : await askServer(parts, line, 'server/discover', statelessParams(clientInfo), timeoutMs);
  return answer !== undefined;
}

/**
 * Performs the handshake, and remembers in `memory` if the process ended at `server/discover`. Some servers of the
 * session era end at any message before `initialize`, for example rmcp before 3.0.
 */
export async function greetInEra(
  parts: HandshakeParts,
  memory: { endsAtDiscover: boolean },
  line: ProcessLine,
  end: () => string | undefined,
): Promise<Greeted> {
  const { endsAtDiscover } = memory;
  try {
    return endsAtDiscover ? await greetSession(parts, line) : await greetProcess(parts, line, end);
  } catch (error) {
    const detail = end();
    // If `initialize` also fails, the process may have been upgraded. The next run therefore begins with
    // `server/discover` again.
    memory.endsAtDiscover = !endsAtDiscover && !parts.statelessOnly && detail !== undefined;
    throw detail === undefined ? error : ended(detail);
  }
}

/**
 * Sends `server/discover` (MCP 2026-07-28, stdio, Backward Compatibility), and `initialize` if the process speaks the
 * session era. `end` returns why the line ended, or undefined while the line is open. Throws a Failure.
 */
async function greetProcess(parts: HandshakeParts, line: ProcessLine, end: () => string | undefined): Promise<Greeted> {
  const { clientInfo, discoverMs, statelessOnly } = parts;
  const discovered = await askServer(parts, line, 'server/discover', statelessParams(clientInfo), discoverMs);
  if (isObject(discovered?.result)) return { line, era: 'stateless', result: discovered.result };
  const detail = end();
  if (detail !== undefined) throw ended(detail);
  if (statelessOnly) throw otherEra('session');
  return greetSession(parts, line);
}

/** Sends `initialize`. Throws a Failure. */
async function greetSession(parts: HandshakeParts, line: ProcessLine): Promise<Greeted> {
  const answer = await askServer(parts, line, 'initialize', initializeParams(parts.clientInfo), parts.initializeMs);
  if (answer === undefined) throw new Failure('stdio-silent', 'the MCP server does not answer initialize', RETRYABLE);
  if (!isObject(answer.result)) {
    const error = isObject(answer.error) ? answer.error : {};
    throw new Failure('stdio-refused', `the MCP server refuses initialize: ${String(error.message ?? '')}`, RETRYABLE);
  }
  line.sendLine(lineOf([Buffer.from('{"jsonrpc":"2.0","method":"notifications/initialized"}')]));
  return { line, era: 'session', result: answer.result };
}

const RETRYABLE = { retryable: true } as const;

function askServer(
  { requests, clock }: HandshakeParts,
  line: ProcessLine,
  method: string,
  params: JsonObject,
  timeoutMs: number,
): Promise<JsonObject | undefined> {
  const json = requests.newId();
  return new Promise((resolve) => {
    const request = {
      kind: 'own',
      json,
      answered(message: Buffer) {
        stopWaiting();
        const value: unknown = JSON.parse(message.toString());
        resolve(isObject(value) ? value : undefined);
      },
    } as const;
    const stopWaiting = clock.after(timeoutMs, () => {
      requests.remove(request);
      resolve(undefined);
    });
    requests.add(request);
    const body = JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(json), method, params });
    line.sendLine(lineOf([Buffer.from(body)]));
  });
}

/** Returns a substitute for the answer to a request of the gateway, after the line to the process has ended. */
export function lostAnswer(json: string): Buffer {
  const error = { code: ERRORS.internalError, message: 'the MCP server ended' };
  return Buffer.from(`{"jsonrpc":"2.0","id":${json},"error":${JSON.stringify(error)}}`);
}
