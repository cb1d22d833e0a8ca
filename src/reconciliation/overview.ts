/** What needs attention now, in figures: the home page of operators. */
import { may, type Role } from '../domain/operator-roles.ts';
import { summariseWaitingRates } from '../catalogue/rates.ts';
import { summarisePendingApprovals } from '../operations/store/actions.ts';
import { summariseWaitingRepairs } from '../operations/store/batch-repairs.ts';
import type { StuckClass } from '../operations/stuck-rules.ts';
import { findStuck, type StuckDeps } from '../operations/stuck.ts';
import type { Books, Waiting } from './books.ts';
import { summariseOpenDifferences } from './store/reconciliation.ts';

/** How old the oldest of them is; null: there are none. */
interface Figure {
  readonly count: number;
  readonly oldestAgeSeconds: number | null;
}

export interface Overview {
  readonly stuck: Figure & {
    /** The class with the oldest line first. */
    readonly classes: readonly (Figure & { readonly class: StuckClass })[];
    /** There are more than were counted. */
    readonly isCut: boolean;
    /** false: Temporal did not answer, so items of `workflow-gone` are missing. All others are there. */
    readonly temporalAsked: boolean;
  };
  /** Actions and batch repairs. */
  readonly approvals: Figure;
  /** Exchange rates that await confirmation. null: not for this role. */
  readonly rates: Figure | null;
  /** null: not for this role. */
  readonly differences: Figure | null;
  /** null: not for this role. */
  readonly waiting: {
    readonly asOf: Date;
    readonly lines: readonly (Waiting['lines'][number] & Figure)[];
  } | null;
}

const earlier = (one: Date | null, other: Date | null): Date | null =>
  one && other ? (one < other ? one : other) : (one ?? other);

/** Money that waits is a sum over much of the ledger, and a page that is open asks for it again and again. */
const WAITING_FOR_MS = 60_000;

/** One for each environment: it keeps what money waits for up to a minute. */
export function createOverview({
  stuck,
  books,
}: {
  readonly stuck: StuckDeps;
  readonly books: Pick<Books, 'waiting'>;
}) {
  const ageOf = (oldestAt: Date | null): number | null =>
    oldestAt && Math.max(0, Math.trunc((stuck.clock.now().getTime() - oldestAt.getTime()) / 1_000));
  let kept: { readonly asOf: Date; readonly waiting: Promise<Waiting> } | undefined;
  const readWaiting = async () => {
    const now = stuck.clock.now();
    if (!kept || now.getTime() - kept.asOf.getTime() >= WAITING_FOR_MS)
      kept = { asOf: now, waiting: books.waiting() };
    const mine = kept;
    try {
      return { asOf: mine.asOf, ...(await mine.waiting) };
    } catch (error) {
      if (kept === mine) kept = undefined;
      throw error;
    }
  };
  return async (role: Role): Promise<Overview> => {
    const { db, clock } = stuck;
    const [list, approvals, repairs, rates, differences, waiting] = await Promise.all([
      findStuck(stuck),
      summarisePendingApprovals(db, clock.now()),
      summariseWaitingRepairs(db, clock.now()),
      may(role, 'pricing') ? summariseWaitingRates(stuck) : null,
      may(role, 'reconcile') ? summariseOpenDifferences(db) : null,
      may(role, 'books') ? readWaiting() : null,
    ]);
    const { items, isCut, temporalAsked } = list;
    const figureOf = (lines: typeof items): Figure => ({
      count: lines.length,
      // The oldest is listed first.
      oldestAgeSeconds: lines[0]?.ageSeconds ?? null,
    });
    return {
      stuck: {
        ...figureOf(items),
        classes: Array.from(
          Map.groupBy(items, (item) => item.class),
          ([stuckClass, lines]) => ({ class: stuckClass, ...figureOf(lines) }),
        ),
        isCut,
        temporalAsked,
      },
      approvals: {
        count: approvals.count + repairs.count,
        oldestAgeSeconds: ageOf(earlier(approvals.oldestAt, repairs.oldestAt)),
      },
      rates: rates && { count: rates.count, oldestAgeSeconds: ageOf(rates.oldestAt) },
      differences: differences && {
        count: differences.count,
        oldestAgeSeconds: ageOf(differences.oldestAt),
      },
      waiting: waiting && {
        asOf: waiting.asOf,
        lines: waiting.lines.map((line) => ({
          ...line,
          count: line.items,
          oldestAgeSeconds: ageOf(line.oldestAt),
        })),
      },
    };
  };
}
