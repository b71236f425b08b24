// Decodes UTF-8 strictly, and reports files in other encodings.

import { Failure } from './failure.ts';
import type { Problem } from './problem.ts';

const DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Returns undefined if the bytes are not UTF-8. Keeps a byte order mark. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return DECODER.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Text of a file without a byte order mark, or a sentence why the bytes are not text. */
export type FileText = { readonly text: string } | { readonly fault: string };

export function decodeFile(bytes: Uint8Array): FileText {
  if (isUtf16(bytes)) return { fault: 'the file is UTF-16 text (PowerShell writes it, for example): save it as UTF-8' };
  const text = utf8Text(bytes);
  if (text === undefined) return { fault: 'the file is not UTF-8 text: save it as UTF-8' };
  return { text: text.startsWith('\uFEFF') ? text.slice(1) : text };
}

/**
 * Returns whether the bytes are UTF-16. Without a byte order mark, UTF-16 of ASCII text is also valid UTF-8, in which
 * every second character is NUL.
 */
function isUtf16(bytes: Uint8Array): boolean {
  const [first, second] = bytes;
  if (first === 0 || second === 0) return true;
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}

/** Returns the text. Throws a Failure with the code if the bytes are not UTF-8 text. */
export function textOfFile(bytes: Uint8Array, file: string, code: string): string {
  const decoded = decodeFile(bytes);
  if ('text' in decoded) return decoded.text;
  throw new Failure(code, `${file}: ${decoded.fault}`, { data: { file } });
}

/** `fault` is a sentence of `decodeFile`. */
export function encodingProblem(file: string, fault: string): Problem {
  return {
    code: 'encoding-invalid',
    severity: 'error',
    message: `T${fault.slice(1)}.`,
    place: { file, line: 1, column: 1 },
  };
}
