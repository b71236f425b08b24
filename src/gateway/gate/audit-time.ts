// Formats times for audit events.

export const formatTime = rememberSecond();

/**
 * Returns a function that formats times like `Date.prototype.toISOString`, which would cost more than the rest of an
 * event. Reuses the text of the last second, because most events fall in the same second.
 */
function rememberSecond(): (ms: number) => string {
  let second = Number.NaN;
  let beginning = '';
  return function formatTime(ms) {
    const whole = Math.floor(ms / 1000);
    if (whole !== second) {
      beginning = new Date(whole * 1000).toISOString().slice(0, -'000Z'.length);
      second = whole;
    }
    return `${beginning}${String(Math.floor(ms - whole * 1000)).padStart(3, '0')}Z`;
  };
}
