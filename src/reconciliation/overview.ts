/** What needs attention now, in figures: the home page of operators. */
import { may, type Role } from '../domain/operator-roles.ts';
import { listProposedPrices } from '../catalogue/price-settings.ts';
import { summariseWaitingRates } from '../catalogue/rates.ts';
import { summariseHeldCosts } from '../catalogue/store/catalogue.ts';
import { summariseWaitingRules } from '../catalogue/store/price-rules.ts';
import { summarisePendingApprovals } from '../operations/store/actions.ts';
import { summariseWaitingRepairs } from '../operations/store/batch-repairs.ts';
import { summariseWaitingAdjustments } from '../operations/store/wallet-adjustments.ts';
import { findStuck, type StuckDeps } from '../operations/stuck.ts';
import { readWaiting, type Waiting } from './books.ts';
import { summariseOpenDifferences } from './store/reconciliation.ts';

/** How old the oldest of them is; null: there are none. */
interface Figure {
  readonly count: number;
  readonly oldestAgeSeconds: number | null;
}

const earlier = (one: Date | null, other: Date | null): Date | null =>
  one && other ? (one < other ? one : other) : (one ?? other);

/** Money that waits is a sum over much of the ledger, and a page that is open asks for it again and again. */
const WAITING_FOR_MS = 60_000;

/** Exchange rates, markups, price rules and prices of the supplier that await a person. */
async function summariseWaitingPricing(deps: Pick<StuckDeps, 'db' | 'clock'>) {
  const [rates, proposed, held, rules] = await Promise.all([
    summariseWaitingRates(deps),
    listProposedPrices(deps),
    summariseHeldCosts(deps.db),
    summariseWaitingRules(deps.db),
  ]);
  const oldest = [rates.oldestAt, proposed.at(-1)?.at ?? null, held.oldestAt, rules.oldestAt];
  return {
    count: rates.count + proposed.length + held.count + rules.count,
    oldestAt: oldest.reduce(earlier, null),
  };
}

/** One for each environment: it keeps what money waits for up to a minute. */
export function createOverview({
  stuck,
  waiting: sumWaiting = () => readWaiting(stuck),
}: {
  readonly stuck: StuckDeps;
  readonly waiting?: () => Promise<Waiting>;
}) {
  const figureOf = (count: number, oldestAt: Date | null): Figure => ({
    count,
    oldestAgeSeconds:
      oldestAt && Math.max(0, Math.trunc((stuck.clock.now().getTime() - oldestAt.getTime()) / 1_000)),
  });
  let kept: { readonly asOf: Date; readonly waiting: Promise<Waiting> } | undefined;
  const waitingNow = async () => {
    const now = stuck.clock.now();
    if (!kept || now.getTime() - kept.asOf.getTime() >= WAITING_FOR_MS)
      kept = { asOf: now, waiting: sumWaiting() };
    const mine = kept;
    try {
      return { asOf: mine.asOf, ...(await mine.waiting) };
    } catch (error) {
      if (kept === mine) kept = undefined;
      throw error;
    }
  };
  /** A figure that is not for this role is null. */
  return async (role: Role) => {
    const { db, clock } = stuck;
    const [list, actions, repairs, byHand, rates, differences, waiting] = await Promise.all([
      findStuck(stuck),
      summarisePendingApprovals(db, clock.now()),
      summariseWaitingRepairs(db, clock.now()),
      summariseWaitingAdjustments(db),
      may(role, 'pricing') ? summariseWaitingPricing(stuck) : null,
      may(role, 'reconcile') ? summariseOpenDifferences(db) : null,
      may(role, 'books') ? waitingNow() : null,
    ]);
    const { items, isCut, temporalAsked } = list;
    // The oldest is listed first.
    const stuckFigure = (lines: typeof items): Figure => ({
      count: lines.length,
      oldestAgeSeconds: lines[0]?.ageSeconds ?? null,
    });
    return {
      stuck: {
        ...stuckFigure(items),
        classes: Array.from(
          Map.groupBy(items, (item) => item.class),
          ([stuckClass, lines]) => ({ class: stuckClass, ...stuckFigure(lines) }),
        ),
        isCut,
        temporalAsked,
      },
      approvals: figureOf(
        actions.count + repairs.count + byHand.count,
        [actions, repairs, byHand].map(({ oldestAt }) => oldestAt).reduce(earlier),
      ),
      rates: rates && figureOf(rates.count, rates.oldestAt),
      differences: differences && figureOf(differences.count, differences.oldestAt),
      waiting: waiting && {
        asOf: waiting.asOf,
        lines: waiting.lines.map((line) => ({ ...line, ...figureOf(line.items, line.oldestAt) })),
      },
    };
  };
}
