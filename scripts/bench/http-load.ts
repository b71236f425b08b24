// A client that asks the same thing again and again over kept connections, and costs as little as it can: it looks for
// the end of an answer and at nothing else.

import { connect } from 'node:net';

const HEAD_END = '\r\n\r\n';
const LAST_CHUNK = '0\r\n\r\n';

export interface Asked {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly status: number;
}

/**
 * Sends `requests` in all over so many connections, each waiting for its answer. Rejects where one has another status, and
 * where a connection ends before its answer is there.
 */
export async function ask(asked: Asked, requests: number, connections: number): Promise<void> {
  let left = requests;
  function take(): boolean {
    left -= 1;
    return left >= 0;
  }
  await Promise.all(Array.from({ length: connections }, () => converse(asked, take)));
}

/** Goes on for as long as `take` gives it another request. */
function converse(asked: Asked, take: () => boolean): Promise<void> {
  const message = requestText(asked);
  const answers = answerReader(asked.status);
  return new Promise((resolve, reject) => {
    const socket = connect(asked.port, '127.0.0.1').setNoDelay(true);
    let finished = false;
    function next(): void {
      finished = !take();
      if (finished) socket.end();
      else socket.write(message);
    }
    socket.once('error', reject);
    socket.once('close', () => (finished ? resolve() : reject(new Error('the server ended the connection'))));
    socket.on('data', (chunk: Buffer) => {
      try {
        if (answers(chunk)) next();
      } catch (error) {
        socket.destroy(error instanceof Error ? error : undefined);
      }
    });
    next();
  });
}

function requestText({ path, headers }: Asked): string {
  const lines = Object.entries({ host: '127.0.0.1', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

/** Takes what arrives; true where an answer is complete. RFC 9112 section 6: by length or by chunks. */
function answerReader(status: number): (chunk: Buffer) => boolean {
  let head = '';
  let missing = 0;
  let chunked = false;
  let tail = '';
  return (chunk) => {
    let rest = chunk;
    if (missing === 0 && !chunked) {
      head += chunk.toString('latin1');
      const end = head.indexOf(HEAD_END);
      if (end < 0) return false;
      if (!head.startsWith(`HTTP/1.1 ${status} `)) throw new Error(`unexpected answer: ${head.slice(0, end)}`);
      rest = Buffer.from(head.slice(end + HEAD_END.length), 'latin1');
      const fields = head.slice(0, end).toLowerCase();
      missing = Number(/\r\ncontent-length: (\d+)/.exec(fields)?.[1] ?? 0);
      chunked = fields.includes('\r\ntransfer-encoding: chunked');
      head = '';
    }
    if (chunked) {
      tail = (tail + rest.toString('latin1')).slice(-LAST_CHUNK.length);
      if (tail !== LAST_CHUNK) return false;
      chunked = false;
      tail = '';
      return true;
    }
    missing -= rest.length;
    return missing === 0;
  };
}
