/**
 * The log: one JSON line per event. Keys, secrets, activation codes, PIN and PUK never get into it, whoever logs: fields with such
 * names are blanked at any depth, and anything that looks like a key or an install code is blanked in the finished line.
 */
import { createRedactor, type Redactor } from './redact.ts';
import { subjectOf } from './subject.ts';

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
  const batches = options.destination === undefined ? batchToStandardOutput() : undefined;
  const destination = options.destination ?? batches ?? process.stdout;
  const write = lineWriter(createRedactor(), destination);
  return { ...facade(options.level, write), flush: batches?.flush ?? (() => undefined) };
}

type Write = (level: LogLevel, fields: object, message: string) => void;

/** One JSON object a line; a line's own fields win over those of its logger, and these over what it is about. */
function facade(lowest: LogLevel, write: Write, inherited?: object): Logger {
  const at = (level: LogLevel) => {
    if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(lowest)) return () => undefined;
    return (fields: object, message: string): void =>
      write(level, inherited ? { ...inherited, ...fields } : fields, message);
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => facade(lowest, write, { ...inherited, ...fields }),
  };
}

function lineWriter(redactor: Redactor, destination: { write(line: string): unknown }): Write {
  const time = createTimestamp();
  return (level, fields, message) => {
    const body = JSON.stringify(redactor.fields(subjectOf(fields)));
    const between = body === '{}' ? '' : ',';
    const line = `{"level":"${level}","time":"${time()}",${body.slice(1, -1)}${between}"msg":${JSON.stringify(message)}}\n`;
    destination.write(redactor.line(line));
  };
}

/**
 * Writes lines in batches. On Linux standard output is synchronous for files and pipes, so the last batch is written when the process
 * exits, however it exits by itself.
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

/** ISO 8601, written anew only when the millisecond has changed. */
function createTimestamp(): () => string {
  let writtenAtMs = 0;
  let written = '';
  return () => {
    const nowMs = Date.now();
    if (nowMs !== writtenAtMs) {
      writtenAtMs = nowMs;
      written = new Date(nowMs).toISOString();
    }
    return written;
  };
}
