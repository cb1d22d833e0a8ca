/**
 * The log: one JSON line per event, without keys, secrets, activation codes, PIN and PUK (redact.ts). Our own
 * writer, because a line costs 2 to 3 µs with it and 12 µs with pino, and every request writes one
 * (docs/decisions/0044).
 */
import { addRedacted, redactText } from './redact.ts';
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

interface Destination {
  write(line: string): unknown;
}

/** `destination` takes whole lines. The default is standard output, in batches. */
export function createLogger({
  level: lowest,
  destination = batches(process.stdout),
}: {
  readonly level: LogLevel;
  readonly destination?: Destination;
}): Logger {
  /** `inherited` is redacted already. */
  const withFields = (inherited: Record<string, unknown>): Logger => {
    const at = (level: LogLevel): Write =>
      LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(lowest)
        ? () => undefined
        : (fields, message) => destination.write(lineOf(level, inherited, fields, message));
    return {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      child: (fields) => {
        const both = { ...inherited };
        addRedacted(both, fields);
        return withFields(both);
      },
    };
  };
  return withFields({});
}

/** A line's own fields win over those of its logger, and these over its subject. */
function lineOf(level: LogLevel, inherited: object, fields: object, message: string): string {
  const line: Record<string, unknown> = { level, time: timestamp(), ...currentSubject(), ...inherited };
  addRedacted(line, fields);
  line['msg'] = message;
  return `${redactText(JSON.stringify(line))}\n`;
}

let lastMs = 0;
let lastTimestamp = '';

/** ISO 8601; formatted once a millisecond. */
function timestamp(): string {
  const nowMs = Date.now();
  if (nowMs !== lastMs) {
    lastMs = nowMs;
    lastTimestamp = new Date(nowMs).toISOString();
  }
  return lastTimestamp;
}

/**
 * Lines are gathered up to this size and at most this long, so that a busy process does not write once per
 * request.
 */
const BATCH_CHARACTERS = 32_768;
const FLUSH_INTERVAL_MS = 500;

/**
 * The last batch is written when the process exits: on Linux, standard output is synchronous for files and
 * pipes.
 */
function batches(destination: Destination): Destination {
  let batch = '';
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (batch !== '') destination.write(batch);
    batch = '';
  };
  process.once('exit', flush);
  return {
    write(line) {
      batch += line;
      if (batch.length >= BATCH_CHARACTERS) flush();
      else timer ??= setTimeout(flush, FLUSH_INTERVAL_MS).unref();
    },
  };
}
