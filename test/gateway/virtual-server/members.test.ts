// Tests that connections to backends follow changes of the backend list, and stay if a new list is invalid.

import { afterEach, expect, test } from 'vitest';
import { createUpstream } from '#adapters/upstream/upstream.ts';
import { openLock } from '#gateway/gate/tools-lock/lock.ts';
import { createSessionSeal } from '#gateway/wire/seal.ts';
import { proxyClock } from '#hosts/proxy/clock.ts';
import { openMembers } from '#hosts/virtual-server/members.ts';
import { createWatchedFiles } from '#hosts/watched-files.ts';
import { createPrivateAuthority } from '../../harness/private-authority.ts';
import { startMember, tool } from './member.ts';
import { configOf } from './world.ts';

const TIMEOUT_MS = 60_000;
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

test('a list with an invalid backend leaves no open connections, and keeps the connections of the list in use', async () => {
  const member = await startMember({ tools: [tool('echo')] });
  const authority = createPrivateAuthority('members');
  const upstream = createUpstream({ connectTimeoutMs: TIMEOUT_MS });
  closing.push(
    member.close,
    () => authority.remove(),
    () => upstream.close(),
  );
  let opened = 0;
  let closed = 0;
  const { backends, ...rest } = configOf({ kept: member, added: member, broken: member });
  const trusting = backends.map((backend) => ({ ...backend, caBundlePath: authority.file }));
  const [kept, added, broken] = trusting;
  if (kept === undefined || added === undefined || broken === undefined) throw new Error('three backends are listed');

  const members = openMembers(
    { ...rest, backends: [kept] },
    {
      upstream,
      openTrusting: () => {
        const own = createUpstream({ connectTimeoutMs: TIMEOUT_MS });
        opened += 1;
        return {
          ...own,
          close: () => {
            closed += 1;
            return own.close();
          },
        };
      },
      locks: { open: openLock, use: () => undefined },
      messageBytes: 1024,
      replica: 'one',
      changed: () => undefined,
      seal: createSessionSeal({ keys: [Buffer.alloc(32, 1)], random: proxyClock.random }),
      observer: { dropped: () => undefined, log: () => undefined },
      credentials: {
        ...{ clock: proxyClock, environment: {}, secretFiles: createWatchedFiles(), notify: () => undefined },
        fetch: () => Promise.reject(new Error('no credential is asked for')),
      },
    },
  );
  closing.push(() => members.all().map(({ backend }) => backend.close(0)));
  expect({ opened, closed }).toEqual({ opened: 1, closed: 0 });

  const headerForward = { addHeadersFromSecret: { 'X-Api-Key': 'ABSENT' } };
  const next = { ...rest, backends: [kept, added, { ...broken, headerForward }] };
  expect(() => members.prepare(next)).toThrow(/TOOLHIVE_SECRET_ABSENT is not set/);
  await expect.poll(() => ({ opened, closed })).toEqual({ opened: 2, closed: 1 });
  expect(members.all().map(({ name }) => name)).toEqual(['kept']);
});
