// Converts errors of PostgreSQL and of connections to Failures. Classifies them by SQLSTATE, not by message texts.

import { Failure } from '#std/failure.ts';
import type { DatabaseCode } from './codes.ts';
import { pgPackage } from './package.ts';

/** Address of a database for messages. Never contains the password. */
export interface ConnectionTarget {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
}

export function describePlace({ host, port, database, user }: ConnectionTarget): string {
  return `${user}@${host.includes(':') ? `[${host}]` : host}:${port}/${database}`;
}

/** Returns a Failure for any error of a connection. A Failure is returned unchanged. */
export function databaseFailure(error: unknown, place: ConnectionTarget): Failure {
  if (error instanceof Failure) return error;
  if (!(error instanceof pgPackage().DatabaseError)) return lostConnection(error, place);
  const code = codeOf(error.code ?? '');
  const retryable = code === 'database-unreachable' || code === 'database-busy';
  const { message, severity, schema, table, constraint } = error;
  const data = { ...facts(place), sqlstate: error.code, severity, schema, table, constraint };
  return new Failure(code, `${describePlace(place)}: ${message}`, { data, cause: error, retryable });
}

/** True for a serialization failure or deadlock, after which the same transaction may succeed. */
export function isTransient(error: unknown): boolean {
  return error instanceof pgPackage().DatabaseError && (error.code === '40001' || error.code === '40P01');
}

/** True if the server refused the login (SQLSTATE class 28). */
export function isRefused(error: unknown): boolean {
  return error instanceof pgPackage().DatabaseError && error.code?.startsWith('28') === true;
}

function lostConnection(error: unknown, place: ConnectionTarget): Failure {
  const reason = error instanceof Error ? firstMessage(error) : String(error);
  return new Failure('database-unreachable', `${describePlace(place)}: ${reason}`, {
    data: facts(place),
    cause: error,
    retryable: true,
  });
}

/** Returns the first message. For a host with several addresses, Node.js throws an AggregateError without a message. */
function firstMessage(error: Error): string {
  const [first] = error instanceof AggregateError ? error.errors : [];
  const { message } = first instanceof Error ? first : error;
  return message === '' ? error.name : message;
}

function facts({ host, port, database, user }: ConnectionTarget) {
  return { host, port, database, user };
}

/** Maps SQLSTATE (PostgreSQL manual, appendix A) to our codes. */
function codeOf(sqlstate: string): DatabaseCode {
  switch (sqlstate) {
    case '3D000':
      return 'database-not-found';
    case '42P01':
    case '42703':
      return 'database-not-migrated';
    case '42501':
      return 'database-forbidden';
    case '53300':
    case '55P03':
    case '57014':
    case '40001':
    case '40P01':
      return 'database-busy';
  }
  switch (sqlstate.slice(0, 2)) {
    case '28':
      return 'database-auth';
    case '08':
    case '57':
      return 'database-unreachable';
    case '53':
      return 'database-busy';
    default:
      return 'database-error';
  }
}
