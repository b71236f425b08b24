// Defines the sample server `notes`, which stores notes in a folder and asks the user before it deletes a note.

import type { Prompt, Resources, SampleAnswer, SampleServer, Tool, WaitingClient } from '../server.ts';
import { type Notes, TITLE } from './notes.ts';

const URI = 'notes:///';
const TITLE_PARAMETER = { type: 'string', description: 'Title of the note.', pattern: TITLE } as const;

export function notesServer(notes: Notes): SampleServer {
  return {
    name: 'notes',
    title: 'Notes',
    instructions: 'Keeps notes of Markdown under a title. Search before you add a note about the same thing.',
    tools: [listNotes(notes), readNote(notes), searchNotes(notes), addNote(notes), deleteNote(notes)],
    resources: resourcesOf(notes),
    prompts: [summary(notes)],
  };
}

const READS = { readOnlyHint: true, openWorldHint: false };

function listNotes(notes: Notes): Tool {
  return {
    name: 'list_notes',
    title: 'List notes',
    description: 'Lists the titles of all notes.',
    parameters: {},
    annotations: READS,
    call: async () => listing(await notes.titles(), 'There are no notes yet.'),
  };
}

function readNote(notes: Notes): Tool {
  return {
    name: 'read_note',
    title: 'Read a note',
    description: 'Returns the text of a note.',
    parameters: { title: TITLE_PARAMETER },
    annotations: READS,
    call: async (given) => {
      const text = await notes.read(given.text('title'));
      return text === undefined ? missing(given.text('title')) : { text };
    },
  };
}

function searchNotes(notes: Notes): Tool {
  return {
    name: 'search_notes',
    title: 'Search notes',
    description: 'Lists the titles of notes that have every word of the query, in their title or text.',
    parameters: { query: { type: 'string', description: 'Words to look for.' } },
    annotations: READS,
    call: async (given) => {
      const words = given.text('query').toLowerCase().split(/\s+/).filter(Boolean);
      const titles = await notes.titles();
      const texts = await Promise.all(titles.map((title) => notes.read(title)));
      const found = titles.filter((title, index) => {
        const text = `${title}\n${texts[index] ?? ''}`.toLowerCase();
        return words.every((word) => text.includes(word));
      });
      return listing(found, 'No note has all of these words.');
    },
  };
}

function addNote(notes: Notes): Tool {
  return {
    name: 'add_note',
    title: 'Add a note',
    description: 'Adds a note; one with this title must not exist.',
    parameters: { title: TITLE_PARAMETER, text: { type: 'string', description: 'Markdown.' } },
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
    call: async (given) => {
      const title = given.text('title');
      if ((await notes.read(title)) !== undefined) return { text: `There is a note "${title}" already.`, failed: true };
      await notes.write(title, given.text('text'));
      return { text: `Added "${title}".` };
    },
  };
}

function deleteNote(notes: Notes): Tool {
  return {
    name: 'delete_note',
    title: 'Delete a note',
    description: 'Deletes a note, after the user has confirmed it if the client supports questions.',
    parameters: { title: TITLE_PARAMETER },
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: false },
    call: async (given, caller) => deleteConfirmed(notes, given.text('title'), caller),
  };
}

async function deleteConfirmed(notes: Notes, title: string, caller: WaitingClient): Promise<SampleAnswer> {
  if ((await notes.read(title)) === undefined) return missing(title);
  const answer = await caller.confirm(`Delete the note "${title}"?`);
  if (answer === 'no') return { text: `Kept "${title}".` };
  if (answer === 'unanswered') return { text: `Kept "${title}": the question did not reach you.`, failed: true };
  await notes.delete(title);
  return { text: `Deleted "${title}".` };
}

function listing(titles: readonly string[], none: string): SampleAnswer {
  return { text: titles.length === 0 ? none : titles.join('\n') };
}

function missing(title: string): SampleAnswer {
  return { text: `There is no note "${title}".`, failed: true };
}

function resourcesOf(notes: Notes): Resources {
  const mimeType = 'text/markdown';
  return {
    list: async () => {
      const titles = await notes.titles();
      return titles.map((title) => ({ uri: `${URI}${encodeURIComponent(title)}`, name: title, mimeType }));
    },
    read: async (uri) => {
      const title = uri.startsWith(URI) ? decodedTitle(uri.slice(URI.length)) : undefined;
      const text = title === undefined ? undefined : await notes.read(title);
      return text === undefined ? undefined : { mimeType, text };
    },
  };
}

function decodedTitle(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

function summary(notes: Notes): Prompt {
  return {
    name: 'summarize_notes',
    description: 'Asks for a summary of all notes.',
    parameters: {},
    write: async () => {
      const titles = await notes.titles();
      const texts = await Promise.all(titles.map(async (title) => `# ${title}\n\n${(await notes.read(title)) ?? ''}`));
      return `Summarize these notes in a few sentences.\n\n${texts.join('\n\n')}`;
    },
  };
}
