// Defines the sample server `holidays`, which computes public holidays of several countries without network access.

import type { Parameter, SampleAnswer, SampleServer, Tool } from '../server.ts';
import { COUNTRIES, type Holiday, holidaysOf, isWeekend } from './countries.ts';
import { addDays, daysBetween, isDate } from './dates.ts';

/** Returns today's date as `YYYY-MM-DD`. */
type Today = () => string;

const COUNTRY: Parameter = {
  type: 'string',
  description: `A country: ${Object.entries(COUNTRIES)
    .map(([code, { name }]) => `${code} (${name})`)
    .join(', ')}.`,
  choices: Object.keys(COUNTRIES),
};
const DATE_PATTERN = '^\\d{4}-\\d{2}-\\d{2}$';
/** In these years all listed countries use the Gregorian calendar, and years have four digits. */
const YEARS = { minimum: 1970, maximum: 2999 };
const MAX_DAYS = 3660;
const PROGRESS_DAYS = 366;
const READS = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };

export function holidaysServer(today: Today): SampleServer {
  return {
    name: 'holidays',
    title: 'Public holidays',
    instructions: 'Public holidays of several countries, computed for any year. Dates are written YYYY-MM-DD.',
    tools: [listHolidays(today), nextHoliday(today), countWorkingDays()],
    prompts: [
      {
        name: 'plan_leave',
        description: 'Asks how to get the most free days out of a year.',
        parameters: { country: { description: COUNTRY.description } },
        write: async (given) => {
          const days = holidaysOf(given.text('country'), yearOf(today())).map(format).join('\n');
          return `Which days should I take off to be free for as long as possible? These are holidays:\n\n${days}`;
        },
      },
    ],
  };
}

function listHolidays(today: Today): Tool {
  return {
    name: 'list_holidays',
    title: 'List holidays',
    description: 'Lists the public holidays of a country in a year.',
    parameters: {
      country: COUNTRY,
      year: { type: 'integer', description: 'The year. Default: the current year.', optional: true, ...YEARS },
    },
    annotations: READS,
    outputSchema: {
      type: 'object',
      properties: {
        holidays: {
          type: 'array',
          items: {
            type: 'object',
            properties: { date: { type: 'string' }, name: { type: 'string' } },
            required: ['date', 'name'],
          },
        },
      },
      required: ['holidays'],
    },
    call: async (given) => {
      const holidays = holidaysOf(given.text('country'), given.integer('year', yearOf(today())));
      return {
        text: holidays.map(format).join('\n'),
        structured: { holidays: holidays.map(({ date, name }) => ({ date, name })) },
      };
    },
  };
}

function nextHoliday(today: Today): Tool {
  return {
    name: 'next_holiday',
    title: 'Next holiday',
    description: 'Returns the next public holiday of a country, from today or from a date.',
    parameters: {
      country: COUNTRY,
      after: {
        type: 'string',
        description: 'First day of the search, YYYY-MM-DD. Default: today.',
        optional: true,
        pattern: DATE_PATTERN,
      },
    },
    annotations: READS,
    call: async (given) => {
      const from = given.text('after') || today();
      if (!isDate(from)) return noDay(from);
      const year = yearOf(from);
      const coming = [year, year + 1].flatMap((each) => holidaysOf(given.text('country'), each));
      const next = coming.find(({ date }) => date >= from);
      return { text: next === undefined ? 'There is none.' : format(next) };
    },
  };
}

function countWorkingDays(): Tool {
  return {
    name: 'count_working_days',
    title: 'Count working days',
    description: `Counts the days from one date to another, both included, that are neither weekend nor holiday; ${MAX_DAYS} at most.`,
    parameters: {
      country: COUNTRY,
      from: { type: 'string', description: 'First day, YYYY-MM-DD.', pattern: DATE_PATTERN },
      to: { type: 'string', description: 'Last day, YYYY-MM-DD.', pattern: DATE_PATTERN },
    },
    annotations: READS,
    outputSchema: { type: 'object', properties: { days: { type: 'integer' } }, required: ['days'] },
    call: async (given, caller) => {
      const [from, to] = [given.text('from'), given.text('to')];
      const wrong = [from, to].find((each) => !isDate(each));
      if (wrong !== undefined) return noDay(wrong);
      const total = daysBetween(from, to) + 1;
      if (total < 1 || total > MAX_DAYS) {
        return { text: `From ${from} to ${to} has to be 1 to ${MAX_DAYS} days.`, failed: true };
      }
      const free = freeDays(given.text('country'), yearOf(from), yearOf(to));
      let days = 0;
      for (let index = 0; index < total; index += 1) {
        const day = addDays(from, index);
        if (!isWeekend(day) && !free.has(day)) days += 1;
        if ((index + 1) % PROGRESS_DAYS === 0) caller.progress(index + 1, total, `until ${day}`);
      }
      return { text: `${days} working days from ${from} to ${to}.`, structured: { days } };
    },
  };
}

function freeDays(country: string, first: number, last: number): ReadonlySet<string> {
  const years = Array.from({ length: last - first + 2 }, (_, index) => first + index);
  return new Set(years.flatMap((year) => holidaysOf(country, year).map(({ date }) => date)));
}

function yearOf(date: string): number {
  return Number(date.slice(0, 4));
}

function format({ date, name }: Holiday): string {
  return `${date}  ${name}`;
}

function noDay(text: string): SampleAnswer {
  return { text: `${text} is not a day of the calendar; write YYYY-MM-DD.`, failed: true };
}
