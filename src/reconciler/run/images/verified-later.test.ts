import { expect, test } from 'vitest';
import { KINDS } from '../../kinds/index.ts';
import { validate } from '../validate.ts';
import type { ImagePolicy } from './policy.ts';

function server(name: string, namespace: string): string {
  return `apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPServer
metadata: {name: ${name}, namespace: ${namespace}}
spec:
  image: images.example.com/${name}:1
  transport: stdio
`;
}

const DOCUMENTS = ['clock', 'dice'].map((name) => ({
  path: `${name}.yaml`,
  oid: name,
  text: server(name, 'tools'),
}));

function warnings(verify: ImagePolicy | undefined): readonly string[] {
  const { problems } = validate({ documents: DOCUMENTS, kinds: KINDS, apiGroup: 'toolhive.stacklok.dev', verify });
  return problems.map(({ code, place, message }) => `${code} ${place?.file}:${place?.line} ${message}`);
}

test('one warning, at the first image, says that all images are verified later', () => {
  const policy: ImagePolicy = { mode: 'require', namespaces: [], pin: false, rules: [] };
  expect(warnings(policy)).toEqual([
    expect.stringMatching(/^images-verified-later clock\.yaml:5 this image and 1 more are not verified here/),
  ]);
  expect(warnings({ ...policy, namespaces: [{ name: 'tool?', mode: 'off' }] })).toEqual([]);
  expect(warnings(undefined)).toEqual([]);
});
