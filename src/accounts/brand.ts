/** How a shop looks to its travellers and buyers: set by its members, each environment for itself. */
import { createHash } from 'node:crypto';
import type { Environment } from '../domain/account.ts';
import type { Brand } from '../domain/brand.ts';
import type { Member } from '../domain/callers.ts';
import type { AccountsDb } from '../platform/database/tables.ts';
import { inEnvironment } from '../platform/database/transactions.ts';
import { isLogoSize, MAX_LOGO_BYTES, MAX_LOGO_PIXELS, pictureOf } from './logo-rules.ts';
import { lockAccountRow } from './store/accounts.ts';
import { writeAudit } from './store/audit.ts';
import { findBrand, replaceBrand, replaceLogo, type StoredBrand } from './store/brands.ts';
import { refuseField } from './users/better-auth-calls.ts';

interface BrandDeps {
  readonly db: AccountsDb;
}

export function readBrand(
  { db }: BrandDeps,
  { account }: Member,
  environment: Environment,
): Promise<StoredBrand> {
  return inEnvironment(db, environment, (world) => findBrand(world, account.id));
}

/** In place of the earlier one; the logo stays. */
export const changeBrand = (deps: BrandDeps, member: Member, environment: Environment, brand: Brand) =>
  change(deps, member, environment, (world, by) => replaceBrand(world, by, brand));

/** Throws VALIDATION_ERROR, and changes nothing, for what is no picture, and for one that is too large. */
export async function changeLogo(
  deps: BrandDeps,
  member: Member,
  environment: Environment,
  bytes: Buffer,
): Promise<StoredBrand> {
  if (bytes.length > MAX_LOGO_BYTES)
    refuseField('image', `must be at most ${MAX_LOGO_BYTES / 1024} KB, before it is written in base64`);
  const picture = pictureOf(bytes);
  if (!picture) return refuseField('image', 'must be a PNG, JPEG or WebP picture');
  if (!isLogoSize(picture))
    refuseField('image', `must be at most ${MAX_LOGO_PIXELS} pixels wide and ${MAX_LOGO_PIXELS} high`);
  const logo = { bytes, type: picture.type, hash: createHash('sha256').update(bytes).digest('hex') };
  return change(deps, member, environment, (world, by) => replaceLogo(world, by, logo));
}

/** Repeating it changes nothing. */
export const removeLogo = (deps: BrandDeps, member: Member, environment: Environment) =>
  change(deps, member, environment, (world, by) => replaceLogo(world, by, undefined));

async function change(
  { db }: BrandDeps,
  { account, email, clientAddress: address }: Member,
  environment: Environment,
  write: (
    world: Parameters<typeof replaceBrand>[0],
    by: { readonly accountId: string; readonly changedBy: string },
  ) => Promise<void>,
): Promise<StoredBrand> {
  return db.transaction().execute(async (trx) => {
    // Concurrent changes wait for each other, so each entry has what was before.
    await lockAccountRow(trx, account.id);
    const { before, now } = await inEnvironment(trx, environment, async (world) => {
      const known = await findBrand(world, account.id);
      await write(world, { accountId: account.id, changedBy: email });
      return { before: known, now: await findBrand(world, account.id) };
    });
    const facts = { before: JSON.stringify(before), after: JSON.stringify(now) };
    const detail = { accountId: account.id, environment, ...facts, address };
    await writeAudit(trx, { actor: email, action: 'brand.change', subject: account.id, detail });
    return now;
  });
}
