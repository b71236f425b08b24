// Sends the Prometheus metrics under OpenTelemetry names over OTLP/HTTP. Only this file loads the packages for metrics.

import type { HrTime } from '@opentelemetry/api';
import type { MetricData, MetricProducer, PushMetricExporter } from '@opentelemetry/sdk-metrics';
import type { Distribution, MetricPoint, MetricReading } from '#std/telemetry/metrics.ts';
import { type OtlpName, type OtlpNames, otlpName } from './names.ts';
import { EXPORT_MS, type Sent } from './sent.ts';
import { type Collector, exporterOptions } from './settings.ts';

export interface MetricOptions {
  readonly collector: Collector;
  readonly version: string;
  readonly resource: Readonly<Record<string, string>>;
  readonly read: () => readonly MetricReading[];
  readonly names: OtlpNames;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly intervalMs: number;
  readonly sent: Sent;
}

type Sdk = typeof import('@opentelemetry/sdk-metrics');
type ValueType = typeof import('@opentelemetry/api').ValueType;

/** Starts sending. The returned function sends the remaining metrics and stops. */
export async function openMetrics(options: MetricOptions): Promise<() => Promise<void>> {
  const [api, sdk, { resourceFromAttributes }, { OTLPMetricExporter }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-metrics'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/exporter-metrics-otlp-http'),
  ]);
  const { collector, intervalMs, sent } = options;
  const exporter = new OTLPMetricExporter({ ...exporterOptions(collector, 'metrics'), timeoutMillis: EXPORT_MS });
  const resource = resourceFromAttributes({ ...options.resource });
  const startTime = hrTime(options.now());

  const producer: MetricProducer = {
    async collect() {
      const times = { startTime, endTime: hrTime(options.now()) };
      const metrics = options.read().map((reading) => {
        return dataOf(sdk, api.ValueType, reading, otlpName(options.names, reading), times);
      });
      const scope = { name: 'skep', version: options.version };
      return { resourceMetrics: { resource, scopeMetrics: [{ scope, metrics }] }, errors: [] };
    },
  };

  const reader = new sdk.PeriodicExportingMetricReader({
    exporter: observed(exporter, sent),
    exportIntervalMillis: intervalMs,
    exportTimeoutMillis: Math.min(EXPORT_MS, intervalMs),
    metricProducers: [producer],
  });
  const provider = new sdk.MeterProvider({ resource, readers: [reader] });
  return () => provider.shutdown();
}

function observed(exporter: PushMetricExporter, sent: Sent): PushMetricExporter {
  return {
    export(metrics, done) {
      exporter.export(metrics, (result) => {
        sent(result.error);
        done(result);
      });
    },
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
}

interface Times {
  readonly startTime: HrTime;
  readonly endTime: HrTime;
}

function dataOf(sdk: Sdk, types: ValueType, reading: MetricReading, name: OtlpName, times: Times): MetricData {
  const common = {
    descriptor: { name: name.name, unit: name.unit, description: reading.help, valueType: types.DOUBLE },
    aggregationTemporality: sdk.AggregationTemporality.CUMULATIVE,
  };
  const point = <T>({ labels, value }: MetricPoint<T>) => ({ ...times, attributes: attributesOf(name, labels), value });
  if (reading.type === 'histogram') {
    const { bounds } = reading;
    const dataPoints = reading.points.map((each) => point({ ...each, value: histogram(bounds, each.value) }));
    return { ...common, dataPointType: sdk.DataPointType.HISTOGRAM, dataPoints };
  }
  const dataPoints = reading.points.map(point);
  if (reading.type === 'gauge' && !name.additive) {
    return { ...common, dataPointType: sdk.DataPointType.GAUGE, dataPoints };
  }
  return { ...common, dataPointType: sdk.DataPointType.SUM, isMonotonic: reading.type === 'counter', dataPoints };
}

/** Drops empty labels, which Prometheus treats as absent. */
function attributesOf({ labels }: OtlpName, values: readonly string[]): Record<string, string> {
  const attributes: Record<string, string> = {};
  labels.forEach((label, index) => {
    const value = values[index] ?? '';
    if (value !== '') attributes[label] = value;
  });
  return attributes;
}

function histogram(bounds: readonly number[], { counts, sum, count }: Distribution) {
  const above = counts.reduce((rest, each) => rest - each, count);
  return { buckets: { boundaries: [...bounds], counts: [...counts, above] }, sum, count };
}

function hrTime(ms: number): HrTime {
  return [Math.floor(ms / 1000), (ms % 1000) * 1_000_000];
}
