import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const MODULE = fileURLToPath(new URL('./undici.ts', import.meta.url));

test('a proxy agent can send CONNECT even if nothing else has loaded undici', () => {
  // In a separate process, because other tests in this process load the agent.
  const code = `import { loadProxyAgent } from ${JSON.stringify(MODULE)};
    const agent = new (loadProxyAgent())('http://127.0.0.1:1');
    const failed = await agent.request({ origin: 'https://example.test', path: '/', method: 'GET' }).catch((error) => error);
    process.stdout.write(String(failed.code ?? failed.message));`;
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
  expect(said).toBe('ECONNREFUSED');
});
