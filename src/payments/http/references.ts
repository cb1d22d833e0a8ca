/** Names of payments from outside: which of them can be ours at all, so that no other ever reaches a query. */
import type { WhichPayment } from '../../platform/composition/use-cases.ts';
import { DomainError } from '../../domain/errors.ts';
import { isId } from '../../domain/ids.ts';

/** A charge that had to be opened again bears its number behind the transaction id. */
const LATER_ATTEMPT = /-[1-9]\d{0,2}$/;

/** Whether a text can be a reference that we gave a charge. */
export function canBeReference(text: string): boolean {
  return isId('transaction', text.replace(LATER_ATTEMPT, ''));
}

/** Which payment a caller means. TRANSACTION_NOT_FOUND where it cannot be one of ours. */
export function whichPayment(named: {
  readonly transactionId: string | undefined;
  readonly reference: string | undefined;
}): WhichPayment {
  const { transactionId, reference } = named;
  if (transactionId !== undefined && isId('transaction', transactionId)) return { transactionId };
  if (reference !== undefined && canBeReference(reference)) return { reference };
  throw new DomainError('TRANSACTION_NOT_FOUND', 'Transaction not found');
}
