// Whatever server the platform's format can hold, it comes back as it was, and so does its server.json: over many made at
// random, from seeds that a failure names.

import { expect, test } from 'vitest';
import type { CatalogueEntry } from '#registry/catalogue/entry.ts';
import { parseRegistry } from '#registry/catalogue/formats/registry.ts';
import { toToolhive } from '#registry/catalogue/formats/toolhive-mapping.ts';
import type { Json, JsonObject } from '#std/json.ts';
import { formatProblem } from '#std/problem.ts';

/** A generator of numbers between 0 and 1 that gives the same ones again (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

interface Maker {
  pick<T>(...items: readonly T[]): T;
  /** One to three of them. */
  some<T>(make: () => T): T[];
  /** The members that a coin decides for. */
  perhaps(members: Readonly<Record<string, () => Json>>): JsonObject;
  text(): string;
}

function makerOf(random: () => number): Maker {
  const pick = <T>(...items: readonly T[]): T => items[Math.floor(random() * items.length)]!;
  return {
    pick,
    some: (make) => Array.from({ length: pick(1, 2, 3) }, make),
    perhaps: (members) =>
      Object.fromEntries(
        Object.entries(members)
          .filter(() => random() < 0.5)
          .map(([name, make]) => [name, make()]),
      ),
    text: () =>
      Array.from({ length: pick(1, 4, 12) }, () =>
        pick('a', 'Z', '7', ' ', '"', '\\', '/', 'é', '💡', '<', '\n', '%', "'"),
      ).join(''),
  };
}

const FREE: JsonObject = { nested: { list: [1, null, { deep: [] }], '': '', __proto__x: true }, zero: 0 };

function input({ pick, perhaps, text }: Maker): JsonObject {
  return {
    name: pick('TOKEN', 'X-Key', 'A B'),
    description: text(),
    required: pick(true, false),
    ...perhaps({ secret: () => true, default: text, choices: () => [text(), text()] }),
  };
}

function common(maker: Maker): JsonObject {
  const { pick, some, perhaps, text } = maker;
  return {
    description: text(),
    status: pick('Active', 'Deprecated'),
    tier: pick('Official', 'Community'),
    tools: some(text),
    ...perhaps({
      title: text,
      overview: text,
      tags: () => some(text),
      repository_url: () => pick('https://github.com/acme/x', 'https://git.example.com/y'),
      env_vars: () => some(() => input(maker)),
      metadata: () => ({ stars: 1, pulls: 2, last_updated: '2026-01-01T00:00:00Z' }),
      custom_metadata: () => FREE,
      tool_definitions: () => [{ name: 'x', inputSchema: FREE }],
      name: () => pick('io.acme/other', 'com.example.a-b/c_d'),
    }),
  };
}

function container(maker: Maker): JsonObject {
  const { pick, some, perhaps, text } = maker;
  const ports = { target_port: () => pick(1, 80, 443, 8080, 65_535), proxy_port: () => 9000 };
  return {
    ...common(maker),
    image: pick('clock:1', 'images.example.com:5000/a/b:1.2.3', 'x@sha256:abc'),
    transport: pick('stdio', 'sse', 'streamable-http'),
    ...perhaps({
      ...ports,
      args: () => some(text),
      docker_tags: () => some(text),
      permissions: () => FREE,
      provenance: () => FREE,
    }),
  };
}

function remote(maker: Maker): JsonObject {
  const { pick, some, perhaps } = maker;
  return {
    ...common(maker),
    url: pick('https://mcp.example.com', 'http://mcp.example.com:80/sse?a=b', 'https://mcp.example.com/mcp/'),
    transport: pick('sse', 'streamable-http'),
    ...perhaps({ headers: () => some(() => input(maker)), oauth_config: () => FREE }),
  };
}

function read(root: object): readonly CatalogueEntry[] {
  const parsed = parseRegistry('toolhive', JSON.stringify(root), 'registry.json');
  if (!parsed.ok) throw new Error(formatProblem(parsed.problem));
  expect(parsed.rejected).toEqual([]);
  return parsed.entries;
}

test.each([
  { section: 'servers' as const, make: container },
  { section: 'remote_servers' as const, make: remote },
])('$section', ({ section, make }) => {
  for (let seed = 1; seed <= 2000; seed += 1) {
    const maker = makerOf(randomFrom(seed));
    const key = maker.pick('clock', 'a-b-c', 'x9');
    const server = make(maker);
    const [entry] = read({ [section]: { [key]: server } });
    const back = toToolhive(entry!);
    expect(back, `seed ${seed}`).toEqual({ section, key, server, groups: [] });
    if ('reason' in back) continue;
    const [again] = read({ [back.section]: { [back.key]: back.server } });
    expect(JSON.stringify(again!.document), `seed ${seed}`).toBe(JSON.stringify(entry!.document));
  }
});
