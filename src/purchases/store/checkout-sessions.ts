import { sql, type Selectable } from 'kysely';
import type { PaymentMethod, PurchaseStatus } from '../../domain/states.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { CheckoutSessionsTable, QuotesTable } from './tables.ts';

type SessionRow = Selectable<CheckoutSessionsTable>;

export interface SessionRecord extends SessionRow {
  readonly quote: Pick<
    Selectable<QuotesTable>,
    'package_code' | 'package_name' | 'price_minor' | 'currency' | 'expires_at'
  >;
  /**
   * Of the purchase that was asked for, or that has bought with the quote elsewhere; null where there is
   * none, or it was refused without effect.
   */
  readonly transaction_id: string | null;
  /** The rest is null before the first step of the purchase. */
  readonly purchase_status: PurchaseStatus | null;
  readonly purchase_reason: string | null;
  readonly payment_method: PaymentMethod | null;
  readonly esim_id: string | null;
}

/** The Idempotency-Key of the one purchase of a session. A caller's key cannot begin with a blank. */
export const purchaseKeyOf = (sessionId: string): string => ` acp ${sessionId}`;

/** Only the account's own. The key's row names the purchase, in the transaction that opens it. */
export async function findCheckoutSession(
  db: WorldDb,
  accountId: string,
  id: string,
): Promise<SessionRecord | undefined> {
  const row = await db
    .selectFrom('checkout_sessions as session')
    .innerJoin('quotes', 'quotes.id', 'session.quote_id')
    .leftJoin('idempotency_keys as key', (join) =>
      join
        .onRef('key.account_id', '=', 'session.account_id')
        .on('key.key', '=', purchaseKeyOf(id))
        .on('key.refusal_reason', 'is', null),
    )
    // Who knows the quote can buy with it without the session. One that failed has freed the quote.
    .leftJoin('purchases as elsewhere', (join) =>
      join
        .onRef('elsewhere.transaction_id', '=', 'quotes.used_by')
        .onRef('elsewhere.account_id', '=', 'session.account_id')
        .on('elsewhere.status', '!=', 'FAILED'),
    )
    .leftJoin('purchases', (join) =>
      join.on('purchases.transaction_id', '=', ({ fn }) =>
        fn.coalesce('key.transaction_id', 'elsewhere.transaction_id'),
      ),
    )
    .leftJoin('esims', 'esims.id', 'purchases.esim_id')
    .selectAll('session')
    .select(({ fn }) => [
      'quotes.package_code',
      'quotes.package_name',
      'quotes.price_minor',
      'quotes.currency',
      'quotes.expires_at',
      fn.coalesce('key.transaction_id', 'elsewhere.transaction_id').as('transaction_id'),
      'purchases.status as purchase_status',
      'purchases.reason as purchase_reason',
      'purchases.payment_method',
      'esims.id as esim_id',
    ])
    .where('session.id', '=', id)
    .where('session.account_id', '=', accountId)
    .executeTakeFirst();
  if (!row) return undefined;
  const { package_code, package_name, price_minor, currency, expires_at, ...session } = row;
  return { ...session, quote: { package_code, package_name, price_minor, currency, expires_at } };
}

export async function insertCheckoutSession(trx: WorldDb, session: SessionRow): Promise<void> {
  await trx.insertInto('checkout_sessions').values(session).execute();
}

/** Changes of one session come one after the other. */
export async function lockCheckoutSession(trx: WorldDb, id: string): Promise<void> {
  await sql`select from checkout_sessions where id = ${id} for update`.execute(trx);
}

export async function changeCheckoutSession(
  trx: WorldDb,
  id: string,
  changes: Partial<Pick<SessionRow, 'quote_id' | 'canceled_at'>> & Pick<SessionRow, 'updated_at'>,
): Promise<void> {
  await trx.updateTable('checkout_sessions').set(changes).where('id', '=', id).execute();
}
