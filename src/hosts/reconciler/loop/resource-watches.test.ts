// Watches wake a run for each change that counts, and go on after the server has forgotten what was, refused it, or closed the
// connection.

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
}

/** What is asked until the last answer was given, which is never ended. */
async function tell(answers: readonly ReturnType<Handle>[], namespaces: readonly string[] = ['*']): Promise<Told> {
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
  const clock = { ...systemClock, sleep: () => new Promise<void>((done) => setImmediate(done)) };
  const cluster = await connect(url);
  const end = watchResources(
    {
      cluster,
      clock,
      changed: () => {
        wakes += 1;
      },
      say: (text) => void said.push(text.replaceAll(url, 'URL')),
    },
    { apiGroup: 'example.com', kinds: ['Widget'], namespaces },
  );
  await all.promise;
  await end();
  await cluster.close();
  return { asked, wakes, said };
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
  });
  expect((await tell([{ text: event('ADDED', widget(101)) }, { text: statusAlone.slice(1).join('') }])).wakes).toBe(1);
});

test('events in a namespace that is not kept wake no run, and each named namespace has a watch', async () => {
  const outside = { text: event('ADDED', widget(101, { namespace: 'other' })) };
  expect((await tell([outside], ['team-*'])).wakes).toBe(1);
  const { asked } = await tell([], ['a']);
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
  });
});

test('a watch that is refused, or breaks, is said once and begun again', async () => {
  const forbidden = status(403, 'Forbidden', 'widgets is forbidden: cannot watch');
  const { asked, said, wakes } = await tell([forbidden, forbidden, 'drop', { text: 'no JSON\n' }]);
  expect(asked.filter((each) => each.startsWith('watch'))).toEqual([
    'watch from 100',
    'watch from 200',
    'watch from 300',
    'watch from 400',
    'watch from 500',
  ]);
  expect(said.map((text) => text.slice(0, 50))).toEqual([
    'Widget is not watched (cluster-forbidden: URL/apis',
    'Widget is not watched (cluster-unreachable: URL/ap',
    'Widget is watched again',
    'Widget is not watched (cluster-error: URL/apis/exa',
  ]);
  expect(wakes).toBe(1);
});
