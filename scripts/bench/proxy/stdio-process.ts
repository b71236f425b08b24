// The same server on standard streams: one message a line, each answer written by itself, as real servers do.

import { answerTemplate, answerText, quickCallId } from './messages.ts';

const { body: answer, places } = answerTemplate();
const [idPlace = 0] = places;
const beforeId = answer.toString('latin1', 0, idPlace);
const afterId = `${answer.toString('latin1', idPlace + 7)}\n`;

let kept: Buffer | undefined;

process.stdin.on('data', (chunk: Buffer) => {
  let bytes = kept === undefined ? chunk : Buffer.concat([kept, chunk]);
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10)) {
    respond(bytes.subarray(0, end));
    bytes = bytes.subarray(end + 1);
  }
  kept = bytes.length === 0 ? undefined : bytes;
});

function respond(line: Buffer): void {
  const id = quickCallId(line);
  if (id !== undefined) {
    process.stdout.write(`${beforeId}${id.toString('latin1')}${afterId}`, 'latin1');
    return;
  }
  const text = answerText(JSON.parse(line.toString()));
  if (text !== undefined) process.stdout.write(`${text}\n`);
}
