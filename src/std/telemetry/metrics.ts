// Stores counters, gauges and histograms, and formats them for Prometheus (exposition format 0.0.4).

/** Values in the order of the label names. */
type LabelValues = readonly string[];

interface Counter {
  add(labels: LabelValues, amount?: number): void;
  /** Returns the counter of one combination of labels, for repeated use. */
  at(labels: LabelValues): { add(amount?: number): void };
}

export interface Gauge {
  set(labels: LabelValues, value: number): void;
  /** Returns the gauge of one combination of labels. Valid until `clear`. */
  at(labels: LabelValues): BoundGauge;
  /** Removes all combinations of labels. */
  clear(): void;
}

export interface BoundGauge {
  set(value: number): void;
}

interface Histogram {
  observe(labels: LabelValues, value: number): void;
  /** Returns the histogram of one combination of labels, for repeated use. */
  at(labels: LabelValues): { observe(value: number): void };
}

export interface Metrics {
  counter(name: string, help: string, labels: readonly string[]): Counter;
  gauge(name: string, help: string, labels: readonly string[]): Gauge;
  /** `bounds` are upper bounds in ascending order. */
  histogram(name: string, help: string, labels: readonly string[], bounds: readonly number[]): Histogram;
  text(): string;
  /** Returns the current values, in the order in which the families were added. */
  read(): readonly MetricReading[];
  /** Returns the families in the order in which they were added. */
  families(): readonly MetricFamily[];
}

export interface MetricFamily {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
}

/** A family with its values, for the Prometheus text and other export formats. */
export type MetricReading =
  | (MetricFamily & { readonly type: 'counter' | 'gauge'; readonly points: readonly MetricPoint<number>[] })
  | (MetricFamily & {
      readonly type: 'histogram';
      /** Upper bounds in ascending order. */
      readonly bounds: readonly number[];
      readonly points: readonly MetricPoint<Distribution>[];
    });

export interface MetricPoint<T> {
  /** Values in the order of the family's labels. */
  readonly labels: LabelValues;
  readonly value: T;
}

export interface Distribution {
  /** Counts per bucket, not cumulative. `count` also contains values above all bounds. */
  readonly counts: readonly number[];
  readonly sum: number;
  readonly count: number;
}

export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

interface Series<T> {
  readonly labels: LabelValues;
  value: T;
}

interface Observed {
  readonly counts: number[];
  sum: number;
  count: number;
}

interface Family {
  read(): MetricReading;
}

export function createMetrics(): Metrics {
  const families: Family[] = [];

  function simple(type: 'counter' | 'gauge', name: string, help: string, labels: readonly string[]) {
    const all = seriesOf(() => 0);
    families.push({ read: () => ({ name, type, help, labels, points: all.list() }) });
    return all;
  }

  return {
    counter(name, help, labels) {
      const all = simple('counter', name, help, labels);
      return {
        add(values, amount = 1) {
          all.get(values).value += amount;
        },
        at(values) {
          const series = all.get(values);
          return {
            add(amount = 1) {
              series.value += amount;
            },
          };
        },
      };
    },
    gauge(name, help, labels) {
      const all = simple('gauge', name, help, labels);
      return {
        set(values, value) {
          all.get(values).value = value;
        },
        at(values) {
          const series = all.get(values);
          return {
            set(value) {
              series.value = value;
            },
          };
        },
        clear: all.clear,
      };
    },
    histogram(name, help, labels, bounds) {
      const all = seriesOf(() => ({ counts: bounds.map(() => 0), sum: 0, count: 0 }));
      families.push({ read: () => ({ name, type: 'histogram', help, labels, bounds, points: all.list() }) });
      return {
        observe: (values, value) => observeValue(bounds, all.get(values).value, value),
        at(values) {
          const { value: own } = all.get(values);
          return { observe: (value) => observeValue(bounds, own, value) };
        },
      };
    },
    read: () => families.map((family) => family.read()),
    families: () =>
      families.map((family) => family.read()).map(({ name, type, help, labels }) => ({ name, type, help, labels })),
    text: () => `${families.flatMap((family) => lines(family.read())).join('\n')}\n`,
  };
}

function observeValue(bounds: readonly number[], own: Observed, value: number): void {
  own.sum += value;
  own.count += 1;
  const index = bounds.findIndex((bound) => value <= bound);
  if (index >= 0) own.counts[index] = (own.counts[index] ?? 0) + 1;
}

function lines(reading: MetricReading): readonly string[] {
  const { name, type, help, labels } = reading;
  const points =
    reading.type === 'histogram'
      ? reading.points.flatMap((point) => histogramLines(name, labels, reading.bounds, point))
      : reading.points.map((point) => line(name, labels, point.labels, point.value));
  return [...head(name, help, type), ...points];
}

function seriesOf<T>(initial: () => T) {
  const all = new Map<string, Series<T>>();
  return {
    get(labels: LabelValues): Series<T> {
      const key = labels.join('\0');
      const known = all.get(key);
      if (known !== undefined) return known;
      const created = { labels, value: initial() };
      all.set(key, created);
      return created;
    },
    list: () => [...all.values()],
    clear: () => all.clear(),
  };
}

function histogramLines(
  name: string,
  labels: readonly string[],
  bounds: readonly number[],
  { labels: values, value }: MetricPoint<Distribution>,
): string[] {
  let below = 0;
  const buckets = bounds.map((bound, index) => {
    below += value.counts[index] ?? 0;
    return line(`${name}_bucket`, [...labels, 'le'], [...values, String(bound)], below);
  });
  return [
    ...buckets,
    line(`${name}_bucket`, [...labels, 'le'], [...values, '+Inf'], value.count),
    line(`${name}_sum`, labels, values, value.sum),
    line(`${name}_count`, labels, values, value.count),
  ];
}

function head(name: string, help: string, type: string): string[] {
  return [`# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`, `# TYPE ${name} ${type}`];
}

function line(name: string, labels: readonly string[], values: LabelValues, value: number): string {
  const pairs = labels.map((label, index) => `${label}="${quotable(values[index] ?? '')}"`);
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`;
}

function quotable(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
