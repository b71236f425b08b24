// Defines nationwide public holidays of some countries by rules. Holidays that were declared for a single year are
// missing.

import { addDays, date, easterSunday, MONDAY, nthWeekday, SATURDAY, SUNDAY, THURSDAY, weekday } from './dates.ts';

export interface Holiday {
  readonly date: string;
  readonly name: string;
}

/** Treatment of a holiday on a weekend. */
type Observance = 'stays' | 'next working day' | 'nearest working day';

interface HolidayRule {
  readonly name: string;
  readonly on: (year: number) => string;
  /** First year in which the holiday exists. */
  readonly since?: number;
}

interface Country {
  readonly name: string;
  readonly weekends: Observance;
  readonly rules: readonly HolidayRule[];
}

function fixed(month: number, day: number, name: string, since?: number): HolidayRule {
  return { name, on: (year) => date(year, month, day), since };
}

function easter(days: number, name: string): HolidayRule {
  return { name, on: (year) => addDays(easterSunday(year), days) };
}

function nth(which: number, day: number, month: number, name: string): HolidayRule {
  return { name, on: (year) => nthWeekday(year, month, which, day) };
}

const NEW_YEAR = fixed(1, 1, "New Year's Day");
const EPIPHANY = fixed(1, 6, 'Epiphany');
const GOOD_FRIDAY = easter(-2, 'Good Friday');
const EASTER_MONDAY = easter(1, 'Easter Monday');
const LABOUR_DAY = fixed(5, 1, 'Labour Day');
const ASCENSION = easter(39, 'Ascension Day');
const WHIT_MONDAY = easter(50, 'Whit Monday');
const ASSUMPTION = fixed(8, 15, 'Assumption Day');
const ALL_SAINTS = fixed(11, 1, "All Saints' Day");
const IMMACULATE_CONCEPTION = fixed(12, 8, 'Immaculate Conception');
const CHRISTMAS = fixed(12, 25, 'Christmas Day');
const SECOND_CHRISTMAS = fixed(12, 26, "St Stephen's Day");

export const COUNTRIES: Readonly<Record<string, Country>> = {
  AT: {
    name: 'Austria',
    weekends: 'stays',
    rules: [
      NEW_YEAR,
      EPIPHANY,
      EASTER_MONDAY,
      LABOUR_DAY,
      ASCENSION,
      WHIT_MONDAY,
      easter(60, 'Corpus Christi'),
      ASSUMPTION,
      fixed(10, 26, 'National Day'),
      ALL_SAINTS,
      IMMACULATE_CONCEPTION,
      CHRISTMAS,
      SECOND_CHRISTMAS,
    ],
  },
  DE: {
    name: 'Germany',
    weekends: 'stays',
    rules: [
      NEW_YEAR,
      GOOD_FRIDAY,
      EASTER_MONDAY,
      LABOUR_DAY,
      ASCENSION,
      WHIT_MONDAY,
      fixed(10, 3, 'German Unity Day', 1990),
      CHRISTMAS,
      SECOND_CHRISTMAS,
    ],
  },
  FR: {
    name: 'France',
    weekends: 'stays',
    rules: [
      NEW_YEAR,
      EASTER_MONDAY,
      LABOUR_DAY,
      fixed(5, 8, 'Victory Day'),
      ASCENSION,
      WHIT_MONDAY,
      fixed(7, 14, 'Bastille Day'),
      ASSUMPTION,
      ALL_SAINTS,
      fixed(11, 11, 'Armistice Day'),
      CHRISTMAS,
    ],
  },
  GB: {
    name: 'England and Wales',
    weekends: 'next working day',
    rules: [
      NEW_YEAR,
      GOOD_FRIDAY,
      EASTER_MONDAY,
      nth(1, MONDAY, 5, 'Early May bank holiday'),
      nth(-1, MONDAY, 5, 'Spring bank holiday'),
      nth(-1, MONDAY, 8, 'Summer bank holiday'),
      CHRISTMAS,
      fixed(12, 26, 'Boxing Day'),
    ],
  },
  IT: {
    name: 'Italy',
    weekends: 'stays',
    rules: [
      NEW_YEAR,
      EPIPHANY,
      easter(0, 'Easter Sunday'),
      EASTER_MONDAY,
      fixed(4, 25, 'Liberation Day'),
      LABOUR_DAY,
      fixed(6, 2, 'Republic Day'),
      ASSUMPTION,
      fixed(10, 4, 'St Francis of Assisi', 2026),
      ALL_SAINTS,
      IMMACULATE_CONCEPTION,
      CHRISTMAS,
      SECOND_CHRISTMAS,
    ],
  },
  US: {
    name: 'United States, federal',
    weekends: 'nearest working day',
    rules: [
      NEW_YEAR,
      nth(3, MONDAY, 1, 'Birthday of Martin Luther King, Jr.'),
      nth(3, MONDAY, 2, "Washington's Birthday"),
      nth(-1, MONDAY, 5, 'Memorial Day'),
      fixed(6, 19, 'Juneteenth', 2021),
      fixed(7, 4, 'Independence Day'),
      nth(1, MONDAY, 9, 'Labor Day'),
      nth(2, MONDAY, 10, 'Columbus Day'),
      fixed(11, 11, 'Veterans Day'),
      nth(4, THURSDAY, 11, 'Thanksgiving Day'),
      CHRISTMAS,
    ],
  },
};

/**
 * Returns the holidays by date. A substitute day may be in the previous year: if New Year's Day is a Saturday, the US
 * observes the Friday before.
 */
export function holidaysOf(country: string, year: number): readonly Holiday[] {
  const { weekends, rules } = COUNTRIES[country] ?? { weekends: 'stays', rules: [] };
  const days = rules
    .filter(({ since = 0 }) => year >= since)
    .map(({ name, on }) => ({ name, date: on(year) }))
    .toSorted(byDate);
  if (weekends === 'stays') return days;
  const [onWeekends, others] = [days.filter((day) => isWeekend(day.date)), days.filter((day) => !isWeekend(day.date))];
  const observed = [...others];
  for (const { name, date } of onWeekends) {
    const taken = new Set(observed.map((each) => each.date));
    const substitute = weekends === 'nearest working day' ? nearestWorkingDay(date) : nextFreeDay(date, taken);
    observed.push({ date: substitute, name: `${name} (substitute day)` });
  }
  return observed.toSorted(byDate);
}

function byDate(a: Holiday, b: Holiday): number {
  return a.date < b.date ? -1 : 1;
}

function nearestWorkingDay(saturdayOrSunday: string): string {
  return addDays(saturdayOrSunday, weekday(saturdayOrSunday) === SATURDAY ? -1 : 1);
}

function nextFreeDay(from: string, taken: ReadonlySet<string>): string {
  let day = from;
  while (isWeekend(day) || taken.has(day)) day = addDays(day, 1);
  return day;
}

export function isWeekend(day: string): boolean {
  const on = weekday(day);
  return on === SUNDAY || on === SATURDAY;
}
