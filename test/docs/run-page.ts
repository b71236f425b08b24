// Runs the commands of a page as a reader does who types them one after the other: one shell, from the top of the page to
// its end.

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Commands, Step } from './directives.ts';
import type { Stage } from './stages.ts';

const DEADLINE_MS = 120_000;
const UNTIL_TENTHS = 300;

/** Undefined where all went well; else what failed, where, and what was printed there. */
export async function runPage(
  page: string,
  steps: readonly Step[],
  stage: Stage,
  deadlineMs = DEADLINE_MS,
): Promise<string | undefined> {
  const notes = mkdtempSync(join(stage.dir, '../notes-'));
  const script = [PRELUDE, ...steps.map((step, index) => scriptOf(step, page, index, notes)), ''].join('\n');
  const file = join(notes, 'page.sh');
  writeFileSync(file, script);
  const code = await shell(file, stage, notes, deadlineMs);
  if (code === 0) return undefined;
  const read = (name: string) => textOf(join(notes, name));
  return `${read('step').trim()}: ${read('fault').trim() || `ended with ${code}`}\n${read('output').slice(-4000)}`;
}

/** With job control, what is left running has a process group of its own, by which all of it is ended. */
const PRELUDE = `set -eEm
trap 'fault "exit code $? of: $BASH_COMMAND"' ERR
trap 'exec 2> /dev/null; for job in $(jobs -p); do kill -TERM -- "-$job" || true; done; wait' EXIT
`;

function scriptOf(step: Step, page: string, index: number, notes: string): string {
  if ('file' in step) {
    const { path, text, line } = step.file;
    const source = join(notes, `file-${index}`);
    writeFileSync(source, `${text}\n`);
    return `${at(page, line, notes)}\nmkdir -p "$(dirname '${path}')" && cp '${source}' '${path}'`;
  }
  const { commands } = step;
  const output = join(notes, 'output');
  const lines = [
    at(page, commands.line, notes),
    commands.first,
    commands.until === undefined ? ended(commands) : left(commands, index, notes),
  ];
  const expected = commands.prints.map((text) => {
    const quoted = quote(text);
    return `grep -qF -- ${quoted} '${output}' || { fault "did not print "${quoted}; exit 1; }`;
  });
  return [...lines, ...expected].join('\n');
}

/** From here on, what fails and what is printed belongs to this place of the page. */
function at(page: string, line: number, notes: string): string {
  return `
fault() { echo "$1" > '${notes}/fault'; }
echo '${page}:${line}' > '${notes}/step'
rm -f '${notes}/fault'
exec > '${notes}/output' 2>&1`;
}

function ended(commands: Commands): string {
  if (commands.exitCode === 0) return textOfCommands(commands);
  const code = commands.exitCode;
  return `set +e
${textOfCommands(commands)}
code=$?
set -e
[ "$code" = ${code} ] || { fault "exit code $code, not ${code}"; exit 1; }`;
}

function left(commands: Commands, index: number, notes: string): string {
  const log = join(notes, `log-${index}`);
  return `{
${textOfCommands(commands)}
} > '${log}' 2>&1 &
for _ in $(seq ${UNTIL_TENTHS}); do grep -qF -- ${quote(commands.until ?? '')} '${log}' && break; sleep 0.1; done
cat '${log}'
grep -qF -- ${quote(commands.until ?? '')} '${log}' || { fault 'did not print in time what it is left running by'; exit 1; }`;
}

function textOfCommands({ text, put }: Commands): string {
  return put.reduce((done, [name, word]) => done.replaceAll(name, () => word), text);
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function shell(file: string, stage: Stage, notes: string, deadlineMs: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['--noprofile', '--norc', file], {
      cwd: stage.dir,
      env: stage.env,
      stdio: 'ignore',
      detached: true,
    });
    const timer = setTimeout(() => {
      writeFileSync(join(notes, 'fault'), `nothing more came for ${deadlineMs / 1000} s`);
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    }, deadlineMs);
    child.once('error', reject).once('close', (code) => {
      clearTimeout(timer);
      resolve(code ?? -1);
    });
  });
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}
