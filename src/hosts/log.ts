// Creates the log of a long-running process: one JSON line per record, or one readable line per record on a terminal.

import { type Logger, pino } from 'pino';
import { visibleLines } from '#reconciler/report/visible.ts';
import { isObject, type Json } from '#std/json.ts';
import { writeColoured } from './colour.ts';

const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogTarget {
  readonly isTTY?: boolean | undefined;
  write(text: string): void;
}

export function createLogger(level: LogLevel, target: LogTarget): Logger {
  const destination =
    target.isTTY === true ? { write: (line: string) => writeColoured(target, forPeople(line)) } : target;
  return pino(
    { level, formatters: { level: (label) => ({ level: label }) }, timestamp: pino.stdTimeFunctions.isoTime },
    destination,
  );
}

const OF_EVERY_RECORD: readonly string[] = ['level', 'time', 'pid', 'hostname', 'msg', 'reqId'];

/** Returns a line such as `warn webhook with a wrong signature (code control-hook-forged, provider gitea)`. */
function forPeople(line: string): string {
  const record: Json = JSON.parse(line);
  if (!isObject(record)) return line;
  const { level, msg } = record;
  const facts = Object.entries(record)
    .filter(([name]) => !OF_EVERY_RECORD.includes(name))
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const mark = level === 'info' || level === 'debug' ? '' : `${String(level)} `;
  return visibleLines([`${mark}${String(msg)}${facts.length === 0 ? '' : ` (${facts.join(', ')})`}`]);
}
