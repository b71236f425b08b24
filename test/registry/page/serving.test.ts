// How the page is served: public in every mode, kept by caches as long as it may be, and without anything from elsewhere.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { openService, type Service } from '../service/service.ts';

let service: Service;

beforeAll(async () => {
  service = await openService(`auth:
  oauth:
    resourceUrl: https://registry.example
    providers: [{name: main, issuerUrl: "https://issuer.example", audience: x}]`);
});

afterAll(() => service.close());

async function files(): Promise<string[]> {
  const { text } = await service.get('/');
  return [...text.matchAll(/(?:href|src)="(page\/[^"]+)"/g)].map(([, path]) => `/${path}`);
}

test('the shell is public, may not be framed, and is asked for again', async () => {
  const { status, headers, text } = await service.get('/');
  expect(status).toBe(200);
  expect(headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  });
  expect(headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; /);
  expect(headers['content-security-policy']).not.toContain('unsafe');
  expect(text).toContain('data-auth="oauth"');
  expect(text).not.toMatch(/%[A-Z]+%|<script(?![^>]*src=)|<style| style=| on[a-z]+=/);
  const again = await service.get('/', { 'if-none-match': headers.etag ?? '' });
  expect(again).toMatchObject({ status: 304, text: '' });
});

test('every file that the shell names is there, public, and kept for ever', async () => {
  const paths = await files();
  expect(paths.length).toBeGreaterThan(20);
  for (const path of paths) {
    const { status, headers, text } = await service.get(path);
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(headers['content-type']).toMatch(/^(text\/javascript|text\/css|image\/svg\+xml); charset=utf-8$/);
    expect(text).not.toBe('');
    expect(await service.get(path, { 'if-none-match': headers.etag ?? '' })).toMatchObject({ status: 304 });
  }
});

test('the files of the page are packed for those who take that', async () => {
  const [script = ''] = (await files()).filter((path) => path.includes('/main.'));
  for (const path of ['/', script]) {
    const plain = await service.get(path);
    expect(plain.headers['content-encoding']).toBeUndefined();
    for (const coding of ['gzip', 'br']) {
      const packed = await service.get(path, { 'accept-encoding': coding });
      expect(packed.headers).toMatchObject({ 'content-encoding': coding, vary: 'Authorization, Accept-Encoding' });
      expect(packed.text).toBe(plain.text);
    }
  }
});

test('nothing else is served or public beside them', async () => {
  const [script = ''] = (await files()).filter((path) => path.includes('/main.'));
  for (const path of [
    script.replace('main.', 'tsconfig.'),
    script.replace(/main\..*/, 'index.html'),
    '/page',
    `${script}/x`,
  ]) {
    expect((await service.get(path)).status).toBe(401);
  }
  expect(await service.send({ method: 'POST', url: '/' })).toMatchObject({
    status: 405,
    headers: { allow: 'GET, HEAD, OPTIONS' },
  });
  expect((await service.send({ method: 'HEAD', url: '/' })).status).toBe(200);
});
