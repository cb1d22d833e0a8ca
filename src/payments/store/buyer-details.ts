import { sql, type InsertObject } from 'kysely';
import { logoPathOf, type ShownBrand } from '../../domain/brand.ts';
import type { OwnDetails } from '../../domain/own-details.ts';
import { inBatches } from '../../platform/database/retention.ts';
import type { WorldDatabase, WorldDb } from '../../platform/database/tables.ts';

/** Who pays for a purchase or a funding, and where they go back to. */
export interface Buyer {
  /** The buyer's, or else the account's. It stays out of workflows and logs. */
  readonly email: string;
  /** The name of the shop; null: the account is no company's, and has set none. */
  readonly shop: string | null;
  readonly successUrl: string | null;
  readonly cancelUrl: string | null;
  readonly returnHosts: readonly string[];
  readonly brand: ShownBrand;
}

type BrandColumns = Omit<ShownBrand, 'name' | 'logoPath'> & { readonly logoHash: string | null };

export async function findBuyer(
  db: WorldDb,
  payment: { readonly account_id: string; readonly transaction_id: string },
): Promise<Buyer> {
  const { rows } = await sql<Omit<Buyer, 'brand'> & BrandColumns>`
    select coalesce(buyer.customer_email, account.email) as email,
           coalesce(brand.shop_name, case when account.type = 'MERCHANT' then account.name end) as shop,
           buyer.success_url as "successUrl", buyer.cancel_url as "cancelUrl",
           coalesce(allowed.hosts, '{}') as "returnHosts", brand.accent_color as "accentColor",
           brand.logo_hash as "logoHash", brand.support_email as "supportEmail",
           brand.support_url as "supportUrl", brand.support_phone as "supportPhone"
      from accounts.accounts account
      left join buyer_details buyer on buyer.transaction_id = ${payment.transaction_id}
      left join brands brand on brand.account_id = account.id
      left join return_hosts allowed on allowed.account_id = account.id
     where account.id = ${payment.account_id}`.execute(db);
  if (!rows[0]) throw new Error(`no account ${payment.account_id}`);
  const { accentColor, logoHash, supportEmail, supportUrl, supportPhone, ...buyer } = rows[0];
  const contact = { supportEmail, supportUrl, supportPhone };
  const logoPath = logoHash === null ? null : logoPathOf(logoHash);
  return { ...buyer, brand: { name: buyer.shop, accentColor, logoPath, ...contact } };
}

/** undefined: there is nothing to keep. */
export function buyerDetailsOf(
  transactionId: string,
  { customerEmail, successUrl, cancelUrl }: OwnDetails,
): InsertObject<WorldDatabase, 'buyer_details'> | undefined {
  if ([customerEmail, successUrl, cancelUrl].every((value) => value === undefined)) return undefined;
  return {
    transaction_id: transactionId,
    customer_email: customerEmail ?? null,
    success_url: successUrl ?? null,
    cancel_url: cancelUrl ?? null,
  };
}

/** Blanks the addresses of buyers that were given before then; returns how many. */
export function forgetBuyerEmails(db: WorldDb, before: Date, isOver?: () => boolean): Promise<number> {
  return inBatches(async (limit) => {
    const { numAffectedRows } = await sql`
      update buyer_details set customer_email = null
       where transaction_id = any(array(
         select transaction_id from buyer_details where customer_email is not null and created_at < ${before}
          order by created_at limit ${limit} for update skip locked))`.execute(db);
    return Number(numAffectedRows ?? 0n);
  }, isOver);
}
