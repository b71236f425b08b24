import { expect, test } from 'vitest';
import { createProgress, textOfWaiting, textOfWaitingForSource } from './progress.ts';

test('a long run reports its progress every five seconds, but not at its end', () => {
  let now = 0;
  const beforeTheFirst = 60_000;
  const progress = createProgress(() => now);
  now += beforeTheFirst;
  const lines = Array.from({ length: 12 }, () => {
    now += 2000;
    return progress(12);
  });
  expect(lines.filter((line) => line !== undefined)).toEqual([
    '4 of 12 changes, about 16 s left',
    '7 of 12 changes, about 10 s left',
    '10 of 12 changes, about 4 s left',
  ]);
});

const SERVER = { apiVersion: 'example.com/v1', kind: 'MCPServer', namespace: 'tools', name: 'clock' };

test('a waiting run reports the reason and the remaining time', () => {
  const resources = [
    { ...SERVER, why: 'its pod\nis not ready' },
    { ...SERVER, name: 'wiki', why: '' },
  ];
  expect(textOfWaiting({ for: 'resources', resources, unlisted: ['Service'], leftMs: 280_000 })).toBe(
    'waiting for the API server to list Service (4 min 40 s left)\n' +
      'waiting for tools/MCPServer/clock: its pod is not ready (4 min 40 s left)\n' +
      'waiting for tools/MCPServer/wiki (4 min 40 s left)\n',
  );
  expect(textOfWaiting({ for: 'lease', holder: 'run-1 at host', leftMs: 4_001 })).toBe(
    'waiting for another run of this instance to end: run-1 at host has the lease (5 s left)\n',
  );
  expect(textOfWaiting({ for: 'deletion', resource: SERVER, leftMs: 60_000 })).toBe(
    'waiting for tools/MCPServer/clock to be deleted before it is created again (1 min left)\n',
  );
  expect(textOfWaitingForSource({ name: 'fleet', waitedMs: 3_600_000 })).toBe(
    'waiting for source fleet: its server has not responded for 1 h\n',
  );
});
