import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { writeBuildInfo } from '../../scripts/build-info.ts';
import { readBuild } from './version.ts';

test('the build contains the commit from which it was built', () => {
  const folder = mkdtempSync(join(tmpdir(), 'skep-build-'));
  const file = pathToFileURL(join(folder, 'build.json'));
  try {
    expect(readBuild(file)).toEqual({ commit: 'unknown', date: 'unknown' });
    writeBuildInfo(folder, { COMMIT: '0123abc', BUILD_DATE: '2026-11-22T10:00:00Z' });
    expect(readBuild(file)).toEqual({ commit: '0123abc', date: '2026-11-22T10:00:00Z' });
    writeBuildInfo(folder, {});
    expect(readBuild(file)).toEqual({
      commit: expect.stringMatching(/^[0-9a-f]{40}$/),
      date: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    });
    writeFileSync(file, '{}');
    expect(readBuild(file)).toEqual({ commit: 'unknown', date: 'unknown' });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
