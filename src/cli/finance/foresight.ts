/** What a command would do, for the person who is asked and for --dry-run: as the service foresees it, not as the command line guesses. */
import { money } from './output.ts';
import type { Result } from './result.ts';
import type { EffectPreview } from '../../operations/store/actions.ts';

/** A preview as a result, with its sentences. */
export type Preview = Result & {
  readonly lines: readonly string[];
  readonly foresight?: EffectPreview;
};

/** Refusals for which the gateway is asked again before the move is made: what it last said may be old. */
const GATEWAY_ASKED_AGAIN = ['DISPUTE_OPEN', 'OUTCOME_DIFFERS', 'GATEWAY_SILENT'];

/** A foresight in words: how much, whose it is, what follows. */
export function previewEntryOf(transactionId: string, foresight: EffectPreview): Preview {
  switch (foresight.outcome) {
    case 'would-do':
      return {
        transactionId,
        outcome: 'would-do',
        detail: foresight.did,
        lines: wouldDo(foresight),
        foresight,
      };
    case 'refused': {
      const isAsked = GATEWAY_ASKED_AGAIN.includes(foresight.code);
      const detail = `${foresight.code}: ${foresight.detail}`;
      const lines = isAsked
        ? [`As the gateway last said: ${foresight.detail}. It is asked again first.`]
        : [];
      return { transactionId, outcome: isAsked ? 'would-do' : 'refused', detail, lines, foresight };
    }
    case 'done':
      return { transactionId, outcome: 'nothing-to-do', detail: `made before: ${foresight.did}`, lines: [] };
    case 'waits-for-approval':
      return {
        transactionId,
        outcome: 'nothing-to-do',
        detail: `waits for approval: ${foresight.moveId}`,
        lines: [],
      };
  }
}

type WouldDo = Extract<EffectPreview, { outcome: 'would-do' }>;

const SECOND_PERSON: Record<WouldDo['secondPerson'], readonly string[]> = {
  always: ['It waits for another person first.'],
  'above-limit': ['Above the approval limit it waits for another person first.'],
  never: [],
};

function wouldDo(foresight: WouldDo): string[] {
  const { amount, accountId, email, did, entries, refunds, secondPerson } = foresight;
  return [
    `Amount:   ${amount === null ? 'none' : money(amount.amountMinor, amount.currency)}`,
    `Account:  ${accountId}${email === null ? '' : ` (${email})`}`,
    `Follows:  ${did}`,
    ...refunds.map(
      (refund) => `Refund:   ${money(refund.amountMinor, refund.currency)}, asked for at the gateway`,
    ),
    ...entries.map(
      ({ account, currency, debitMinor, creditMinor }) =>
        `Books:    ${account} ${debitMinor > 0n ? 'debit' : 'credit'} ${money(debitMinor > 0n ? debitMinor : creditMinor, currency)}`,
    ),
    ...SECOND_PERSON[secondPerson],
  ];
}
