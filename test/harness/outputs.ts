// Holds JSON that a command prints against its published schema in docs/outputs.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';

export function expectOutput(name: string, json: string): void {
  const file = fileURLToPath(new URL(`../../docs/outputs/${name}.json`, import.meta.url));
  const ajv = new Ajv2020({ allErrors: true, validateFormats: false });
  const isValid = ajv.compile(JSON.parse(readFileSync(file, 'utf8')));
  isValid(JSON.parse(json));
  expect(isValid.errors ?? []).toEqual([]);
}
