// Reports runs as lines on a terminal or as records of a log. A failure that every run repeats is reported only when it
// begins and when it ends.

import type { Logger } from 'pino';
import { countsOf } from '#reconciler/report/change-text.ts';
import { tellOutcomes, textOfChanges } from '#reconciler/report/news.ts';
import { problemsWithout } from '#reconciler/report/order.ts';
import { textOfOutcome } from '#reconciler/report/text.ts';
import { type ChangeOutcome, RUN_STOPPED } from '#reconciler/run/apply/apply.ts';
import { exitCodeOf, type RunResult, summaryOf } from '#reconciler/run/result.ts';
import type { Failure } from '#std/failure.ts';
import { formatId, formatProblem } from '#std/problem.ts';
import { type CommandOf, INSTALLED } from '#std/words/command-of.ts';

/** Fields of all records of a run. */
interface RunFacts {
  readonly runId: string;
  readonly traceId?: string;
}

export interface Teller {
  began(facts: RunFacts): void;
  traced(traceId: string): void;
  outcome(outcome: ChangeOutcome): void;
  result(result: RunResult, before: RunResult | undefined): void;
  failure(failure: Failure): void;
  say(text: string): void;
}

export interface Streams {
  /** Writes the changes of runs. */
  readonly out: (text: string) => void;
  /** Writes all other messages. */
  readonly err: (text: string) => void;
}

export function tellPeople({ out, err }: Streams, commandOf: CommandOf): Teller {
  const news = failureNews();
  return {
    began: () => undefined,
    traced: () => undefined,
    outcome: tellOutcomes((text) => out(`${text}\n`)),
    result(result, before) {
      const ended = news.ended();
      if (ended !== undefined) err(`no more ${ended}\n`);
      out(textOfChanges(result, before, commandOf));
    },
    failure(failure) {
      const mark = failure.code === RUN_STOPPED ? '' : `error ${failure.code}: `;
      if (news.began(failure)) err(`${mark}${failure.message}\n`);
    },
    say: (text) => err(`${text}\n`),
  };
}

export function tellLog(log: Logger): Teller {
  const news = failureNews();
  let facts: RunFacts | undefined;
  let isNews = false;
  const notice = tellOutcomes(() => {
    isNews = true;
  });
  return {
    began(of) {
      facts = of;
      log.debug(facts, 'run begun');
    },
    traced(traceId) {
      if (facts !== undefined) facts = { ...facts, traceId };
    },
    outcome(each) {
      isNews = false;
      notice(each);
      const { action, resource, error } = each;
      const record = {
        ...facts,
        action,
        resource: formatId(resource),
        code: error?.code,
      };
      log[!isNews ? 'debug' : action === 'failed' ? 'error' : 'info'](record, textOfOutcome(each));
    },
    result(result, before) {
      const ended = news.ended();
      if (ended !== undefined) log.info(facts, `no more ${ended}`);
      const hasNews = before === undefined || textOfChanges(result, before, INSTALLED) !== '';
      tellResult(log, facts, result, hasNews, before?.problems);
    },
    failure(failure) {
      const { code, message } = failure;
      const level = code === RUN_STOPPED ? 'info' : 'error';
      log[news.began(failure) ? level : 'debug']({ ...facts, code }, message);
    },
    say: (text) => log.info(text),
  };
}

/** Logs the end of a run, at level debug if the run has no news. */
function tellResult(
  log: Logger,
  facts: RunFacts | undefined,
  result: RunResult,
  isNews: boolean,
  known: RunResult['problems'] = [],
): void {
  const { problems, failures, warnings, waits, commits, requests, paused, startedAt, finishedAt } = result;
  const seconds = (Date.parse(finishedAt) - Date.parse(startedAt)) / 1000;
  if (isNews) {
    const fresh = new Set(problemsWithout(problems, known));
    for (const problem of problems) {
      const { code, severity, resource, place } = problem;
      const named = resource === undefined ? {} : { resource: formatId(resource) };
      log[severity === 'error' ? 'error' : fresh.has(problem) ? 'warn' : 'debug'](
        { ...facts, code, ...named, ...place },
        formatProblem(problem),
      );
    }
    for (const { code, message } of failures) log.error({ ...facts, code }, message);
    for (const { code, message } of warnings) log.warn({ ...facts, code }, message);
  }
  const hashes = result.plan.waiting.map(({ hash }) => hash);
  const waiting = hashes.length === 0 ? {} : { approvals: hashes };
  const outOfUse = result.quarantined.length === 0 ? {} : { quarantined: result.quarantined };
  const summary = {
    ...summaryOf(result),
    ...outOfUse,
    commits,
    requests,
    seconds,
    exitCode: exitCodeOf(result),
    ...waiting,
    ...(waits.length === 0 ? {} : { waits }),
    paused,
    pending: paused && countsOf(result.plan),
  };
  log[isNews ? 'info' : 'debug']({ ...facts, ...summary }, 'run ended');
}

interface FailureNews {
  /** Returns false if the previous run failed for the same reason. */
  began(failure: Failure): boolean;
  /** Returns the code of the failure that has ended; undefined if the previous run did not fail. */
  ended(): string | undefined;
}

/** Compares codes and servers of failures instead of messages, because messages may contain times. */
function failureNews(): FailureNews {
  let standing: { readonly code: string; readonly where: string } | undefined;
  return {
    began({ code, data }) {
      const where = String(data.url ?? data.holder ?? '');
      if (standing?.code === code && standing.where === where) return false;
      standing = { code, where };
      return true;
    },
    ended() {
      const code = standing?.code;
      standing = undefined;
      return code;
    },
  };
}
