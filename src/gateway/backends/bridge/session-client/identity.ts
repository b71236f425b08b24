// Encodes the identity of a client with sessions into its session id. Any replica can then serve the client without
// stored state.

import { isObject, type JsonObject, shownText } from '#std/json.ts';
import { statelessClientCapabilities } from '../protocol.ts';

export interface ClientIdentity {
  readonly revision: string;
  /** Capabilities in the form of MCP 2026-07-28. */
  readonly capabilities: JsonObject;
  readonly clientInfo?: JsonObject;
  /** Distinguishes sessions of equal clients. */
  readonly nonce: string;
}

const PREFIX = 'bridge.';
/** Maximum length of the JSON text. A longer text would not fit into a header after sealing. */
const MAX_JSON = 1800;
const MAX_NAME = 128;

/**
 * Returns the id as visible ASCII. If the text is too long, omits first members of `clientInfo`, then extensions and
 * experimental capabilities, and finally `clientInfo` and the settings of capabilities.
 */
export function formatSessionId(identity: ClientIdentity): string {
  const { revision, capabilities, clientInfo, nonce } = identity;
  const { experimental: _experimental, extensions: _extensions, ...core } = capabilities;
  const attempts = [
    [revision, nonce, capabilities, clientInfo],
    [revision, nonce, capabilities, shortInfo(clientInfo)],
    [revision, nonce, core, shortInfo(clientInfo)],
  ];
  const texts = attempts.map((attempt) => JSON.stringify(attempt));
  const fitting = texts.find((text) => Buffer.byteLength(text) <= MAX_JSON);
  const text = fitting ?? JSON.stringify([revision, nonce, statelessClientCapabilities(bare(core))]);
  return PREFIX + Buffer.from(text).toString('base64url');
}

export function isBridgeSession(id: string): boolean {
  return id.startsWith(PREFIX);
}

export function readSessionId(id: string): ClientIdentity | undefined {
  if (!isBridgeSession(id)) return undefined;
  const content = parse(Buffer.from(id.slice(PREFIX.length), 'base64url').toString());
  if (!Array.isArray(content)) return undefined;
  const [revision, nonce, capabilities, clientInfo]: readonly unknown[] = content;
  if (typeof revision !== 'string' || typeof nonce !== 'string' || !isObject(capabilities)) return undefined;
  return { revision, nonce, capabilities, clientInfo: isObject(clientInfo) ? clientInfo : undefined };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function shortInfo(info: JsonObject | undefined): JsonObject | undefined {
  if (info === undefined) return undefined;
  const { name, version } = info;
  return { name: shownText(name).slice(0, MAX_NAME), version: shownText(version).slice(0, MAX_NAME) };
}

/** Keeps only capabilities that let a server question the client, with their modes but without settings. */
function bare({ roots, sampling, elicitation }: JsonObject): JsonObject {
  const keys = (value: unknown) =>
    isObject(value)
      ? Object.fromEntries(
          Object.keys(value)
            .slice(0, 4)
            .map((key) => [key.slice(0, 32), {}]),
        )
      : undefined;
  return { roots: keys(roots), sampling: keys(sampling), elicitation: keys(elicitation) };
}
