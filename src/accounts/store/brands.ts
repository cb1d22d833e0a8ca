/** How shops look to travellers, in the schema of their environment. */
import { sql, type Selectable } from 'kysely';
import { logoPathOf, type Brand, type LogoType, type ShownBrand } from '../../domain/brand.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { BrandsTable } from './tables.ts';

export type StoredBrand = Brand & { readonly logoPath: string | null };

const NONE: StoredBrand = {
  ...{ shopName: null, accentColor: null, logoPath: null, autoTopUp: null },
  ...{ supportEmail: null, supportUrl: null, supportPhone: null },
};

/** Everything but the bytes of the logo. */
const COLUMNS = [
  'shop_name',
  'accent_color',
  'support_email',
  'support_url',
  'support_phone',
  'auto_top_up_price_text',
  'auto_top_up_max',
  'logo_hash',
] as const;

function toBrand(row: Pick<Selectable<BrandsTable>, (typeof COLUMNS)[number]>): StoredBrand {
  const { auto_top_up_price_text: priceText, auto_top_up_max: maxTopUps } = row;
  return {
    shopName: row.shop_name,
    accentColor: row.accent_color,
    supportEmail: row.support_email,
    supportUrl: row.support_url,
    supportPhone: row.support_phone,
    autoTopUp: priceText === null || maxTopUps === null ? null : { priceText, maxTopUps },
    logoPath: row.logo_hash === null ? null : logoPathOf(row.logo_hash),
  };
}

/** One that says nothing where the account has set none. */
export async function findBrand(db: WorldDb, accountId: string): Promise<StoredBrand> {
  const row = await db
    .selectFrom('brands')
    .select(COLUMNS)
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  return row ? toBrand(row) : NONE;
}

/** What a traveller's pages show of it. */
export async function findShownBrand(db: WorldDb, accountId: string): Promise<ShownBrand> {
  const { shopName, accentColor, logoPath, supportEmail, supportUrl, supportPhone } = await findBrand(
    db,
    accountId,
  );
  return { name: shopName, accentColor, logoPath, supportEmail, supportUrl, supportPhone };
}

interface Change {
  readonly accountId: string;
  readonly changedBy: string;
}

/** In place of the earlier one; the logo stays. */
export function replaceBrand(trx: WorldDb, change: Change, brand: Brand): Promise<void> {
  return write(trx, change, {
    shop_name: brand.shopName,
    accent_color: brand.accentColor,
    support_email: brand.supportEmail,
    support_url: brand.supportUrl,
    support_phone: brand.supportPhone,
    auto_top_up_price_text: brand.autoTopUp?.priceText ?? null,
    auto_top_up_max: brand.autoTopUp?.maxTopUps ?? null,
  });
}

/** undefined: none. */
export function replaceLogo(
  trx: WorldDb,
  change: Change,
  logo: { readonly bytes: Buffer; readonly type: LogoType; readonly hash: string } | undefined,
): Promise<void> {
  const { bytes: logo_bytes = null, type: logo_type = null, hash: logo_hash = null } = logo ?? {};
  return write(trx, change, { logo_bytes, logo_type, logo_hash });
}

async function write(
  trx: WorldDb,
  { accountId, changedBy }: Change,
  columns: Partial<Selectable<BrandsTable>>,
): Promise<void> {
  const row = { ...columns, changed_at: sql<Date>`clock_timestamp()`, changed_by: changedBy };
  await trx
    .insertInto('brands')
    .values({ account_id: accountId, ...row })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet(row))
    .execute();
}

/** The picture with this hash, of whichever account: the same bytes are the same picture. */
export function findLogo(
  db: WorldDb,
  hash: string,
): Promise<{ readonly bytes: Buffer; readonly type: LogoType } | undefined> {
  return db
    .selectFrom('brands')
    .select((columns) => [
      columns.ref('logo_bytes').$notNull().as('bytes'),
      columns.ref('logo_type').$notNull().as('type'),
    ])
    .where('logo_hash', '=', hash)
    .limit(1)
    .executeTakeFirst();
}
