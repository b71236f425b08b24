// What docs/registry.md shows is what the service takes and has.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readRegistryConfig } from '../../src/contracts/registry-config-read.ts';
import { createServiceMetrics } from '../../src/registry/metrics.ts';
import { formatProblem } from '../../src/std/problem.ts';

const guide = readFileSync(fileURLToPath(new URL('../../docs/registry.md', import.meta.url)), 'utf8');

test('its configuration has no problem and no warning', () => {
  const [, text = ''] = /```yaml\n(.*?)```/s.exec(guide) ?? [];
  const result = readRegistryConfig(text, 'registry.yaml');
  expect('problems' in result ? result.problems.map(formatProblem) : result.warnings).toEqual([]);
});

test('it names every metric', () => {
  const names = [
    ...createServiceMetrics('1', [])
      .text()
      .matchAll(/^# TYPE (\S+)/gm),
  ].map(([, name = '']) => name);
  const missing = names.filter(
    (name) => !guide.includes(name) && !guide.includes(`\`${name.replace(/^skep_registry/, '')}\``),
  );
  expect(missing).toEqual(['skep_build_info']);
});
