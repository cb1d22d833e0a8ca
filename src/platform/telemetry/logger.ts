/** The log: one JSON line per event, written by pino. redact.ts keeps keys, secrets, activation codes, PIN and PUK out of it. */
import { pino, stdTimeFunctions, type DestinationStream, type Logger as PinoLogger } from 'pino';
import { redactFields, redactText } from './redact.ts';
import { currentSubject } from './subject.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

type Write = (fields: object, message: string) => void;

export interface Logger {
  readonly debug: Write;
  readonly info: Write;
  readonly warn: Write;
  readonly error: Write;
  /** A logger that adds these fields to every line. */
  child(fields: object): Logger;
}

/** Lines are gathered up to this size and at most this long, so that a busy process does not write once per request. */
const BUFFER_BYTES = 8_192;
const FLUSH_INTERVAL_MS = 500;

/** `destination` takes whole lines. The default is standard output, in batches; pino writes the last batch when the process exits. */
export function createLogger(options: {
  readonly level: LogLevel;
  readonly destination?: DestinationStream;
}): Logger {
  const {
    level,
    destination = pino.destination({
      sync: false,
      minLength: BUFFER_BYTES,
      periodicFlush: FLUSH_INTERVAL_MS,
    }),
  } = options;
  const log = pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: (fields) => redactFields(fields) },
      // A line's own fields win over its subject.
      mixin: currentSubject,
      hooks: { streamWrite: redactText },
    },
    destination,
  );
  return withRedactedChildren(log);
}

/** Pino's formatters do not apply to the fields of a child. */
function withRedactedChildren(log: PinoLogger): Logger {
  return {
    debug: log.debug.bind(log),
    info: log.info.bind(log),
    warn: log.warn.bind(log),
    error: log.error.bind(log),
    child: (fields) => withRedactedChildren(log.child(redactFields(fields))),
  };
}
