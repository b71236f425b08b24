// Watches wake a run for each change that counts, and go on after the server has forgotten old versions, refused the watch, or closed
// the connection.

import { expect, test } from 'vitest';
import { systemClock } from '#hosts/clock.ts';
import { connect, type Handle, type Received, serve, status } from '../../../../test/harness/api-server.ts';
import { watchResources } from './resource-watches.ts';

function event(type: string, metadata: object): string {
  return `${JSON.stringify({ type, object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata } })}\n`;
}

function widget(version: number, more: object = {}): object {
  return { name: 'w', namespace: 'ns', uid: 'u', resourceVersion: `${version}`, generation: 1, ...more };
}

const GONE = { kind: 'Status', status: 'Failure', reason: 'Expired', code: 410, message: 'too old resource version' };

interface Told {
  readonly asked: string[];
  readonly wakes: number;
  readonly said: string[];
  /** Milliseconds of the pauses between watches. */
  readonly pauses: number[];
}

interface Scene {
  readonly namespaces?: readonly string[];
  /** Whether each watch lasts long enough to count as one that works. */
  readonly lasting?: true;
}

/** Requests and effects until all answers were given; the watch after them stays open. */
async function tell(
  answers: readonly ReturnType<Handle>[],
  { namespaces = ['*'], lasting }: Scene = {},
): Promise<Told> {
  const asked: string[] = [];
  const said: string[] = [];
  let wakes = 0;
  let lists = 0;
  const left = [...answers];
  const all = Promise.withResolvers<void>();
  const { url } = await serve((request: Received) => {
    const isWatch = request.query.get('watch') === 'true';
    if (!isWatch) {
      lists += 1;
      asked.push(`list ${request.path}`);
      return { json: { kind: 'List', metadata: { resourceVersion: `${lists}00` }, items: [] } };
    }
    asked.push(`watch from ${request.query.get('resourceVersion')}`);
    const answer = left.shift();
    if (answer === undefined) all.resolve();
    return answer ?? 'silence';
  });
  const pauses: number[] = [];
  async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms === STEADY_MS && lasting === undefined && signal !== undefined) return untilAborted(signal);
    if (ms >= 1000 && ms !== STEADY_MS) pauses.push(ms);
    if (ms !== STEADY_MS) await new Promise((done) => setImmediate(done));
  }
  const cluster = await connect(url);
  const watching = watchResources(
    {
      cluster,
      clock: { ...systemClock, sleep },
      changed: () => {
        wakes += 1;
      },
      say: (text) => void said.push(text.replaceAll(url, 'URL')),
    },
    { apiGroup: 'example.com', kinds: ['Widget'], namespaces },
  );
  await all.promise;
  await watching.end();
  await cluster.close();
  return { asked, wakes, said, pauses };
}

const STEADY_MS = 10_000;

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((done) => signal.addEventListener('abort', () => done(), { once: true }));
}

test('statuses wake no run; what comes, changes and goes does, and a watch goes on where it ended', async () => {
  const lines = [
    event('ADDED', widget(101)),
    event('MODIFIED', widget(102)),
    event('BOOKMARK', { resourceVersion: '150' }),
  ];
  const more = [
    event('MODIFIED', widget(151, { generation: 2 })),
    event('MODIFIED', widget(152, { generation: 2, annotations: { 'kubectl.kubernetes.io/restartedAt': 'now' } })),
    event('DELETED', widget(153, { generation: 2 })),
  ];
  const statusAlone = [event('ADDED', widget(201)), event('MODIFIED', widget(202)), event('MODIFIED', widget(203))];
  expect(await tell([{ text: lines.join('') }, { text: more.join('') }])).toEqual({
    asked: ['list /apis/example.com/v2/widgets', 'watch from 100', 'watch from 150', 'watch from 153'],
    wakes: 2,
    said: [],
    pauses: [1000, 2000],
  });
  expect((await tell([{ text: event('ADDED', widget(101)) }, { text: statusAlone.slice(1).join('') }])).wakes).toBe(1);
});

test('events in a namespace that is not kept wake no run, and each named namespace has a watch', async () => {
  const outside = { text: event('ADDED', widget(101, { namespace: 'other' })) };
  expect((await tell([outside], { namespaces: ['team-*'] })).wakes).toBe(1);
  const { asked } = await tell([], { namespaces: ['a'] });
  expect(asked[0]).toBe('list /apis/example.com/v2/namespaces/a/widgets');
});

