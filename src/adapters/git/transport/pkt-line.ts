// The line format of Git's protocol (gitprotocol-common(5)), as far as requests and answers that another part makes need
// a look or a touch. Knows nothing about requests.

const LENGTH_BYTES = 4;

/** The payloads of the pkt-lines at the start of the bytes, up to the first that is none. */
export function* pktLines(bytes: Buffer): Generator<Buffer> {
  let at = 0;
  while (at + 4 <= bytes.length) {
    const length = Number.parseInt(bytes.toString('latin1', at, at + 4), 16);
    if (Number.isNaN(length) || length === 3 || at + length > bytes.length) return;
    // 0, 1 and 2 are flush, delimiter and end of a response: no payload.
    if (length >= 4) yield bytes.subarray(at + 4, at + length);
    at += Math.max(length, 4);
  }
}

/** The pack on the first side-band channel of an answer, and the answer without it (gitprotocol-pack(5)). */
export function takeOutPack(answer: Buffer): { readonly pack: Buffer; readonly rest: Buffer } {
  const pack: Buffer[] = [];
  const rest: Buffer[] = [];
  let from = 0;
  for (const line of pktLines(answer)) {
    if (line[0] !== 1) continue;
    const start = line.byteOffset - answer.byteOffset;
    pack.push(line.subarray(1));
    rest.push(answer.subarray(from, start - LENGTH_BYTES));
    from = start + line.length;
  }
  return { pack: Buffer.concat(pack), rest: Buffer.concat([...rest, answer.subarray(from)]) };
}

/** What a server says instead of an answer: an `ERR` line, or the third side-band channel (gitprotocol-pack(5)). */
export function serverError(bytes: Buffer): string | undefined {
  for (const line of pktLines(bytes)) {
    if (line[0] === 3) return line.toString('utf8', 1).trim();
    if (line.toString('latin1', 0, 4) === 'ERR ') return line.toString('utf8', 4).trim();
  }
  return undefined;
}

/** An upload-pack request of protocol version 0 or 1 with one more capability; other requests are returned as they are. */
export function withCapability(request: Buffer, capability: string): Buffer {
  const [first] = pktLines(request);
  if (first === undefined || first.toString('latin1', 0, 5) !== 'want ') return request;
  const line = `${first.toString('utf8').trimEnd()} ${capability}\n`;
  return Buffer.concat([Buffer.from(pktLine(line)), request.subarray(first.length + 4)]);
}

export function pktLine(text: string): string {
  return (Buffer.byteLength(text) + 4).toString(16).padStart(4, '0') + text;
}
