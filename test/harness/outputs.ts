// Validates the JSON output of a command against its published schema in docs/outputs or docs/schemas/output.

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';

export function expectOutput(name: string, json: string): void {
  const files = ['outputs', 'schemas/output'].map((folder) =>
    fileURLToPath(new URL(`../../docs/${folder}/${name}.json`, import.meta.url)),
  );
  const file = files.find((each) => existsSync(each)) ?? '';
  const ajv = new Ajv2020({ allErrors: true, validateFormats: false });
  const isValid = ajv.compile(JSON.parse(readFileSync(file, 'utf8')));
  isValid(JSON.parse(json));
  expect(isValid.errors ?? []).toEqual([]);
}
