// Tests that a reference to missing settings never counts as "no settings".

import { AssertionError } from 'node:assert';
import { expect, it } from 'vitest';
import { telemetrySettings } from './telemetry-settings.ts';

it('gives no settings if none are named, and fails if named ones do not exist', () => {
  const view = { find: () => undefined, all: () => [] };
  expect(telemetrySettings({}, view)).toBeUndefined();
  expect(() => telemetrySettings({ telemetryConfigRef: { name: 'collector' } }, view)).toThrow(AssertionError);
});
