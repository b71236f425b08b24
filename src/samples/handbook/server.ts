// Defines the sample server `handbook`, which searches and reads the pages of a folder. Default: skep's documentation.

import type { SampleAnswer, SampleServer, Tool, WaitingClient } from '../server.ts';
import { listPages, readPage, type Section, searchSections, sectionsOf } from './pages.ts';

const URI = 'handbook:///';
const READS = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };
const EXCERPT = 400;
const RESULTS = { minimum: 1, maximum: 20 };
const USUAL_RESULTS = 3;
const MIME_TYPE = 'text/markdown';

export function handbookServer(folder: string): SampleServer {
  return {
    name: 'handbook',
    title: 'Handbook',
    instructions: 'Answers questions about skep from its documentation. Search first, then read the page.',
    tools: [searchTool(folder), readTool(folder), listTool(folder)],
    resources: {
      list: async () => (await listPages(folder)).map((name) => ({ uri: `${URI}${name}`, name, mimeType: MIME_TYPE })),
      read: async (uri) => {
        const text = uri.startsWith(URI) ? await readPage(folder, uri.slice(URI.length)) : undefined;
        return text === undefined ? undefined : { mimeType: MIME_TYPE, text };
      },
    },
  };
}

function searchTool(folder: string): Tool {
  return {
    name: 'search_pages',
    title: 'Search pages',
    description: 'Finds sections that have every word of the query, best first.',
    parameters: {
      query: { type: 'string', description: 'Words to look for.' },
      limit: {
        type: 'integer',
        description: `How many sections. Default: ${USUAL_RESULTS}.`,
        optional: true,
        ...RESULTS,
      },
    },
    annotations: READS,
    call: async (given, caller) => {
      const sections = await allSections(folder, caller);
      const found = searchSections(sections, given.text('query'), given.integer('limit', USUAL_RESULTS));
      return { text: found.length === 0 ? 'No section has all of these words.' : found.map(excerpt).join('\n\n') };
    },
  };
}

async function allSections(folder: string, caller: WaitingClient): Promise<readonly Section[]> {
  const names = await listPages(folder);
  const sections: Section[] = [];
  for (const [index, name] of names.entries()) {
    sections.push(...sectionsOf(name, (await readPage(folder, name)) ?? ''));
    caller.progress(index + 1, names.length, name);
  }
  return sections;
}

function excerpt({ page, heading, text }: Section): string {
  const trimmed = text.trim();
  return `# ${page}: ${heading}\n\n${trimmed.length > EXCERPT ? `${trimmed.slice(0, EXCERPT)} ...` : trimmed}`;
}

function readTool(folder: string): Tool {
  return {
    name: 'read_page',
    title: 'Read a page',
    description: 'Returns a whole page.',
    parameters: { page: { type: 'string', description: 'Name of the page, as in the search.' } },
    annotations: READS,
    call: async (given): Promise<SampleAnswer> => {
      const text = await readPage(folder, given.text('page'));
      return text === undefined ? { text: `There is no page ${given.text('page')}.`, failed: true } : { text };
    },
  };
}

function listTool(folder: string): Tool {
  return {
    name: 'list_pages',
    title: 'List pages',
    description: 'Lists the names of all pages.',
    parameters: {},
    annotations: READS,
    call: async () => ({ text: (await listPages(folder)).join('\n') }),
  };
}
