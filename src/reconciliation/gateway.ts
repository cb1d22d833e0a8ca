/**
 * The gateway's half of a run. Guarantee: what the statement lacks counts as missing only when the gateway,
 * asked for it by reference, does not hold it either.
 */
import {
  compareCharge,
  compareRefund,
  compareDisputes,
  type GatewayLine,
  type OurCharge,
} from './payment-rules.ts';
import type { GatewayOutcome, StatementLine } from '../payments/port.ts';
import { findLines, type LineRow, type NewLine, type Slice } from './store/lines.ts';
import {
  findDisputedReferences,
  findOurCharges,
  findOurDisputes,
  findOurRefunds,
  findUnlistedPayments,
  findUnlistedRefunds,
  type Cursor,
  type OurChargeRow,
  type OurRefundRow,
} from './store/payments.ts';
import {
  compareListed,
  compareOneByOne,
  compareUnlisted,
  createListingGuard,
  keepListed,
  keepVerdicts,
  ownSlices,
  PAGE_ROWS,
  verdictAt,
  type Dated,
  type RunContext,
} from './run.ts';

/** Reads the statement of a time into the run's lines. */
export function readStatement(context: RunContext, { from, to }: Slice): Promise<void> {
  return keepListed(context, context.gateway.statement(from, to), toLine);
}

function toLine(line: StatementLine): NewLine {
  return {
    part: line.kind,
    // The gateway may not name the charge of a refund: then the refund is a line of its own.
    reference: line.reference === '' ? `refund ${line.gatewayId}` : line.reference,
    line_id: line.gatewayId,
    currency: line.amount.currency,
    amount_minor: line.amount.amountMinor,
    fees_minor: line.feesMinor,
    fees_on_top_minor: line.feesOnTopMinor,
    refund_key: line.refundKey,
    package_code: '',
    is_refunded: false,
    opened_at: line.openedAt,
    at: line.at,
  };
}

/** Compares everything that was listed with ours, then what is ours and was not listed, then disputes. */
export async function compareGateway(context: RunContext): Promise<void> {
  const { db, runId, rules } = context;
  await compareListed(context, 'gateway', (references) => comparePage(context, references));
  const refuted = createListingGuard("the gateway's statement");
  for (const slice of ownSlices(context)) {
    await compareUnlisted(
      context,
      'gateway',
      (after: Cursor | undefined) => findUnlistedPayments(db, runId, { ...slice, after, limit: PAGE_ROWS }),
      async (references) =>
        compareOneByOne<OurChargeRow, GatewayLine>(await findOurCharges(db, references), {
          compare: (ours, lines) => compareCharge(ours.reference, ours, lines, rules),
          ask: (ours) => askForCharge(context, ours),
          onFound: refuted,
          at: (ours) => ours.createdAt,
        }),
    );
    await compareUnlisted(
      context,
      'gateway',
      (after: Cursor | undefined) => findUnlistedRefunds(db, runId, { ...slice, after, limit: PAGE_ROWS }),
      (refunds) =>
        compareOneByOne<OurRefundRow, GatewayLine>(refunds, {
          compare: (refund, [line]) => compareRefund(refund, line, rules),
          ask: (refund) => askForRefund(context, refund),
          onFound: refuted,
          at: (refund) => refund.sentAt ?? slice.from,
        }),
    );
  }
  await compareAllDisputes(context);
}

async function comparePage({ db, runId, rules }: RunContext, references: readonly string[]) {
  const lines = await findLines(db, runId, { side: 'gateway', references });
  const charges = await findOurCharges(db, references);
  const keys = lines.flatMap((line) => (line.refund_key === '' ? [] : [line.refund_key]));
  const refundOf = matchRefunds(lines, await findOurRefunds(db, { references, keys }));
  const chargeOf = new Map(charges.map((charge) => [charge.reference, charge]));
  const others = lines.filter((line) => !refundOf.has(line));
  return [
    ...[...refundOf].map(([line, refund]) =>
      verdictAt(compareRefund(refund, toGatewayLine(line), rules), [line.opened_at]),
    ),
    ...[...Map.groupBy(others, (line) => line.reference)].map(([reference, own]) =>
      verdictAt(
        compareCharge(reference, chargeOf.get(reference), own.map(toGatewayLine), rules),
        own.map((line) => line.opened_at),
      ),
    ),
  ];
}

