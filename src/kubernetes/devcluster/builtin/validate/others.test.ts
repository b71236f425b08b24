import { expect, test } from 'vitest';
import type { KubeObject } from '../../../rules/object.ts';
import { validateConfigMap, validateSecret } from './others.ts';

const MIB = 1024 * 1024;
const metadata = { name: 'large', namespace: 'default' };

/** Returns base64 text of `count` bytes, which is a third longer than the bytes. */
function bytes(count: number): string {
  return Buffer.alloc(count).toString('base64');
}

test.each([
  ['a Secret', validateSecret, (content: string) => ({ kind: 'Secret', data: { content } })],
  ['binary data', validateConfigMap, (content: string) => ({ kind: 'ConfigMap', binaryData: { content } })],
])('%s may contain 1 MiB of decoded bytes', (_what, validate, members) => {
  const messages = (count: number) => {
    const object: KubeObject = { apiVersion: 'v1', metadata, ...members(bytes(count)) };
    return validate(object, undefined).map(({ message }) => message);
  };
  expect(messages(MIB)).toEqual([]);
  expect(messages(MIB + 1)).toEqual([`Too long: may not be more than ${MIB} bytes`]);
});
