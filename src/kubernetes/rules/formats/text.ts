// Checks formats of short texts as an API server does.

import { parseDate } from './timestamp.ts';

const TIME = /^(\d{2}):(\d{2}):(\d{2})(?:.\d+)?(?:z|[+-]\d{2}:\d{2})$/;
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

export function isBase64Text(text: string): boolean {
  return text !== '' && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);
}

export function isDateText(text: string): boolean {
  return parseDate(text) !== undefined;
}

export function isDateTimeText(text: string): boolean {
  const [date = '', time] = text.toLowerCase().split('t');
  const [, hour = '', minute = '', second = ''] = TIME.exec(time ?? '') ?? [];
  return isDateText(date) && hour !== '' && hour <= '23' && minute <= '59' && second <= '59';
}
