/**
 * Disputes of a run: those that the gateway lists for its time, and those of ours that may differ, each payment asked for by its reference. Moves
 * nothing, and settles nothing.
 */
import { compareDisputes } from './dispute-rules.ts';
import { findDisputedReferences, findOurDisputes } from './store/disputes.ts';
import { dated, goOn, keepVerdicts, PAGE_ROWS, type Dated, type RunContext } from './run.ts';

/** Compares every dispute that either side knows of. */
export async function compareAllDisputes(context: RunContext): Promise<void> {
  const { db, own, slices, gateway } = context;
  const listed = new Set<string>();
  for (const slice of slices) {
    goOn(context);
    for await (const reference of gateway.disputed(slice.from, slice.to)) listed.add(reference);
  }
  for (let after = ''; ;) {
    const page = await findDisputedReferences(db, { since: own.from, after, limit: PAGE_ROWS });
    const last = page.at(-1);
    if (last === undefined) break;
    for (const reference of page) listed.add(reference);
    after = last;
  }
  const references = [...listed];
  for (let from = 0; from < references.length; from += PAGE_ROWS)
    await keepVerdicts(context, 'gateway', () =>
      compareDisputePage(context, references.slice(from, from + PAGE_ROWS)),
    );
}

async function compareDisputePage(context: RunContext, references: readonly string[]): Promise<Dated[]> {
  const verdicts: Dated[] = [];
  for (const payment of await findOurDisputes(context.db, references)) {
    goOn(context);
    const found = await context.gateway.findDisputes(payment.reference);
    if (found.outcome !== 'done')
      throw new Error(`the gateway did not answer about disputes of ${payment.reference}: ${found.detail}`);
    for (const verdict of compareDisputes(payment, payment.disputes, found.value, context.rules)) {
      const at = found.value.flatMap(({ openedAt }) => (openedAt === null ? [] : [openedAt]));
      verdicts.push(dated(verdict, at.length === 0 ? [payment.openedAt] : at));
    }
  }
  return verdicts;
}
