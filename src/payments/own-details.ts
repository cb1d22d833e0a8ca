/**
 * What callers say for themselves about a purchase or a funding, on its way to the row. It travels through
 * Temporal sealed: a reference may be a name, and an address is personal data.
 */
import { findReturnHosts } from '../accounts/store/return-hosts.ts';
import type { Principal } from '../domain/account.ts';
import { DomainError } from '../domain/errors.ts';
import type { OwnDetails } from '../domain/own-details.ts';
import type { PaymentMethod } from '../domain/states.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import type { SecretBox } from '../platform/secret-box.ts';
import { allowedReturnUrl } from '../accounts/return-urls.ts';
import type { SealedDetails } from './rules.ts';

const contextOf = (transactionId: string): string => `own details of ${transactionId}`;

/** Who pays and where they go back to is kept only where somebody pays at a gateway. */
export function sealOwnDetails(
  { secretBox }: { readonly secretBox: Pick<SecretBox, 'seal'> },
  transactionId: string,
  {
    paymentMethod,
    ownDetails = {},
  }: { readonly paymentMethod: PaymentMethod; readonly ownDetails?: OwnDetails },
): SealedDetails {
  const { reference, uniqueReference, metadata } = ownDetails;
  const kept = paymentMethod === 'WALLET' ? { reference, uniqueReference, metadata } : ownDetails;
  if (Object.values(kept).every((value) => value === undefined)) return {};
  return { ownDetails: secretBox.seal(JSON.stringify(kept), contextOf(transactionId)).toString('base64') };
}

export function openOwnDetails(
  secretBox: Pick<SecretBox, 'open'>,
  { transactionId, ownDetails }: SealedDetails & { readonly transactionId: string },
): OwnDetails {
  if (ownDetails === undefined) return {};
  const sealed = Buffer.from(ownDetails, 'base64');
  return JSON.parse(secretBox.open(sealed, contextOf(transactionId))) as OwnDetails;
}

/**
 * Each field that the second names is its own; metadata as a whole. A reference comes with whether it is
 * unique.
 */
export function mergeDetails(first: OwnDetails, second: OwnDetails): OwnDetails {
  const said = Object.entries(second).filter(([, value]) => value !== undefined);
  const { uniqueReference, ...kept } = first;
  const isOwn = second.reference !== undefined;
  return { ...kept, ...(isOwn ? {} : { uniqueReference }), ...(Object.fromEntries(said) as OwnDetails) };
}

/** RETURN_URL_NOT_ALLOWED for a return address whose host is not on the account's list. */
export async function requireReturnable(
  { db }: { readonly db: WorldDb },
  { account, environment }: Principal,
  { successUrl, cancelUrl }: OwnDetails,
): Promise<void> {
  if (successUrl === undefined && cancelUrl === undefined) return;
  const hosts = await findReturnHosts(db, account.id);
  const where = { transactionId: '', environment, hosts };
  for (const [field, url] of Object.entries({ successUrl, cancelUrl })) {
    if (url === undefined || allowedReturnUrl(url, where) !== undefined) continue;
    const problem = `its host is not among the return hosts of this account in the ${environment} environment`;
    throw new DomainError('RETURN_URL_NOT_ALLOWED', 'Buyers may not be sent back to this address', {
      details: `${field}: ${problem}`,
      fields: [{ field, problem }],
    });
  }
}
