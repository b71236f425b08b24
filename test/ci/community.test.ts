// What GitHub and editors read of a project is well-formed: forms of issues, the development container.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '../..');
const FORMS = join(ROOT, '.github/ISSUE_TEMPLATE');

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

interface Element {
  readonly type: string;
  readonly id?: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly validations?: { readonly required: boolean };
}

const forms = readdirSync(FORMS).filter((name) => name !== 'config.yml');

// docs.github.com, "Syntax for GitHub's form schema": a form that breaks it is not shown.
test.each(forms)('%s is a form that GitHub shows', (name) => {
  const form = parse(readFileSync(join(FORMS, name), 'utf8'));
  expect(Object.keys(form)).toEqual(['name', 'description', 'labels', 'body']);
  const body: readonly Element[] = form.body;
  const asked = body.filter(({ type }) => type !== 'markdown');
  expect(asked.some(({ validations }) => validations?.required === true)).toBe(true);
  expect(new Set(asked.map(({ id }) => id)).size).toBe(asked.length);
  for (const { type, id, attributes } of body) {
    expect(['markdown', 'textarea', 'input']).toContain(type);
    expect(typeof (type === 'markdown' ? attributes.value : attributes.label)).toBe('string');
    if (type !== 'markdown') expect(id).toMatch(/^[\w-]+$/);
  }
});

test('a bug asks for the state of the instance', () => {
  expect(read('.github/ISSUE_TEMPLATE/bug.yml')).toContain('skep status -o json');
});

test('the development container has the Node that the project asks for, and installs what is locked', () => {
  const container = JSON.parse(read('.devcontainer/devcontainer.json'));
  const { engines } = JSON.parse(read('package.json'));
  expect(`>=${/:(\d+)-/.exec(container.image)?.[1]}`).toBe(engines.node);
  expect(container.postCreateCommand).toBe('npm ci');
});
