import { expect, it } from 'vitest';
import { endpointUrl } from './endpoint.ts';

const STREAM = 'http://mcp-weather:8080/team/sse?x=1';

it.each([
  { data: '/messages?session_id=1', url: 'http://mcp-weather:8080/messages?session_id=1' },
  { data: 'messages?session_id=1', url: 'http://mcp-weather:8080/team/messages?session_id=1' },
  { data: '?session_id=1', url: 'http://mcp-weather:8080/team/sse?session_id=1' },
  { data: 'http://mcp-weather:8080/m#part', url: 'http://mcp-weather:8080/m' },
  { data: ' /messages \n', url: 'http://mcp-weather:8080/messages' },
])('resolves $data against the URL of the stream', ({ data, url }) => {
  expect(endpointUrl(STREAM, data)).toBe(url);
});

it.each([
  '',
  'http://',
  'http://other:8080/messages',
  'http://mcp-weather:8081/messages',
  'https://mcp-weather:8080/messages',
  '//other:8080/messages',
  'http://user:secret@mcp-weather:8080/messages',
  'file:///etc/passwd',
  `/${'a'.repeat(5000)}`,
])('refuses %s, which has another origin or is not a URL', (data) => {
  expect(endpointUrl(STREAM, data)).toBeUndefined();
});
