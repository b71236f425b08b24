// Sends telemetry over OTLP/HTTP. Loads only the packages of the requested signals. An unavailable collector delays
// neither requests nor the end of the process.

import type { BeginSpan } from '#gateway/proxy/ports.ts';
import type { MetricReading } from '#std/telemetry/metrics.ts';
import type { OtlpNames } from './names.ts';
import { type Arrival, FLUSH_MS, watchSent } from './sent.ts';
import type { Collector } from './settings.ts';

export interface TelemetryOptions {
  readonly collector: Collector;
  readonly version: string;
  /** Attributes of the resource in all signals. */
  readonly resource: Readonly<Record<string, string>>;
  /** If undefined, no traces are sent. */
  readonly traces?: { readonly samplingRate: number; readonly attributes: Readonly<Record<string, string>> };
  /** If undefined, no metrics are sent. */
  readonly metrics?: {
    readonly read: () => readonly MetricReading[];
    readonly names: OtlpNames;
    readonly intervalMs: number;
  };
  readonly clock: { now(): number; after(ms: number, task: () => void): () => void };
  readonly notify: (arrival: Arrival) => void;
}

export interface Telemetry {
  readonly beginSpan?: BeginSpan;
  /** Sends the remaining telemetry for at most `FLUSH_MS`. */
  close(): Promise<void>;
}

export async function openTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  const { clock } = options;
  const [traces, closeMetrics] = await Promise.all([traceParts(options), metricParts(options)]);

  async function close(): Promise<void> {
    let cancel: () => void = () => undefined;
    const late = new Promise<void>((resolve) => {
      cancel = clock.after(FLUSH_MS, resolve);
    });
    // Failures were already logged by the exporter.
    await Promise.race([Promise.allSettled([traces?.close(), closeMetrics?.()]), late]);
    cancel();
  }

  return { beginSpan: traces?.begin, close };
}

async function traceParts({ collector, version, resource, traces, notify }: TelemetryOptions) {
  if (traces === undefined) return undefined;
  const { openTraces } = await import('./traces.ts');
  return openTraces({ collector, version, resource, ...traces, sent: watchSent(notify) });
}

async function metricParts({ collector, version, resource, metrics, clock, notify }: TelemetryOptions) {
  if (metrics === undefined) return undefined;
  const { openMetrics } = await import('./metrics.ts');
  return openMetrics({ collector, version, resource, ...metrics, now: clock.now, sent: watchSent(notify) });
}
