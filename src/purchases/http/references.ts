/** Which payment a caller means. TRANSACTION_NOT_FOUND where it cannot be one of ours. */
import type { WhichPayment } from '../views.ts';
import { isId } from '../../domain/ids.ts';
import { DomainError } from '../../domain/errors.ts';
import { canBeReference } from '../../payments/rules.ts';

export function whichPayment(named: {
  readonly transactionId: string | undefined;
  readonly reference: string | undefined;
}): WhichPayment {
  const { transactionId, reference } = named;
  if (transactionId !== undefined && isId('transaction', transactionId)) return { transactionId };
  if (reference !== undefined && canBeReference(reference)) return { reference };
  throw new DomainError('TRANSACTION_NOT_FOUND', 'Transaction not found');
}
