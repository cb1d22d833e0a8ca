/** What operators decide about replacements of eSIMs that the supplier does not decide. */
import type { WorldDb } from '../../platform/database/tables.ts';
import { REPLACEMENT_REFUSAL_WORDS } from '../../purchases/replacements/rules.ts';
import {
  beginOrdering,
  recordReplaced,
  refuseReplacement,
  type Begun,
} from '../../purchases/store/replacements.ts';
import type { Ended } from '../rules.ts';
import { formatMoney } from './dispute-settlement.ts';
import type { ActionSubject } from './subject.ts';
import type { ActionRow } from './tables.ts';

const openOf = ({ facts, transactionId }: ActionSubject) =>
  facts.replacement && { id: facts.replacement.replacementId, transaction_id: transactionId };

/** Begins the purchase of the new eSIM. Where that is delivered, the old one is recorded as revoked. */
export async function grantReplacement(
  trx: WorldDb,
  _action: ActionRow,
  subject: ActionSubject,
): Promise<Ended> {
  const open = openOf(subject);
  const { replacement } = subject.facts;
  if (!open || !replacement) return { refusal: 'DOES_NOT_FIT' };
  if (replacement.isDelivered) {
    const ended = await recordReplaced(trx, open);
    return ended ? { did: 'replaced: the old eSIM is recorded as revoked' } : { refusal: 'DOES_NOT_FIT' };
  }
  const begun = await beginOrdering(trx, open, { by: 'operator' });
  if (begun !== 'BEGUN') return { refusal: 'DOES_NOT_FIT', detail: whyNot(begun) };
  return { did: `the replacement is granted; we pay ${formatMoney(replacement)} of it` };
}

const whyNot = (begun: Exclude<Begun, 'BEGUN'>): string =>
  begun === 'ENDED' || begun === 'BEYOND_LIMIT'
    ? 'it does not wait any more'
    : REPLACEMENT_REFUSAL_WORDS[begun];

export async function refuseReplacementByHand(
  trx: WorldDb,
  _action: ActionRow,
  subject: ActionSubject,
): Promise<Ended> {
  const open = openOf(subject);
  return open && (await refuseReplacement(trx, open, 'REFUSED_BY_OPERATOR'))
    ? { did: 'the replacement is refused; nothing was changed' }
    : { refusal: 'DOES_NOT_FIT' };
}
