// Tests that unchanged lists of backends are not aggregated again after they are read again.

import { afterEach, expect, it } from 'vitest';
import { createUpstream } from '#adapters/upstream/upstream.ts';
import type { Exchange } from '#gateway/backends/backend.ts';
import { openLock } from '#gateway/gate/tools-lock/lock.ts';
import { type Catalogue, createCatalogue } from '#gateway/virtual-server/catalogue/catalogue.ts';
import type { Member } from '#gateway/virtual-server/members/member.ts';
import { aggregationRules } from '#gateway/virtual-server/settings.ts';
import { askingOf } from '#gateway/virtual-server/world.ts';
import { createSessionSeal } from '#gateway/wire/seal.ts';
import { proxyClock } from '#hosts/proxy/clock.ts';
import { openMembers } from '#hosts/virtual-server/members.ts';
import { createWatchedFiles } from '#hosts/watched-files.ts';
import { startMember, type TestMember, tool } from './member.ts';
import { configOf } from './world.ts';

const TIMEOUT_MS = 60_000;
const MESSAGE_BYTES = 1024 * 1024;
const ANYBODY: Exchange = { method: 'POST', era: 'stateless', path: '/', headers: {}, caller: '' };

const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Watched {
  readonly catalogue: Catalogue;
  readonly member: Member;
  /** Returns how often the offered lists were assembled. */
  assembled(): number;
}

function open(server: TestMember): Watched {
  const config = configOf({ desk: server });
  const upstream = createUpstream({ connectTimeoutMs: TIMEOUT_MS });
  const members = openMembers(config, {
    ...{
      upstream,
      openTrusting: () => upstream,
      locks: { open: openLock, use: () => undefined },
      messageBytes: MESSAGE_BYTES,
      replica: 'one',
      changed: () => undefined,
    },
    seal: createSessionSeal({ keys: [Buffer.alloc(32, 1)], random: proxyClock.random }),
    observer: { dropped: () => undefined, log: () => undefined },
    credentials: {
      ...{ clock: proxyClock, environment: {}, secretFiles: createWatchedFiles(), notify: () => undefined },
      fetch: () => Promise.reject(new Error('no credential is asked for')),
    },
  });
  let assembled = 0;
  const catalogue = createCatalogue({
    ...{ members, clock: proxyClock, mode: () => 'best_effort', optimized: () => false },
    rules: () => aggregationRules(config),
    asking: (member) => askingOf({ clock: proxyClock, messageBytes: MESSAGE_BYTES }, member),
    observed: () => undefined,
    noticed: () => undefined,
    assembled: () => {
      assembled += 1;
    },
  });
  const member = members.find('desk');
  if (member === undefined) throw new Error('no member');
  closing.push(
    () => upstream.close(),
    () => member.backend.close(0),
    () => catalogue.stop(),
  );
  return { catalogue, member, assembled: () => assembled };
}

async function toolsOf({ catalogue, member }: Watched): Promise<readonly string[]> {
  await catalogue.check(member, TIMEOUT_MS);
  const offered = await catalogue.offer(ANYBODY);
  return offered.ok ? [...offered.offer.tools.keys()] : [];
}

it('assembles the offered lists once, until one list changes', async () => {
  const lists = {
    tools: [tool('a'), tool('b')],
    prompts: [{ name: 'p' }],
    resources: [{ uri: 'file:///r', name: 'r' }],
  };
  const server = await startMember(lists);
  closing.push(server.close);
  const watched = open(server);
  expect(await toolsOf(watched)).toEqual(['desk_a', 'desk_b']);
  expect(await toolsOf(watched)).toEqual(['desk_a', 'desk_b']);
  expect(server.asked.filter(({ message }) => message?.method === 'tools/list')).toHaveLength(2);
  expect(watched.assembled()).toBe(1);
  for (const [times, tools] of [[tool('a'), tool('c')], [tool('a')], [tool('a', { title: 'A' })]].entries()) {
    server.change({ ...lists, tools });
    expect(await toolsOf(watched)).toHaveLength(tools.length);
    expect(watched.assembled()).toBe(times + 2);
  }
});
