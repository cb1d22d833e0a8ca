import { DomainError } from '../../domain/errors.ts';
import { isId } from '../../domain/ids.ts';
import type { MissingFields, RawInput } from '../../platform/http/route.ts';

const TOP_UP_TARGET_NOT_FOUND = 'eSIM not found or does not belong to your account';

export function isTopUp(raw: RawInput): boolean {
  return Object.hasOwn(raw.body, 'packageType') && raw.body['packageType'] === 'TOPUP';
}

/** The specification's own words. */
export function missingTarget(raw: RawInput): MissingFields | undefined {
  const given = Object.hasOwn(raw.body, 'esimId') ? raw.body['esimId'] : undefined;
  if (!isTopUp(raw) || (given !== undefined && given !== null && given !== '')) return undefined;
  const message = 'esimId is required for TOPUP package type';
  return { code: 'VALIDATION_ERROR', message, fields: ['esimId'] };
}

export function topUpTarget(esimId: string): string {
  if (!isId('esim', esimId)) throw new DomainError('ESIM_NOT_FOUND', TOP_UP_TARGET_NOT_FOUND);
  return esimId;
}
