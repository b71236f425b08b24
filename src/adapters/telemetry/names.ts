// Maps names of metrics to OTLP. Prometheus has units and kinds in names, OpenTelemetry in separate fields.

import type { MetricFamily } from '#std/telemetry/metrics.ts';

export interface OtlpName {
  readonly name: string;
  /** UCUM; empty if it has none. */
  readonly unit: string;
  /** In the order of the labels of the family. */
  readonly labels: readonly string[];
  /** A gauge whose values of several processes add up. */
  readonly additive: boolean;
}

/** OTLP names of families by their Prometheus names, if they do not follow from these. */
export type OtlpNames = Readonly<
  Record<string, { readonly name?: string; readonly labels?: readonly string[]; readonly additive?: boolean }>
>;

const UNITS: readonly (readonly [suffix: string, unit: string])[] = [
  ['_seconds', 's'],
  ['_bytes', 'By'],
];

/** Converts as collectors do (OpenTelemetry, Prometheus compatibility). */
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
