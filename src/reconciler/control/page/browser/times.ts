// Renders times as an age, with the whole time as a title.

import { h } from 'preact';
import type { FleetMoment } from '../../../run/fleet-state/format.ts';

const UNITS: readonly (readonly [seconds: number, name: string])[] = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
];

function span(time: string, now: number): string {
  const length = Math.max(0, Math.round((now - Date.parse(time)) / 1000));
  const [unit, name] = UNITS.find(([size]) => length >= size) ?? [1, 's'];
  return `${Math.floor(length / unit)} ${name}`;
}

/** Returns the age of a time. Clocks of machines differ by seconds, so the last two seconds count as now. */
function wasText(time: string, now: number): string {
  return now - Date.parse(time) < 2000 ? 'just now' : `${span(time, now)} ago`;
}

export function Time({ at, now }: { readonly at: string; readonly now: number }) {
  return h('time', { dateTime: at, title: new Date(at).toLocaleString() }, wasText(at, now));
}

/** Renders how long a state has lasted. */
export function Lasting({ since, now }: { readonly since: FleetMoment; readonly now: number }) {
  const { at, atLeast } = since;
  const words = `for ${atLeast === true ? 'at least ' : ''}${span(at, now)}`;
  return h('time', { dateTime: at, title: `since ${new Date(at).toLocaleString()}` }, words);
}

export function seconds(from: string, to: string): number {
  return Math.max(0, (Date.parse(to) - Date.parse(from)) / 1000);
}

export function durationText(value: number): string {
  return value < 60 ? `${value.toFixed(1)} s` : `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`;
}

/** Renders a long duration in its largest unit. */
export function roughDuration(value: number): string {
  const [unit, name] = UNITS.find(([size]) => value >= size) ?? [1, 's'];
  return `${Math.round(value / unit)} ${name}`;
}
