// Defines codes of log messages about telemetry.

export const TELEMETRY_CODES = {
  'telemetry-not-sent':
    'The collector does not accept telemetry; calls are not affected, and telemetry of this time is lost. Look at endpoint, insecure and headers of telemetry_config, and at the collector.',
  'telemetry-sent-again': 'The collector accepts telemetry again; no action is needed.',
  'telemetry-incomplete':
    'The configuration enables telemetry, and has either no endpoint or nothing to send: set telemetry.openTelemetry.endpoint, or enable tracing or metrics.',
} as const;
