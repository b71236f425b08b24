import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { gatherWrites } from './gathered-writes.ts';

test('texts that are written in quick succession are joined in order, without a flush', async () => {
  const written = await new Promise((resolve) => {
    const lines = gatherWrites(resolve);
    lines.write('a\n');
    lines.write('b\n');
  });
  expect(written).toBe('a\nb\n');
});

test('a flush writes the buffered texts once', () => {
  const written: string[] = [];
  const lines = gatherWrites((text) => written.push(text));
  lines.flush();
  lines.write('a\n');
  expect(written).toEqual([]);
  lines.flush();
  lines.flush();
  lines.write('b\n');
  lines.flush();
  expect(written).toEqual(['a\n', 'b\n']);
});

test('a process that calls exit writes all texts', () => {
  const url = JSON.stringify(new URL('gathered-writes.ts', import.meta.url).href);
  const program = `import { gatherWrites } from ${url};
    const lines = gatherWrites((text) => process.stdout.write(text));
    lines.write('a\\n');
    lines.write('b\\n');
    process.exit(3);`;
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
  });
  expect({ stdout, status }).toEqual({ stdout: 'a\nb\n', status: 3 });
});
