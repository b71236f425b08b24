// A program for pods of tests: it listens on PORT and answers with its arguments and environment, with a file's text,
// or by ending. With the argument `child` it starts a process that outlives it unless it is killed.

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const [, , mode, ...args] = process.argv;
if (mode === 'exit') {
  process.stdout.write(`run ${process.pid}\n`);
  process.exit(Number(args[0]));
}
if (mode === 'child')
  spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', 'left-behind', args[0]], { stdio: 'ignore' });
createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://127.0.0.1');
  if (pathname === '/environment') response.end(JSON.stringify({ env: process.env, args, pid: process.pid }));
  else if (pathname === '/file') response.end(readFileSync(searchParams.get('path')));
  else if (pathname === '/say') process.stdout.write(`${searchParams.get('text')}\n`, () => response.end());
  else if (pathname === '/large') response.end('x'.repeat(Number(searchParams.get('bytes'))));
  else if (pathname === '/exit') process.exit(Number(searchParams.get('code')));
  else response.writeHead(pathname === '/ready' ? 200 : 404).end();
}).listen(Number(process.env.PORT), '127.0.0.1', () => process.stdout.write('listening\n'));
