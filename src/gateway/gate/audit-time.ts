// When something happened, as audit events say it.

export const formatTime = rememberSecond();

/** As `Date.prototype.toISOString`, which costs more than all else of an event: most are of the second of the one before. */
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
