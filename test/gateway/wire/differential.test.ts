// Tests with random hostile bodies that JSON.parse and a model of Go's reader read each accepted body as the strict
// scan does.

import { expect, test } from 'vitest';
import type { Message, Span } from '#gateway/wire/message.ts';
import { scanMessage } from '#gateway/wire/scan.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import { utf8Text } from '#std/utf8.ts';
import { type GoCall, readAsGo } from './go-reader.ts';
import { hostileBody, seeded } from './hostile-bodies.ts';

const SEED = 20_260_728;
const ROUNDS = 40_000;

function parsed(body: Buffer): Json | undefined {
  const text = utf8Text(body);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function member(value: Json | undefined, ...keys: readonly string[]): Json | undefined {
  return keys.reduce<Json | undefined>((object, key) => {
    return isObject(object) && Object.hasOwn(object, key) ? object[key] : undefined;
  }, value);
}

/** Returns the fields that the scan has found. */
function scanned(body: Buffer, message: Message): JsonObject {
  const value = (span: Span | undefined): Json | undefined =>
    span === undefined ? undefined : JSON.parse(body.toString('utf8', span.start, span.end));
  const id = message.kind === 'notification' ? undefined : message.id;
  if (message.kind === 'response')
    return { id: value(id?.span), result: value(message.result), error: value(message.error) };
  return {
    id: value(id?.span),
    idText: id === undefined ? undefined : JSON.parse(id.json),
    method: message.method,
    methodText: value(message.methodSpan),
    target: message.target?.value,
    targetText: value(message.target?.span),
    arguments: value(message.arguments),
    params: value(message.params),
    protocolVersion: message.meta?.protocolVersion,
    progressToken: value(message.meta?.progressToken?.span),
    refersTo: value(message.refersTo?.span),
  };
}

/** Returns the path of the target in `params`, for the methods in the bodies. */
function targetPath(method: string, params: Json | undefined): readonly string[] | undefined {
  if (method === 'tools/call' || method === 'prompts/get') return ['name'];
  if (method === 'resources/read' || method === 'resources/subscribe') return ['uri'];
  if (method === 'tasks/get') return ['taskId'];
  if (method !== 'completion/complete') return undefined;
  return ['ref', member(params, 'ref', 'type') === 'ref/prompt' ? 'name' : 'uri'];
}

function asJsonParseReads(root: Json | undefined): JsonObject {
  const method = member(root, 'method');
  const id = member(root, 'id') ?? undefined;
  if (typeof method !== 'string') return { id, result: member(root, 'result'), error: member(root, 'error') };
  const params = member(root, 'params');
  const path = targetPath(method, params);
  const target = path === undefined ? undefined : member(params, ...path);
  const reference = { 'notifications/progress': 'progressToken', 'notifications/cancelled': 'requestId' }[method];
  return {
    id,
    idText: id,
    method,
    methodText: method,
    target,
    targetText: target,
    arguments: member(params, 'arguments') ?? undefined,
    params,
    protocolVersion: member(params, '_meta', 'io.modelcontextprotocol/protocolVersion'),
    progressToken: member(params, '_meta', 'progressToken'),
    refersTo: reference === undefined ? undefined : member(params, reference),
  };
}

/** Replaces lone surrogates, which Go texts cannot contain. */
function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormed(item)]));
}

function compareWithGo(message: Message, seen: JsonObject, go: GoCall): void {
  if (message.kind === 'response') return;
  const path = targetPath(message.method, { ref: { type: go.refType } });
  const targets: Readonly<Record<string, string>> = { name: go.name, uri: go.uri, taskId: go.taskId };
  const refTarget = go.refType === 'ref/prompt' ? go.refName : go.refUri;
  const target = path?.[0] === 'ref' ? refTarget : targets[path?.[0] ?? ''];
  expect({
    method: go.method,
    id: go.id === '' ? undefined : JSON.parse(go.id),
    target: path === undefined || target === '' ? undefined : target,
    protocolVersion: go.protocolVersion === '' ? undefined : go.protocolVersion,
    arguments: wellFormed(go.arguments),
  }).toEqual({
    method: seen.method,
    id: seen.id,
    // Go reads an absent text as an empty text.
    target: seen.target === '' ? undefined : seen.target,
    protocolVersion: seen.protocolVersion === '' ? undefined : seen.protocolVersion,
    arguments: wellFormed(seen.arguments),
  });
}

test(`all readers agree on what the scan accepts of ${ROUNDS} hostile bodies, seed ${SEED}`, () => {
  const random = seeded(SEED);
  const counts: Record<string, number> = { accepted: 0, calls: 0, refusedByGo: 0 };
  for (let round = 0; round < ROUNDS; round += 1) {
    const body = hostileBody(random);
    const scan = scanMessage(body);
    const root = parsed(body);
    const what = `round ${round}, seed ${SEED}: ${body.toString('latin1')}`;
    if (!scan.ok) {
      const code = String(scan.fault.code);
      counts[code] = (counts[code] ?? 0) + 1;
      if (scan.fault.code === -32700) expect(root, `${scan.fault.message} ${what}`).toBeUndefined();
      continue;
    }
    counts.accepted = (counts.accepted ?? 0) + 1;
    expect(root, what).toBeDefined();
    const seen = scanned(body, scan.message);
    expect(seen, what).toEqual(asJsonParseReads(root));
    const go = readAsGo(body);
    if (go === undefined) counts.refusedByGo = (counts.refusedByGo ?? 0) + 1;
    else compareWithGo(scan.message, seen, go);
    if (scan.message.kind === 'request' && scan.message.target !== undefined) counts.calls = (counts.calls ?? 0) + 1;
  }
  process.stdout.write(`seed ${SEED}, ${ROUNDS} rounds: ${JSON.stringify(counts)}\n`);
  // The test is useful only if many bodies are accepted and many are refused.
  expect(counts.calls).toBeGreaterThan(ROUNDS / 10);
  expect(counts['-32600']).toBeGreaterThan(ROUNDS / 10);
  expect(counts['-32700']).toBeGreaterThan(ROUNDS / 20);
});
