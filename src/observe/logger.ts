/**
 * The log: one JSON line per event. Keys, secrets, activation codes, PIN and PUK never get into it, whoever logs: fields with such
 * names are blanked at any depth, and anything that looks like a key or an install code is blanked in the finished line.
 */
import { pino, type Logger as PinoLogger } from 'pino';
import { createRedactor, type Redactor } from './redact.ts';
import { aboutSubject } from './subject.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** A logger that adds these fields to every line. */
  child(fields: object): Logger;
}

/** The logger of a whole process; `flush` writes out what is still held back. */
export interface RootLogger extends Logger {
  flush(): void;
}

/** Lines are gathered up to this size and at least this often, so that a busy process does not write once per request. */
const BUFFER_CHARACTERS = 32_768;
const FLUSH_INTERVAL_MS = 500;

/** Makes the process's logger. `destination` takes whole lines and defaults to standard output, in batches. */
export function createLogger(options: {
  readonly level: LogLevel;
  readonly destination?: { write(line: string): void };
}): RootLogger {
  const redactor = createRedactor();
  const batches = options.destination === undefined ? batchToStandardOutput() : undefined;
  const logger = pino(
    {
      level: options.level,
      base: null,
      timestamp: createTimestamp(),
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => redactor.fields(aboutSubject(fields)),
      },
      hooks: { streamWrite: redactor.line },
    },
    batches ?? options.destination ?? process.stdout,
  );
  return { ...facade(logger, redactor), flush: batches?.flush ?? (() => undefined) };
}

/** Pino lets a child's fields past its formatters, so they are blanked here. */
function facade(logger: PinoLogger, redactor: Redactor): Logger {
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
    child: (fields) => facade(logger.child(redactor.fields(fields)), redactor),
  };
}

/**
 * Writes lines in batches. Own code because pino's buffered destination measures its whole buffer at every line. On Linux standard
 * output is synchronous for files and pipes, so the last batch is written when the process exits, however it exits by itself.
 */
function batchToStandardOutput(): { readonly write: (line: string) => void; readonly flush: () => void } {
  let lines: string[] = [];
  let characters = 0;
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (lines.length === 0) return;
    const batch = lines.join('');
    lines = [];
    characters = 0;
    process.stdout.write(batch);
  };
  process.once('exit', flush);
  return {
    flush,
    write: (line) => {
      lines.push(line);
      characters += line.length;
      if (characters >= BUFFER_CHARACTERS) flush();
      else timer ??= setTimeout(flush, FLUSH_INTERVAL_MS).unref();
    },
  };
}

/** ISO 8601 for pino, written anew only when the millisecond has changed. */
function createTimestamp(): () => string {
  let writtenAtMs = 0;
  let written = '';
  return () => {
    const nowMs = Date.now();
    if (nowMs !== writtenAtMs) {
      writtenAtMs = nowMs;
      written = `,"time":"${new Date(nowMs).toISOString()}"`;
    }
    return written;
  };
}
