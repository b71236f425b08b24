// Checks the formats that JSON Schemas of questions to users can have (MCP, elicitation): email, uri, date, date-time.
// Other formats are not checked.

const DATE = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;
const TIME = /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([zZ]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

export function fitsFormat(format: string, value: string): boolean {
  switch (format) {
    case 'email':
      return /^[^@\s]+@[^@\s]+$/.test(value);
    case 'uri':
      return /^[a-zA-Z][a-zA-Z0-9+.-]*:/.test(value) && URL.canParse(value);
    case 'date':
      return isDate(value);
    case 'date-time':
      return /[tT ]/.test(value[10] ?? '') && isDate(value.slice(0, 10)) && TIME.test(value.slice(11));
    default:
      return true;
  }
}

/** Returns true if the day exists. February 30 does not exist. */
function isDate(value: string): boolean {
  return DATE.test(value) && new Date(`${value}T00:00:00Z`).toISOString().startsWith(value);
}
