// The servers of the sample fleet as their containers run them: an official client lists, calls, reads and is asked over each
// transport, and the holidays are those of the calendar.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  Client,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { holidaysOf } from '#samples/holidays/countries.ts';
import { easterSunday } from '#samples/holidays/dates.ts';
import { temporaryFolder } from '../harness/git-server.ts';
import { type Running, startSkep } from '../harness/skep.ts';

const EXECUTABLE = fileURLToPath(new URL('../../src/skep.ts', import.meta.url));
const folder = temporaryFolder();
afterAll(() => folder.remove());

let running: Running | undefined;
let client: Client | undefined;

afterEach(async () => {
  await client?.close();
  running?.kill('SIGTERM');
  expect((await running?.finished)?.code ?? 0).toBe(0);
  running = undefined;
});

async function reach(name: string, transport: 'stdio' | 'streamable-http' | 'sse'): Promise<Transport> {
  const args = ['sample', name, ...(name === 'notes' ? ['--folder', folder.path] : [])];
  if (transport === 'stdio')
    return new StdioClientTransport({ command: process.execPath, args: [EXECUTABLE, ...args] });
  running = startSkep(args, { cwd: folder.path, env: { MCP_TRANSPORT: transport, MCP_PORT: '0' } });
  const url = /http:\S+/.exec(await running.printed('serving http'))?.[0] ?? '';
  return transport === 'sse' ? new SSEClientTransport(new URL(url)) : new StreamableHTTPClientTransport(new URL(url));
}

async function connect(...server: Parameters<typeof reach>): Promise<Client> {
  client = new Client({ name: 'test', version: '1.0.0' }, { capabilities: { elicitation: { form: {} } } });
  await client.connect(await reach(...server));
  return client;
}

function textOf({ content }: Awaited<ReturnType<Client['callTool']>>): string {
  return content.map((block) => (block.type === 'text' ? block.text : block.type)).join('\n');
}

describe.each(['stdio', 'streamable-http', 'sse'] as const)('over %s', (transport) => {
  test('notes are added, found, read and deleted once the user agrees', async () => {
    const notes = await connect('notes', transport);
    const asked: string[] = [];
    let action: 'accept' | 'decline' = 'decline';
    notes.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params.message);
      return { action };
    });
    const call = async (name: string, args: Record<string, string> = {}) =>
      textOf(await notes.callTool({ name, arguments: args }));
    const title = `Übergabe ${transport}`;
    expect(await call('add_note', { title, text: 'The key is **under** the mat.' })).toBe(`Added "${title}".`);
    expect(readFileSync(join(folder.path, `${title}.md`), 'utf8')).toBe('The key is **under** the mat.');
    expect(await call('add_note', { title, text: 'Again' })).toBe(`There is a note "${title}" already.`);
    expect(await call('search_notes', { query: `mat KEY ${transport}` })).toBe(title);
    const { resources } = await notes.listResources();
    const { uri = '' } = resources.find(({ name }) => name === title) ?? {};
    expect((await notes.readResource({ uri })).contents).toMatchObject([{ text: 'The key is **under** the mat.' }]);
    expect(JSON.stringify(await notes.getPrompt({ name: 'summarize_notes' }))).toContain('under');
    expect(await call('delete_note', { title })).toBe(`Kept "${title}".`);
    action = 'accept';
    expect(await call('delete_note', { title })).toBe(`Deleted "${title}".`);
    expect(asked).toEqual([`Delete the note "${title}"?`, `Delete the note "${title}"?`]);
    expect(await call('read_note', { title })).toBe(`There is no note "${title}".`);
  });

  test('the handbook finds a section of this documentation and reports how far it has read', async () => {
    const handbook = await connect('handbook', transport);
    const seen: number[] = [];
    const found = await handbook.callTool(
      { name: 'search_pages', arguments: { query: 'stdio one process for all clients', limit: 1 } },
      { onprogress: ({ progress }) => void seen.push(progress) },
    );
    expect(textOf(found)).toMatch(/^# proxy: /);
    expect(seen.length).toBeGreaterThan(5);
    expect(textOf(await handbook.callTool({ name: 'read_page', arguments: { page: '../README' } }))).toMatch(/no page/);
  });

  test('holidays answer in text and in data, and refuse what the schema does not allow', async () => {
    const holidays = await connect('holidays', transport);
    const { tools } = await holidays.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['list_holidays', 'next_holiday', 'count_working_days']);
    const listed = await holidays.callTool({ name: 'list_holidays', arguments: { country: 'DE', year: 2026 } });
    expect(listed.structuredContent).toMatchObject({
      holidays: expect.arrayContaining([{ date: '2026-04-03', name: 'Good Friday' }]),
    });
    const days = { country: 'DE', from: '2026-01-01', to: '2026-12-31' };
    expect(textOf(await holidays.callTool({ name: 'count_working_days', arguments: days }))).toMatch(/^254 /);
    const rows: readonly (readonly [Record<string, unknown>, string])[] = [
      [{ country: 'XX' }, 'country has to be one of AT, DE, FR, GB, IT, US'],
      [{}, 'country is missing'],
      [{ country: 'DE', year: '2026' }, 'year has to be an integer'],
      [{ country: 'DE', yaer: 2026 }, 'there is no argument yaer; known are country, year'],
    ];
    for (const [args, fault] of rows) {
      const refused = await holidays.callTool({ name: 'list_holidays', arguments: args });
      expect([refused.isError, textOf(refused)]).toEqual([true, fault]);
    }
    await expect(holidays.callTool({ name: 'nothing', arguments: {} })).rejects.toThrow('there is no tool nothing');
  });
});

