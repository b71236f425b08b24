// Reads one event of a stream in pieces (HTML standard, 9.2 Server-sent events), and passes its data to another watch.
// Used for events that are too large for memory.

import type { TextWatch } from './text-watch.ts';

/**
 * Watches the data of one event. `push` also returns false for a field that the standard does not define, so that such
 * an event does not pass.
 */
export function watchData(data: TextWatch): TextWatch {
  /** Field name of the current line. undefined after the colon of the line. */
  let name: string | undefined = '';
  let isData = false;

  /**
   * Reads the next bytes of a field name. Returns the position after the colon or line end, or -1 if the standard does
   * not define the name.
   */
  function readName(bytes: Buffer, from: number): number {
    for (let at = from; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      const ends = byte === COLON || byte === LF || byte === CR;
      if (!ends) name = `${name ?? ''}${String.fromCharCode(byte)}`;
      if (!FIELDS.some((field) => (ends ? field === name : field.startsWith(name ?? '')))) return -1;
      if (!ends) continue;
      isData = name === 'data';
      name = byte === COLON ? undefined : '';
      return at + 1;
    }
    return bytes.length;
  }

  function readValue(bytes: Buffer, from: number, end: number): number {
    if (isData && !data.push(bytes.subarray(from, end))) return -1;
    if (end === bytes.length) return end;
    if (isData && !data.push(LINE_FEED)) return -1;
    name = '';
    return end + 1;
  }

  return {
    push(bytes) {
      const nextEnd = lineEnds(bytes);
      let at = 0;
      while (at < bytes.length) {
        at = name === undefined ? readValue(bytes, at, nextEnd(at)) : readName(bytes, at);
        if (at === -1) return false;
      }
      return true;
    },
  };
}

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const LINE_FEED = Buffer.of(LF);
/** Field names of the standard. The empty name stands for a comment or a blank line. */
const FIELDS = ['', 'data', 'event', 'id', 'retry'] as const;

/**
 * Returns a function that finds the next line end. Callers pass increasing positions, so that each byte is searched
 * once for LF and once for CR.
 */
function lineEnds(bytes: Buffer): (from: number) => number {
  let lf = -1;
  let cr = -1;
  const nextOf = (mark: number, known: number, from: number): number => {
    if (known >= from) return known;
    const found = bytes.indexOf(mark, from);
    return found === -1 ? bytes.length : found;
  };
  return (from) => {
    lf = nextOf(LF, lf, from);
    cr = nextOf(CR, cr, from);
    return Math.min(lf, cr);
  };
}
