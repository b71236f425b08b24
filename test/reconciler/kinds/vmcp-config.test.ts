// What VirtualMCPServers render, the virtual server reads.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readVmcpConfig, VMCP_CONFIG_FILE } from '#contracts/vmcp-config.ts';
import { isObject } from '#std/json.ts';
import { readDocuments } from '#std/yaml/yaml.ts';
import { FOLDER } from './fixture.ts';

const EXPECTED = join(FOLDER, 'virtualmcpserver/expected');

function renderedIn(file: string): string | undefined {
  const documents = readDocuments(readFileSync(join(EXPECTED, file), 'utf8'), file);
  const texts = documents.map(({ value }) =>
    isObject(value) && isObject(value.data) ? value.data[VMCP_CONFIG_FILE] : '',
  );
  return texts.filter((text) => typeof text === 'string').find((text) => text !== '');
}

const files = readdirSync(EXPECTED).filter((file) => file.endsWith('.yaml') && !file.endsWith('.status.yaml'));

it.each(files)('%s holds a configuration that can be read', (file) => {
  expect(readVmcpConfig(renderedIn(file) ?? '')).toEqual({ config: expect.objectContaining({ name: 'office' }) });
});
