// Messages of HTTP/1.1 out of raw bytes, with as little work as can be (RFC 9112 sections 6 and 7).

export interface HttpMessage {
  /** First line and fields. */
  readonly head: string;
  readonly body: Buffer;
  /** What follows begins here. */
  readonly end: number;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const LINE_END = Buffer.from('\r\n');
const LENGTH = /\r\ncontent-length: *(\d+)/i;
const CHUNKED = /\r\ntransfer-encoding: *chunked/i;

/** The first message, once all of it is there. */
export function readMessage(bytes: Buffer): HttpMessage | undefined {
  const opened = readHead(bytes);
  if (opened === undefined) return undefined;
  const { head, start } = opened;
  const length = LENGTH.exec(head);
  if (length !== null) {
    const end = start + Number(length[1]);
    return end > bytes.length ? undefined : { head, body: bytes.subarray(start, end), end };
  }
  if (CHUNKED.test(head)) return readChunks(bytes, head, start);
  return { head, body: bytes.subarray(start, start), end: start };
}

export function readHead(bytes: Buffer): { readonly head: string; readonly start: number } | undefined {
  const at = bytes.indexOf(HEAD_END);
  return at < 0 ? undefined : { head: bytes.toString('latin1', 0, at), start: at + HEAD_END.length };
}

/** `-1` where the sender does not say. */
export function lengthOf(head: string): number {
  return Number(LENGTH.exec(head)?.[1] ?? -1);
}

export function fieldOf(head: string, name: string): string | undefined {
  return new RegExp(`\\r\\n${name}: *([^\\r]*)`, 'i').exec(head)?.[1];
}

/** Without trailers: no part of the bench sends any. */
function readChunks(bytes: Buffer, head: string, start: number): HttpMessage | undefined {
  const chunks: Buffer[] = [];
  let at = start;
  for (;;) {
    const lineEnd = bytes.indexOf(LINE_END, at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    const begin = lineEnd + LINE_END.length;
    at = begin + size + LINE_END.length;
    if (at > bytes.length) return undefined;
    if (size === 0) return { head, body: Buffer.concat(chunks), end: at };
    chunks.push(bytes.subarray(begin, begin + size));
  }
}
