/** Names of payments from outside: which of them can be ours at all, so that no other ever reaches a query. */
import { isId } from '../../domain/ids.ts';

/** A charge that had to be opened again bears its number behind the transaction id. */
const LATER_ATTEMPT = /-[1-9]\d{0,2}$/;

/** Whether a text can be a reference that we gave a charge. */
export function canBeReference(text: string): boolean {
  return isId('transaction', text.replace(LATER_ATTEMPT, ''));
}
