/**
 * What a command prints. With --json standard output holds one JSON value and nothing else; what is for people beside it goes to standard
 * error. Amounts in JSON are whole numbers of minor units, in tables decimals with their currency.
 */
import { formatAmount } from '../../domain/money.ts';

export interface Streams {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** A person sits at it, and can be asked. */
  readonly isTerminal: boolean;
  /** Asks the person; only at a terminal. */
  readonly ask: (question: string) => Promise<string>;
}

export interface Output extends Streams {
  readonly isJson: boolean;
  /** A line for people; nothing with --json. */
  line(text: string): void;
  /** A line beside the answer, whatever its form. */
  note(text: string): void;
  json(value: unknown): void;
  /** Rows under their headings; nothing with --json. */
  table(headings: readonly string[], rows: readonly (readonly string[])[]): void;
}

export function createOutput(streams: Streams, isJson: boolean): Output {
  const line = (text: string): void => {
    if (!isJson) streams.stdout(`${text}\n`);
  };
  return {
    ...streams,
    isJson,
    line,
    note: (text) => streams.stderr(`${text}\n`),
    json: (value) => {
      if (isJson) streams.stdout(`${toJson(value)}\n`);
    },
    table: (headings, rows) => {
      for (const text of layOut([headings, ...rows])) line(text);
    },
  };
}

/** Whole numbers of any size are numbers in JSON too: 2^53 is no limit there. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'bigint' ? (JSON as WithRawJson).rawJSON(inner.toString()) : inner,
  );
}

/** In Node since 22, and not in the types yet. */
type WithRawJson = typeof JSON & { rawJSON(text: string): unknown };

/** Every column as wide as its widest cell. */
function layOut(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_heading, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** `NGN 12.50`; nothing where there is no amount. */
export function money(amountMinor: bigint | null | undefined, currency: string | null | undefined): string {
  if (amountMinor === null || amountMinor === undefined) return '';
  const code = currency ?? '';
  return `${code === 'USD4' ? 'USD' : code} ${formatAmount({ amountMinor, currency: code })}`.trim();
}

/** `3d 4h`, `12m`, `40s`. */
export function age(seconds: number): string {
  const [days, hours, minutes] = [
    Math.trunc(seconds / 86_400),
    Math.trunc(seconds / 3_600) % 24,
    Math.trunc(seconds / 60) % 60,
  ];
  if (days > 0) return `${days}d ${hours}h`;
  if (hours > 0) return `${hours}h ${minutes}m`;
  return minutes > 0 ? `${minutes}m` : `${seconds}s`;
}

/** To the second, UTC. */
export function moment(at: Date | null): string {
  return at === null ? '' : `${at.toISOString().slice(0, 19).replace('T', ' ')}Z`;
}