test('a session that nobody began is refused, and so is what is no message', async () => {
  running = startSkep(['sample', 'holidays', '--transport', 'streamable-http', '--port', '0'], { cwd: folder.path });
  const url = /http:\S+/.exec(await running.printed('serving http'))?.[0] ?? '';
  const post = async (body: string, headers: Record<string, string> = {}) =>
    (await fetch(url, { method: 'POST', body, headers })).status;
  const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
  expect(await post(ping)).toBe(400);
  expect(await post(ping, { 'mcp-session-id': 'invented' })).toBe(404);
  expect(await post('{')).toBe(400);
  expect((await fetch(url)).status).toBe(405);
});

// Source: the tables of the United States Naval Observatory.
test.each(['2000-04-23', '2008-03-23', '2011-04-24', '2024-03-31', '2038-04-25', '2100-03-28'])(
  'Easter Sunday of its year is %s',
  (date) => expect(easterSunday(Number(date.slice(0, 4)))).toBe(date),
);

// Source: gov.uk/bank-holidays, opm.gov (federal holidays), legge 151/2025.
test.each([
  ['GB', 2022, '2022-12-27', 'Christmas Day (substitute day)'],
  ['GB', 2022, '2022-12-26', 'Boxing Day'],
  ['GB', 2027, '2027-12-28', 'Boxing Day (substitute day)'],
  ['US', 2026, '2026-07-03', 'Independence Day (substitute day)'],
  ['US', 2026, '2026-11-26', 'Thanksgiving Day'],
  ['US', 2022, '2021-12-31', "New Year's Day (substitute day)"],
  ['IT', 2026, '2026-10-04', 'St Francis of Assisi'],
  ['FR', 2026, '2026-05-14', 'Ascension Day'],
])('%s %s has %s: %s', (country, year, date, name) => {
  expect(holidaysOf(country, year)).toContainEqual({ date, name });
});

test('a server whose files are gone says so to whoever asks', async () => {
  const args = [EXECUTABLE, 'sample', 'handbook', '--folder', join(folder.path, 'gone')];
  client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(new StdioClientTransport({ command: process.execPath, args }));
  await expect(client.listResources()).rejects.toThrow('ENOENT');
  await expect(client.callTool({ name: 'search_pages', arguments: { query: 'lease' } })).rejects.toThrow('ENOENT');
});
