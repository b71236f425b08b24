// manifests/observability asks for what there is: metrics, labels and their values, pods and ports, pages to read.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { exposedByProxy, exposedByRun, exposedByServe, type Family } from './exposed.ts';
import { type Query, readQuery } from './promql.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const OWN = 'manifests/observability';

function text(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** What others read is looked at piece by piece. */
// biome-ignore lint/suspicious/noExplicitAny: as above
type Any = any;

function documents(...patterns: readonly string[]): Any[] {
  const files = patterns.flatMap((pattern) => globSync(pattern, { cwd: ROOT }).toSorted());
  return files.flatMap((file) => parseAllDocuments(text(file)).map((document) => document.toJS()));
}

const all = documents(`${OWN}/*.yaml`);
const monitors = all.filter(({ kind }) => kind === 'PodMonitor');
const alerts: Any[] = all
  .filter(({ kind }) => kind === 'PrometheusRule')
  .flatMap(({ spec }) => spec.groups)
  .flatMap(({ rules }) => rules);
const dashboard: Any = JSON.parse(text(`${OWN}/dashboard.json`));
const panels: Any[] = dashboard.panels.filter(({ type }: Any) => type !== 'row');

const jobs: string[] = monitors.flatMap(({ spec }) => relabelings(spec, 'job').map(({ replacement }) => replacement));

function relabelings(spec: Any, label: string): Any[] {
  return spec.podMetricsEndpoints
    .flatMap((endpoint: Any) => endpoint.relabelings)
    .filter(({ targetLabel }: Any) => targetLabel === label);
}

/** By the operator (its API reference, PodMonitor), and by the relabelings of ours. */
const TARGET = new Set(['namespace', 'pod', 'container', 'endpoint', 'instance', 'job', 'mcpregistry']);

let families: ReadonlyMap<string, readonly Family[]>;
beforeAll(async () => {
  const all = [...(await exposedByRun()), ...(await exposedByServe()), ...exposedByProxy()];
  families = Map.groupBy(all, ({ name }) => name);
});

/** By Prometheus itself, of each target. */
const UP: readonly Family[] = [{ name: 'up', type: 'gauge', labels: new Map() }];

function familiesOf(metric: string): readonly Family[] {
  const parts = /^(.*)_(bucket|sum|count)$/.exec(metric);
  const histogram = families.get(parts?.[1] ?? '')?.filter(({ type }) => type === 'histogram') ?? [];
  if (histogram.length > 0) return histogram;
  return metric === 'up' ? UP : (families.get(metric) ?? []).filter(({ type }) => type !== 'histogram');
}

/** What is wrong with an expression, in sentences. */
function faults(query: Query): string[] {
  const known = new Set(TARGET);
  const found = query.selectors.flatMap(({ metric, matchers }) => {
    const own = familiesOf(metric);
    if (own.length === 0) return [`there is no metric ${metric}`];
    for (const label of own.flatMap(({ labels }) => [...labels.keys()])) known.add(label);
    return matchers.flatMap(({ label, operator, value }) => {
      if (TARGET.has(label))
        return label === 'job' && !jobs.some((job) => matches(operator, value, job)) ? [value] : [];
      const values = own.flatMap(({ labels }) => [...(labels.get(label) ?? [])]);
      if (values.length === 0) return [`${metric} has no label ${label}`];
      const alternatives = operator.includes('~') ? value.split('|') : [value];
      const missing = alternatives.filter((each) => !values.some((one) => new RegExp(`^(?:${each})$`).test(one)));
      return missing.map((each) => `${label} of ${metric} is never ${each}`);
    });
  });
  const groups = query.groupings.flatMap(({ labels }) => labels).filter((label) => !known.has(label));
  return [...found, ...groups.map((label) => `nothing has a label ${label}`)];
}

function matches(operator: string, value: string, given: string): boolean {
  return operator.includes('~') ? new RegExp(`^(?:${value})$`).test(given) : value === given;
}

/** Labels that the series of the answer have, as far as the expression says. */
function keeps({ selectors, groupings }: Query, label: string): boolean {
  const grouped = groupings.filter(({ by }) => by === 'by');
  if (groupings.some(({ by, labels }) => by === 'without' && labels.includes(label))) return false;
  if (grouped.length > 0) return grouped.every(({ labels }) => labels.includes(label));
  return (
    TARGET.has(label) || selectors.some(({ metric }) => familiesOf(metric).some(({ labels }) => labels.has(label)))
  );
}

/** As Grafana fills them in. */
function filledIn(expression: string): string {
  return expression.replaceAll('$__rate_interval', '5m').replaceAll('$namespace', '.*');
}

test('the reader of PromQL and the list of what is exposed find faults', () => {
  const wrong = 'sum by (nowhere) (rate(skep_runs_total{outcome=~"done|never", no="x"}[5m])) + skep_none';
  expect(faults(readQuery(wrong))).toEqual([
    'outcome of skep_runs_total is never never',
    'skep_runs_total has no label no',
    'there is no metric skep_none',
    'nothing has a label nowhere',
  ]);
  expect(() => readQuery('sum(')).toThrow('no PromQL');
});

describe('alerts', () => {
  test.each(alerts.map((rule) => [rule.alert, rule]))('%s asks for what there is', (_name, { expr }) => {
    expect(faults(readQuery(expr))).toEqual([]);
  });

  test.each(alerts.map((rule) => [rule.alert, rule]))('%s says what to do', (_name, { expr, labels, annotations }) => {
    expect(labels.severity).toMatch(/^(critical|warning|info)$/);
    const { summary, description } = annotations;
    expect(Math.min(summary.length, description.length)).toBeGreaterThan(10);
    const named = [...`${summary}${description}`.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label);
    const query = readQuery(expr);
    expect(named.filter((label) => !keeps(query, label))).toEqual([]);
  });

  test('each has its own section, and each section its alert', () => {
    const page = text('docs/alerts.md');
    const sections = [...page.matchAll(/^### (.+)$/gm)].map(([, title = '']) => title);
    expect(sections.toSorted()).toEqual(alerts.map(({ alert }) => alert).toSorted());
    const base = 'https://github.com/skep-dev/skep/blob/main/docs/alerts.md#';
    expect(alerts.map(({ annotations }) => annotations.runbook_url)).toEqual(
      alerts.map(({ alert }) => `${base}${alert.toLowerCase()}`),
    );
  });
});

describe('the dashboard', () => {
  const targets = panels.flatMap(({ title, targets }) => targets.map((target: Any) => [title, target]));

  test.each(targets)('%s asks for what there is', (_title, { expr }) => {
    expect(faults(readQuery(filledIn(expr)))).toEqual([]);
  });

  test('each panel is one of its own, in a place of its own, and asks the source of data that is chosen', () => {
    const ids = dashboard.panels.map(({ id }: Any) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }: Any) =>
      Array.from({ length: w * h }, (_none, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    const source = { type: 'prometheus', uid: '$' + '{datasource}' };
    for (const panel of panels) {
      expect([panel.datasource, ...panel.targets.map(({ datasource }: Any) => datasource)]).toEqual(
        Array(panel.targets.length + 1).fill(source),
      );
      expect(new Set(panel.targets.map(({ refId }: Any) => refId)).size).toBe(panel.targets.length);
    }
    const variables = dashboard.templating.list.map(({ name, type }: Any) => [name, type]);
    expect(variables).toEqual([
      ['datasource', 'datasource'],
      ['namespace', 'query'],
    ]);
  });
});

describe('what is scraped', () => {
  const kinds = ['mcpregistry', 'mcpserver', 'mcpremoteproxy'];
  const made = kinds.map((kind) => `test/reconciler/kinds/${kind}/expected/full.yaml`);
  const workloads = documents('manifests/install/**/deployment.yaml', ...made)
    .flatMap((each) => (Array.isArray(each) ? each : [each]))
    .filter(({ kind }) => kind === 'Deployment');

  test.each(monitors.map((monitor) => [monitor.metadata.name, monitor]))(
    '%s finds a pod with its port',
    (_name, { spec }) => {
      const { matchLabels, matchExpressions = [] } = spec.selector;
      const found = workloads.filter(({ spec: { template } }) => {
        const { labels } = template.metadata;
        const exist = matchExpressions.every(({ key, operator, values }: Any) =>
          operator === 'In' ? values.includes(labels[key]) : operator === 'Exists' && key in labels,
        );
        return exist && Object.entries(matchLabels).every(([key, value]) => labels[key] === value);
      });
      expect(found).toHaveLength(matchExpressions.find(({ values }: Any) => values !== undefined)?.values.length ?? 1);
      for (const { spec: made } of found) {
        const { containers } = made.template.spec;
        const ports = containers.flatMap(({ ports = [] }: Any) => ports.map(({ name }: Any) => name));
        expect(ports).toEqual(expect.arrayContaining(spec.podMetricsEndpoints.map(({ port }: Any) => port)));
      }
      const { template } = found[0].spec;
      const wanted = relabelings(spec, 'mcpregistry').flatMap(({ sourceLabels }) => sourceLabels);
      const given = Object.keys(template.metadata.labels).map(
        (label) => `__meta_kubernetes_pod_label_${label.replaceAll(/[^a-zA-Z0-9_]/g, '_')}`,
      );
      expect(given).toEqual(expect.arrayContaining(wanted));
    },
  );

  test('the files that kustomize is to take are all that there are', () => {
    const { resources, configMapGenerator } = all.find(({ kind }) => kind === 'Component');
    const named = [...resources, ...configMapGenerator.flatMap(({ files }: Any) => files)].map(
      (each: string) => each.split('=').at(-1) ?? '',
    );
    const present = globSync('*', { cwd: join(ROOT, OWN) }).filter((name) => name !== 'kustomization.yaml');
    expect(named.toSorted()).toEqual(present.toSorted());
  });
});
