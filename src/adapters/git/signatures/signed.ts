// Splits a commit or an annotated tag into its signature and the signed bytes. isomorphic-git returns a wrong payload
// for signatures by SSH keys.

export interface Signed {
  readonly payload: Buffer;
  /** ASCII-armored. */
  readonly signature: string;
}

const NEWLINE = 0x0a;
const SPACE = 0x20;
/** Headers that are not part of the signed bytes. The second header is for repositories with SHA-256 object ids. */
const SIGNATURE_HEADERS = ['gpgsig', 'gpgsig-sha256'];
const ARMORS = ['-----BEGIN PGP SIGNATURE-----', '-----BEGIN SSH SIGNATURE-----', '-----BEGIN SIGNED MESSAGE-----'];

/** Splits a commit. undefined if it has no signature or more than one. */
export function signedCommit(content: Buffer): Signed | undefined {
  const kept: Buffer[] = [];
  const signatures: string[] = [];
  let at = 0;
  while (at < content.length && content[at] !== NEWLINE) {
    const end = headerEnd(content, at);
    const header = content.subarray(at, end);
    const space = header.indexOf(SPACE);
    const name = header.toString('latin1', 0, space);
    if (!SIGNATURE_HEADERS.includes(name)) kept.push(header);
    // Continuation lines of a header begin with a space that is not part of the value.
    else if (name === 'gpgsig') signatures.push(header.toString('latin1', space + 1).replaceAll('\n ', '\n'));
    at = end;
  }
  const [signature] = signatures;
  if (signature === undefined || signatures.length > 1) return undefined;
  return { payload: Buffer.concat([...kept, content.subarray(at)]), signature };
}

/** Splits a tag, whose signature is at the end of its message. undefined if it has no signature. */
export function signedTag(content: Buffer): Signed | undefined {
  const starts = ARMORS.map((armor) => content.lastIndexOf(`\n${armor}`)).filter((start) => start >= 0);
  if (starts.length === 0) return undefined;
  const start = Math.max(...starts) + 1;
  return { payload: content.subarray(0, start), signature: content.toString('latin1', start) };
}

/** Returns the value of a header of a commit or tag. undefined if the header is missing or occurs twice. */
export function headerOf(content: Buffer, name: string): string | undefined {
  const values = headersOf(content, name);
  return values.length === 1 ? values[0] : undefined;
}

/** Returns the values of all headers with this name in a commit or tag. */
export function headersOf(content: Buffer, name: string): string[] {
  const values: string[] = [];
  for (let at = 0; at < content.length && content[at] !== NEWLINE; at = headerEnd(content, at)) {
    const header = content.toString('utf8', at, headerEnd(content, at)).trimEnd();
    if (header.startsWith(`${name} `)) values.push(header.slice(name.length + 1));
  }
  return values;
}

/** Returns the end of the header line at `start`, including its continuation lines. */
function headerEnd(content: Buffer, start: number): number {
  let end = start;
  do {
    const newline = content.indexOf(NEWLINE, end);
    if (newline < 0) return content.length;
    end = newline + 1;
  } while (content[end] === SPACE);
  return end;
}
