// Parses and changes pkt-lines of Git's protocol (gitprotocol-common(5)) in requests and responses of isomorphic-git.

import { Failure } from '#std/failure.ts';

const LENGTH_BYTES = 4;

/** Maximum number of lines. A list of 100,000 refs has 100,000 lines, a pack of 256 MiB has 4,000 lines. */
const LINES_MAX = 250_000;

interface PktLine {
  /** Start and end of the payload. */
  readonly start: number;
  readonly end: number;
}

/**
 * Returns the pkt-lines at the start of the bytes. Ends at the first bytes that are not a pkt-line. Throws Failure
 * `git-protocol-error` if there are too many lines.
 */
function* linesOf(bytes: Buffer): Generator<PktLine> {
  let at = 0;
  for (let count = 1; at + LENGTH_BYTES <= bytes.length; count += 1) {
    const length = Number.parseInt(bytes.toString('latin1', at, at + LENGTH_BYTES), 16);
    if (Number.isNaN(length) || length === 3 || at + length > bytes.length) return;
    if (count > LINES_MAX) throw tooMuch(`more than ${LINES_MAX} lines`);
    // The lengths 0, 1 and 2 mean flush, delimiter and end of response, which have no payload.
    if (length >= LENGTH_BYTES) yield { start: at + LENGTH_BYTES, end: at + length };
    at += Math.max(length, LENGTH_BYTES);
  }
}

function tooMuch(what: string): Failure {
  return new Failure('git-protocol-error', `the server answers with ${what}`, { retryable: true });
}

export function* pktLines(bytes: Buffer): Generator<Buffer> {
  for (const { start, end } of linesOf(bytes)) yield bytes.subarray(start, end);
}

/** Maximum bytes of a response without its pack: acknowledgements and lines about history. */
const REST_BYTES_MAX = 64 * 1024;

/**
 * Splits a response into the pack on side-band channel 1 and the remaining lines for isomorphic-git
 * (gitprotocol-pack(5)). Drops progress messages, and shallow commits, which isomorphic-git would look up.
 */
export function takeOutPack(answer: Buffer): { readonly pack: Buffer; readonly rest: Buffer } {
  const pack = Buffer.allocUnsafe(answer.length);
  let filled = 0;
  const rest: Buffer[] = [];
  let from = 0;
  for (const { start, end } of linesOf(answer)) {
    const isPack = answer[start] === PACK_CHANNEL;
    if (!isPack && answer[start] !== PROGRESS_CHANNEL && !isShallow(answer, start)) continue;
    if (isPack) filled += answer.copy(pack, filled, start + 1, end);
    if (from < start - LENGTH_BYTES) rest.push(answer.subarray(from, start - LENGTH_BYTES));
    from = end;
  }
  rest.push(answer.subarray(from));
  if (rest.reduce((sum, { length }) => sum + length, 0) > REST_BYTES_MAX) throw tooMuch('other things than a pack');
  return { pack: pack.subarray(0, filled), rest: Buffer.concat(rest) };
}

const PACK_CHANNEL = 1;
const PROGRESS_CHANNEL = 2;
const ERROR_CHANNEL = 3;

function isShallow(answer: Buffer, start: number): boolean {
  const word = answer.toString('latin1', start, start + 10);
  return word.startsWith('shallow ') || word === 'unshallow ';
}

/**
 * Returns the error that a server sends instead of a response: an `ERR` line, or a message on side-band channel 3
 * (gitprotocol-pack(5)).
 */
export function serverError(bytes: Buffer): string | undefined {
  for (const { start, end } of linesOf(bytes)) {
    if (start === end) continue;
    if (bytes[start] === ERROR_CHANNEL) return bytes.toString('utf8', start + 1, end).trim();
    if (bytes.toString('latin1', start, start + 4) === 'ERR ') return bytes.toString('utf8', start + 4, end).trim();
  }
  return undefined;
}

/** Adds a capability to an upload-pack request of protocol version 0 or 1. Other requests are unchanged. */
export function withCapability(request: Buffer, capability: string): Buffer {
  const [first] = pktLines(request);
  if (first === undefined || first.toString('latin1', 0, 5) !== 'want ') return request;
  const line = `${first.toString('utf8').trimEnd()} ${capability}\n`;
  return Buffer.concat([Buffer.from(pktLine(line)), request.subarray(first.length + 4)]);
}

/**
 * Adds the line of an empty repository to an advertisement of protocol version 0 without refs. Git sends this line
 * since 2.41 (gitprotocol-pack(5), `no-refs`). Without it, isomorphic-git would continue in protocol version 2, and the
 * server would close the connection.
 */
export function withEmptyRefs(advertisement: Buffer): Buffer {
  for (const line of pktLines(advertisement)) {
    if (line.toString('latin1', 0, SERVICE_LINE.length) !== SERVICE_LINE) return advertisement;
  }
  return Buffer.concat([advertisement, Buffer.from(`${pktLine(`${'0'.repeat(40)} capabilities^{}\0\n`)}0000`)]);
}

/**
 * Adds a line for HEAD, with the object of the first ref, to an advertisement of protocol version 0 or 1 without HEAD.
 * Servers omit HEAD if its branch does not exist, otherwise HEAD is first (gitprotocol-pack(5), reference discovery).
 * isomorphic-git fails at the end of a fetch if HEAD is missing.
 */
export function withHead(advertisement: Buffer): Buffer {
  for (const { start, end } of linesOf(advertisement)) {
    const line = advertisement.toString('utf8', start, end);
    if (line.startsWith(SERVICE_LINE)) continue;
    const [, oid, name] = /^([0-9a-f]{40}) ([^\0\n]+)/.exec(line) ?? [];
    if (oid === undefined || name === 'HEAD' || name === 'capabilities^{}') return advertisement;
    return Buffer.concat([
      advertisement.subarray(0, end),
      Buffer.from(pktLine(`${oid} HEAD\n`)),
      advertisement.subarray(end),
    ]);
  }
  return advertisement;
}

const SERVICE_LINE = '# service=';

export function pktLine(text: string): string {
  return (Buffer.byteLength(text) + 4).toString(16).padStart(4, '0') + text;
}
