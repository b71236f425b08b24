// Maps names of metrics to OTLP. Prometheus names contain unit and type. OpenTelemetry has separate fields for them.

import type { MetricFamily } from '#std/telemetry/metrics.ts';

export interface OtlpName {
  readonly name: string;
  /** Unit in UCUM. Empty if the metric has no unit. */
  readonly unit: string;
  /** Names of the attributes, in the order of the family's labels. */
  readonly labels: readonly string[];
  /** True for a gauge whose values can be summed over processes. */
  readonly additive: boolean;
}

/** OTLP names by Prometheus name, for names that the conversion rules do not produce. */
export type OtlpNames = Readonly<
  Record<string, { readonly name?: string; readonly labels?: readonly string[]; readonly additive?: boolean }>
>;

const UNITS: readonly (readonly [suffix: string, unit: string])[] = [
  ['_seconds', 's'],
  ['_bytes', 'By'],
];

/** Converts a name as collectors do (OpenTelemetry, Prometheus compatibility). */
export function otlpName(names: OtlpNames, { name, labels }: MetricFamily): OtlpName {
  const given = names[name];
  const base = name.replace(/_total$/, '');
  const [suffix = '', unit = ''] = UNITS.find(([each]) => base.endsWith(each)) ?? [];
  return {
    name: given?.name ?? base.slice(0, base.length - suffix.length),
    unit,
    labels: given?.labels ?? labels,
    additive: given?.additive ?? false,
  };
}
