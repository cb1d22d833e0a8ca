import { sql } from 'kysely';
import type { PackageType, PaymentMethod, PurchaseStatus } from '../../domain/states.ts';
import type { WalletEntryKind } from '../../ledger/wallet-entry-rules.ts';
import type { WorldDb } from '../../platform/database/tables.ts';

export interface Subject {
  readonly transactionId: string;
  readonly accountId: string;
  readonly purpose: 'PURCHASE' | 'FUNDING';
  readonly status: PurchaseStatus;
  readonly paymentMethod: PaymentMethod;
  readonly packageName: string | null;
  readonly packageType: PackageType | null;
  readonly iccid: string | null;
  readonly currency: string;
  readonly createdAt: Date;
  readonly closedAt: Date | null;
}

export async function findReceiptSubject(db: WorldDb, transactionId: string): Promise<Subject | undefined> {
  const { rows } = await sql<Subject>`
    select p.transaction_id as "transactionId", p.account_id as "accountId", 'PURCHASE' as purpose, p.status,
           p.payment_method as "paymentMethod", p.package_name as "packageName", p.package_type as "packageType",
           e.iccid, p.currency, p.created_at as "createdAt", p.closed_at as "closedAt"
      from purchases p left join esims e on e.id = p.esim_id where p.transaction_id = ${transactionId}
    union all
    select transaction_id, account_id, 'FUNDING', status, payment_method, null, null, null, currency, created_at, closed_at
      from fundings where transaction_id = ${transactionId}`.execute(db);
  return rows[0];
}

export interface Booking {
  readonly at: Date;
  readonly ledgerKind: string;
  readonly kind: WalletEntryKind;
  readonly amountMinor: bigint;
}

/** Of a purchase what it earned, of a funding what it brought into the wallet; oldest first. */
export async function readReceiptBookings(
  db: WorldDb,
  { transactionId, accountId, purpose, currency }: Subject,
): Promise<Booking[]> {
  const account = purpose === 'PURCHASE' ? `revenue:${currency}` : `wallet:${accountId}`;
  const { rows } = await sql<Booking>`
    select t.created_at as at, t.kind as "ledgerKind", wallet_entry_kind(t.kind) as kind, sum(e.amount_minor)::int8 as "amountMinor"
      from ledger_transactions t
      join ledger_entries e on e.ledger_transaction_id = t.id and e.ledger_account_id = ${account}
     where t.transaction_id = ${transactionId}
     group by t.id
    having sum(e.amount_minor) <> 0
     order by t.id`.execute(db);
  return rows;
}
