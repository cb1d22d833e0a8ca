/**
 * The gateway's statement: every movement of the merchant's balance, for reconciliation. Guarantee: what was returned to its sender is not
 * on it, since it was never the merchant's.
 */
import { ControlError, ControlText } from '../../support/control.ts';
import type { GatewayContext } from '../context.ts';
import { GatewayError } from '../errors.ts';
import { timeOf } from '../params.ts';
import { iso } from '../wire.ts';

const COLUMNS = ['kind', 'reference', 'amountMinor', 'currency', 'feesMinor', 'at'] as const;

/** `from` or `to` of a query. */
export function momentOf(query: URLSearchParams, name: string): number | undefined {
  try {
    return timeOf(query.get(name), name);
  } catch (error) {
    if (error instanceof GatewayError) throw new ControlError(400, [`${name} must be an ISO time`]);
    throw error;
  }
}

/** `GET /statement?from=&to=&format=`: lines of [from, to), as JSON or CSV. */
export function statementOf(context: GatewayContext, query: URLSearchParams): unknown {
  const fromMs = momentOf(query, 'from') ?? 0;
  const toMs = momentOf(query, 'to') ?? Number.MAX_SAFE_INTEGER;
  const format = query.get('format') ?? 'json';
  if (format !== 'json' && format !== 'csv') throw new ControlError(400, ['format must be json or csv']);
  const lines = context.transactions
    .statement(fromMs, toMs)
    .map(({ kind, reference, amountMinor, currency, feesMinor, atMs }) => ({
      kind,
      reference,
      amountMinor,
      currency,
      feesMinor,
      at: iso(atMs),
    }));
  if (format === 'json') return lines;
  // No value can hold a comma, a quote or a line break.
  const rows = lines.map((line) => COLUMNS.map((column) => line[column]).join(','));
  return new ControlText('text/csv;charset=UTF-8', [COLUMNS.join(','), ...rows, ''].join('\r\n'));
}
