/** `ledger`: the entries of an account, newest first, or of one purchase. */
import { z } from 'zod';
import { readLedger, type LedgerView } from '../../reconciliation/ledger-view.ts';
import { OperatorMistake } from '../operator-mistake.ts';
import { defineCommand } from './command.ts';
import { count } from './fields.ts';
import { moment, money } from './output.ts';

/** A screen or two; a book of all is a database's work. */
const MOST = 10_000;

export const ledgerCommand = defineCommand({
  name: 'ledger',
  usage: '<accountId, ledger account, kind or transactionId> [--limit 50]',
  help: `Shows ledger entries, newest first, with the balance after each: of an account's wallet, of a ledger account such as
suspense:NGN, of all ledger accounts of a kind such as suspense, or (oldest first, without balances) of one purchase`,
  words: [1, 1],
  flags: z.object({ limit: count(MOST, 50) }),
  run: async ({ words: [id = ''], flags: { limit }, world, out }) => {
    const view = await readLedger(world.db, id, limit);
    if (!view) throw new OperatorMistake(`no ledger account and no purchase goes by ${id}`);
    out.json(view.lines);
    if (view.lines.length === 0) out.line('nothing is booked');
    else out.table(...tableOf(view));
    return 0;
  },
});

function tableOf({ isAccount, accounts, lines }: LedgerView): [string[], string[][]] {
  const namesAccount = accounts.length !== 1;
  const headings = [
    'AT',
    'KIND',
    'OPERATION',
    ...(namesAccount ? ['ACCOUNT'] : []),
    'DEBIT',
    'CREDIT',
    ...(isAccount ? ['BALANCE'] : []),
  ];
  return [
    headings,
    lines.map((line) => [
      moment(line.at),
      line.kind,
      line.operationKey,
      ...(namesAccount ? [line.account] : []),
      side(line.debitMinor, line.currency),
      side(line.creditMinor, line.currency),
      ...(isAccount ? [money(line.balanceMinor, line.currency)] : []),
    ]),
  ];
}

/** An entry stands in one of the two columns. */
const side = (amountMinor: bigint, currency: string): string =>
  amountMinor === 0n ? '' : money(amountMinor, currency);
