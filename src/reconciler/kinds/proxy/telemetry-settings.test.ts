// Tests that a reference to missing settings is never treated as "no settings".

import { AssertionError } from 'node:assert';
import { expect, it } from 'vitest';
import { telemetrySettings } from './telemetry-settings.ts';

it('returns undefined if no settings are named, and throws if named settings do not exist', () => {
  const view = { find: () => undefined, all: () => [] };
  expect(telemetrySettings({}, view)).toBeUndefined();
  expect(() => telemetrySettings({ telemetryConfigRef: { name: 'collector' } }, view)).toThrow(AssertionError);
});
