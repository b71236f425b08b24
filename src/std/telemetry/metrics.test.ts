import { expect, test } from 'vitest';
import { createMetrics } from './metrics.ts';

test('formats counters, gauges and histograms for Prometheus', () => {
  const metrics = createMetrics();
  const asked = metrics.counter('asked_total', 'Questions.', ['by', 'status']);
  const open = metrics.gauge('open', 'Open ones.', []);
  const took = metrics.histogram('took_seconds', 'Time.', ['by'], [0.1, 1]);
  asked.add(['a', '200']);
  asked.add(['a', '200'], 2);
  asked.add(['b "quoted"\n\\', '500']);
  open.set([], 7);
  open.set([], 5.5);
  for (const seconds of [0.05, 0.1, 0.5, 3]) took.observe(['a'], seconds);
  expect(metrics.text()).toBe(
    [
      '# HELP asked_total Questions.',
      '# TYPE asked_total counter',
      'asked_total{by="a",status="200"} 3',
      'asked_total{by="b \\"quoted\\"\\n\\\\",status="500"} 1',
      '# HELP open Open ones.',
      '# TYPE open gauge',
      'open 5.5',
      '# HELP took_seconds Time.',
      '# TYPE took_seconds histogram',
      'took_seconds_bucket{by="a",le="0.1"} 2',
      'took_seconds_bucket{by="a",le="1"} 3',
      'took_seconds_bucket{by="a",le="+Inf"} 4',
      'took_seconds_sum{by="a"} 3.65',
      'took_seconds_count{by="a"} 4',
      '',
    ].join('\n'),
  );
});

test('removes the labels of a gauge by clear', () => {
  const metrics = createMetrics();
  const servers = metrics.gauge('servers', 'Servers.', ['registry']);
  servers.set(['gone'], 1);
  servers.clear();
  servers.set(['kept'], 2);
  expect(metrics.text()).toBe('# HELP servers Servers.\n# TYPE servers gauge\nservers{registry="kept"} 2\n');
});

test('reads the values as in the text', () => {
  const metrics = createMetrics();
  metrics.counter('asked_total', 'Questions.', ['by']).add(['a'], 3);
  const took = metrics.histogram('took_seconds', 'Time.', [], [0.1, 1]);
  for (const seconds of [0.05, 0.5, 3]) took.observe([], seconds);
  expect(metrics.read()).toEqual([
    {
      name: 'asked_total',
      type: 'counter',
      help: 'Questions.',
      labels: ['by'],
      points: [{ labels: ['a'], value: 3 }],
    },
    {
      name: 'took_seconds',
      type: 'histogram',
      help: 'Time.',
      labels: [],
      bounds: [0.1, 1],
      points: [{ labels: [], value: { counts: [1, 1], sum: 3.55, count: 3 } }],
    },
  ]);
});