/** By the gateway's id, or by the key while we do not know the id. Each of ours is sent once. */
function matchRefunds(lines: readonly LineRow[], refunds: readonly OurRefundRow[]) {
  const matched = new Map<LineRow, OurRefundRow>();
  const left = new Set(refunds);
  for (const line of lines.filter((one) => one.part === 'refund')) {
    const refund = left
      .values()
      .find(({ gatewayRefundId, gatewayKeys }) =>
        gatewayRefundId === null ? gatewayKeys.includes(line.refund_key) : gatewayRefundId === line.line_id,
      );
    if (!refund) continue;
    left.delete(refund);
    matched.set(line, refund);
  }
  return matched;
}

function toGatewayLine(line: LineRow): GatewayLine {
  return {
    kind: line.part === 'order' ? 'charge' : line.part,
    reference: line.reference,
    gatewayId: line.line_id,
    currency: line.currency,
    amountMinor: line.amount_minor,
    feesMinor: line.fees_minor,
    feesOnTopMinor: line.fees_on_top_minor,
    at: line.at ?? line.opened_at,
  };
}

/** The gateway does not say how much of a reversed charge was refunded, so the booked amount is assumed. */
async function askForCharge({ gateway }: RunContext, ours: OurCharge): Promise<GatewayLine[]> {
  const found = answered(await gateway.findCharge(ours.reference));
  if (found?.state !== 'paid' && found?.state !== 'reversed') return [];
  const charge: GatewayLine = {
    kind: 'charge',
    reference: ours.reference,
    gatewayId: found.gatewayId,
    currency: found.received.currency,
    amountMinor: found.received.amountMinor,
    // A single charge names its fee only where the buyer bore it.
    feesMinor: null,
    feesOnTopMinor: found.feesOnTopMinor,
    at: found.paidAt ?? new Date(0),
  };
  const takenBackMinor = ours.moved.find((moved) => moved.currency === charge.currency)?.takenBackMinor ?? 0n;
  if (found.state === 'paid' || takenBackMinor === 0n) return [charge];
  return [charge, { ...charge, kind: 'reversal', amountMinor: takenBackMinor, feesOnTopMinor: 0n }];
}

async function askForRefund({ gateway }: RunContext, ours: OurRefundRow): Promise<GatewayLine[]> {
  const { reference } = ours;
  for (const refundKey of ours.gatewayKeys) {
    const found = answered(await gateway.findRefund({ reference, refundKey }));
    if (found?.state !== 'done') continue;
    const { refundId: gatewayId, amount } = found;
    const fees = { feesMinor: null, feesOnTopMinor: 0n };
    return [{ kind: 'refund', reference, gatewayId, ...amount, ...fees, at: ours.lastMovedAt }];
  }
  return [];
}

/** Throws where the gateway did not answer: nothing may be reported as missing for that. */
function answered<T>(outcome: GatewayOutcome<T>, about = ''): T {
  if (outcome.outcome === 'done') return outcome.value;
  throw new Error(`the gateway did not answer${about}: ${outcome.detail}`);
}

/** Compares every dispute that either side knows of. */
async function compareAllDisputes(context: RunContext): Promise<void> {
  const { db, own, slices, gateway, signal } = context;
  const disputed = new Set(await findDisputedReferences(db, own.from));
  for (const slice of slices) {
    signal?.throwIfAborted();
    for await (const reference of gateway.disputed(slice.from, slice.to)) disputed.add(reference);
  }
  const references = [...disputed];
  for (let from = 0; from < references.length; from += PAGE_ROWS) {
    const page = references.slice(from, from + PAGE_ROWS);
    await keepVerdicts(context, 'gateway', () => compareDisputePage(context, page));
  }
}

async function compareDisputePage({ db, gateway, rules, signal }: RunContext, references: readonly string[]) {
  const dated: Dated[] = [];
  for (const payment of await findOurDisputes(db, references)) {
    signal?.throwIfAborted();
    const { reference } = payment;
    const theirs = answered(await gateway.findDisputes(reference), ` about disputes of ${reference}`);
    for (const verdict of compareDisputes(payment, payment.disputes, theirs, rules)) {
      const at = theirs.flatMap(({ openedAt }) => openedAt ?? []);
      dated.push(verdictAt(verdict, at.length === 0 ? [payment.openedAt] : at));
    }
  }
  return dated;
}