test.each([
  ['410 at its start', status(410, 'Expired', 'too old resource version'), 1],
  ['an event that says so', { text: `${JSON.stringify({ type: 'ERROR', object: GONE })}\n` }, 2],
])('what was forgotten (%s) is looked for by a run, and watched from now on', async (_name, answer, wakes) => {
  expect(await tell([answer, { text: event('BOOKMARK', { resourceVersion: '250' }) }])).toEqual({
    asked: [
      'list /apis/example.com/v2/widgets',
      'watch from 100',
      'list /apis/example.com/v2/widgets',
      'watch from 200',
      'watch from 250',
    ],
    wakes,
    said: [],
    pauses: [1000, 2000],
  });
});

const PAUSES = [1000, 2000, 5000, 15_000, 30_000, 30_000, 30_000];

test('a watch that ends at once is begun again after longer and longer pauses, at its version', async () => {
  const { asked, wakes, said, pauses } = await tell(PAUSES.map(() => ({ text: '' })));
  expect(asked).toEqual(['list /apis/example.com/v2/widgets', 'watch from 100', ...PAUSES.map(() => 'watch from 100')]);
  expect(pauses).toEqual(PAUSES);
  expect(said).toEqual([]);
  expect(wakes).toBe(1);
});

test.each([
  ['at its start', status(410, 'Expired', 'too old resource version')],
  ['as an event', { text: `${JSON.stringify({ type: 'ERROR', object: GONE })}\n` }],
])('a server that forgets every version (410 %s) is asked after longer and longer pauses', async (_name, answer) => {
  const { asked, said, pauses } = await tell(PAUSES.map(() => answer));
  expect(pauses).toEqual(PAUSES);
  expect(asked).toHaveLength(2 * (PAUSES.length + 1));
  expect(said.map((text) => text.slice(0, 37))).toEqual(['Widget is not watched (cluster-gone: ']);
});

test('a watch whose connection breaks goes on at its version, and no run follows', async () => {
  const cut = { text: event('ADDED', widget(101)), cut: true } as const;
  const same = { text: event('MODIFIED', widget(102)), cut: true } as const;
  const after = ['list /apis/example.com/v2/widgets', 'watch from 100', 'watch from 101', 'watch from 102'];
  const brief = await tell([cut, same]);
  expect(brief).toMatchObject({ asked: after, pauses: [1000, 2000], wakes: 1 });
  expect(brief.said.map((text) => text.slice(0, 44))).toEqual(['Widget is not watched (cluster-unreachable: ']);
  expect(await tell([cut, same], { lasting: true })).toEqual({ asked: after, pauses: [], wakes: 1, said: [] });
});

test('changes before the list are looked for by a run, also if the first watch does not begin', async () => {
  const bookmark = { text: event('BOOKMARK', { resourceVersion: '150' }) };
  const { asked, wakes } = await tell(['drop', bookmark]);
  expect(asked.slice(1)).toEqual(['watch from 100', 'watch from 100', 'watch from 150']);
  expect(wakes).toBe(1);
});

test('a watch that is refused, or breaks, is said once and begun again', async () => {
  const forbidden = status(403, 'Forbidden', 'widgets is forbidden: cannot watch');
  const answers = [forbidden, forbidden, 'drop', { text: 'no JSON\n' }] as const;
  const { asked, said, wakes } = await tell(answers, { lasting: true });
  expect(asked.filter((each) => each.startsWith('watch'))).toEqual([
    'watch from 100',
    'watch from 200',
    'watch from 300',
    'watch from 300',
    'watch from 400',
  ]);
  expect(said.map((text) => text.slice(0, 50))).toEqual([
    'Widget is not watched (cluster-forbidden: URL/apis',
    'Widget is not watched (cluster-unreachable: URL/ap',
    'Widget is watched again',
    'Widget is not watched (cluster-error: URL/apis/exa',
  ]);
  expect(wakes).toBe(1);
});

test('an error that is not a failure of the server ends the watching', async () => {
  const { url } = await serve(() => status(403, 'Forbidden', 'no'));
  const say = (): void => {
    throw new TypeError('a fault of the program');
  };
  const options = { apiGroup: 'example.com', kinds: ['Widget'], namespaces: ['*'] };
  const watching = watchResources(
    { cluster: await connect(url), clock: systemClock, changed: () => undefined, say },
    options,
  );
  await expect(watching.ended).rejects.toThrow('a fault of the program');
  await expect(watching.end()).rejects.toThrow('a fault of the program');
});
