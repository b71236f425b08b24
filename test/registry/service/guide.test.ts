// What docs/registry.md lists is what the service has.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createServiceMetrics } from '#registry/service/metrics.ts';

const guide = readFileSync(fileURLToPath(new URL('../../../docs/registry.md', import.meta.url)), 'utf8');

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
