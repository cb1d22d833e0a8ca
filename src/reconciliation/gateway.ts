/**
 * The gateway's half of a run: its statement is read into the run's lines, then compared with payments and refunds, page by page in both
 * directions. Guarantee: what the statement lacks counts as missing only when the gateway, asked for it by name, does not hold it either.
 */
import {
  compareCharge,
  compareRefund,
  compareDisputes,
  type GatewayLine,
  type OurCharge,
} from './payment-rules.ts';
import type { GatewayOutcome, StatementLine } from '../payments/port.ts';
import {
  findLines,
  findOurCharges,
  findOurRefunds,
  findUnseenPayments,
  findUnseenRefunds,
  FROM_THE_START,
  GATEWAY_PARTS,
  keepLines,
  nextReferences,
  type Cursor,
  type LineRow,
  type NewLine,
  type OurRefundRow,
  type Slice,
  type Unseen,
} from './store/lines.ts';
import {
  createListDoubter,
  verdictAt,
  throwIfAborted,
  keepVerdicts,
  ownSlices,
  PAGE_ROWS,
  type Dated,
  type RunContext,
} from './run.ts';
import { findDisputedReferences, findOurDisputes } from './store/disputes.ts';

/** Reads the statement of a time into the run's lines. */
export async function readStatement(context: RunContext, slice: Slice): Promise<void> {
  const { db, gateway, runId } = context;
  let page: NewLine[] = [];
  for await (const line of gateway.statement(slice.from, slice.to)) {
    page.push(toLine(line));
    if (page.length < PAGE_ROWS) continue;
    throwIfAborted(context);
    await keepLines(db, runId, page);
    page = [];
  }
  await keepLines(db, runId, page);
}

function toLine(line: StatementLine): NewLine {
  return {
    part: line.kind,
    // A refund of a charge that the gateway does not tell stands alone.
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

/** Compares everything that was read with ours, then what is ours and was not read. */
export async function compareGateway(context: RunContext): Promise<void> {
  await compareLines(context);
  const refuted = createListDoubter("the gateway's statement");
  for (const slice of ownSlices(context)) {
    await compareUnseenPayments(context, slice, refuted);
    await compareUnseenRefunds(context, slice, refuted);
  }
}

async function compareLines(context: RunContext): Promise<void> {
  const { db, runId } = context;
  for (let after = ''; ;) {
    const references = await nextReferences(db, runId, { parts: GATEWAY_PARTS, after, limit: PAGE_ROWS });
    const last = references.at(-1);
    if (last === undefined) return;
    await keepVerdicts(context, 'gateway', () => comparePage(context, references));
    after = last;
  }
}

async function comparePage(
  { db, runId, rules }: RunContext,
  references: readonly string[],
): Promise<Dated[]> {
  const lines = await findLines(db, runId, { parts: GATEWAY_PARTS, references });
  const charges = await findOurCharges(db, references);
  const keys = lines.flatMap((line) => (line.refund_key === '' ? [] : [line.refund_key]));
  const refunds = await findOurRefunds(db, { references, keys });
  const refundOf = matchRefunds(lines, refunds);
  const chargeOf = new Map(charges.map((charge) => [charge.reference, charge]));
  return [...Map.groupBy(lines, (line) => line.reference)].flatMap(([reference, all]) => {
    const others = all.filter((line) => !refundOf.has(line));
    const ours = chargeOf.get(reference);
    const verdicts = all.flatMap((line) => {
      const refund = refundOf.get(line);
      return refund ? [verdictAt(compareRefund(refund, toGatewayLine(line), rules), [line.opened_at])] : [];
    });
    if (others.length === 0) return verdicts;
    const verdict = compareCharge(reference, ours, others.map(toGatewayLine), rules);
    return [
      ...verdicts,
      verdictAt(
        verdict,
        others.map((line) => line.opened_at),
      ),
    ];
  });
}

/** Which refund of ours a line is: the gateway's id tells, or the key where we do not know that yet. Each of ours is sent once. */
function matchRefunds(
  lines: readonly LineRow[],
  refunds: readonly OurRefundRow[],
): Map<LineRow, OurRefundRow> {
  const matched = new Map<LineRow, OurRefundRow>();
  const taken = new Set<string>();
  for (const line of lines.filter((one) => one.part === 'refund')) {
    const refund = refunds.find(
      ({ gatewayRefundId, gatewayKeys, refundKey }) =>
        !taken.has(refundKey) &&
        (gatewayRefundId === null ? gatewayKeys.includes(line.refund_key) : gatewayRefundId === line.line_id),
    );
    if (!refund) continue;
    taken.add(refund.refundKey);
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

async function compareUnseenPayments(context: RunContext, slice: Slice, refuted: () => void): Promise<void> {
  const { db, runId } = context;
  for (let after: Cursor | undefined = FROM_THE_START; after;) {
    const page: Unseen<string> = await findUnseenPayments(db, runId, { ...slice, after, limit: PAGE_ROWS });
    if (page.unseen.length > 0)
      await keepVerdicts(context, 'gateway', () => compareAsking(context, page.unseen, refuted));
    after = page.next;
  }
}

async function compareAsking(
  context: RunContext,
  references: readonly string[],
  refuted: () => void,
): Promise<Dated[]> {
  const { db, rules } = context;
  const verdicts: Dated[] = [];
  for (const ours of await findOurCharges(db, references)) {
    let verdict = compareCharge(ours.reference, ours, [], rules);
    if (verdict.differences.length > 0) {
      const lines = await askForCharge(context, ours);
      if (lines.length > 0) refuted();
      verdict = compareCharge(ours.reference, ours, lines, rules);
    }
    verdicts.push(verdictAt(verdict, [ours.createdAt]));
  }
  return verdicts;
}

/** What the gateway holds under a reference when asked for it; it does not tell what of a reversed charge was refunded, so that is taken as booked. */
async function askForCharge({ gateway }: RunContext, ours: OurCharge): Promise<GatewayLine[]> {
  const look = answered('the gateway', await gateway.findCharge(ours.reference));
  if (look === null || (look.state !== 'paid' && look.state !== 'reversed')) return [];
  const charge: GatewayLine = {
    kind: 'charge',
    reference: ours.reference,
    gatewayId: look.gatewayId,
    currency: look.received.currency,
    amountMinor: look.received.amountMinor,
    // A look tells the fee only where the buyer bore it.
    feesMinor: null,
    feesOnTopMinor: look.feesOnTopMinor,
    at: look.paidAt ?? new Date(0),
  };
  const takenBackMinor = ours.moved.find((moved) => moved.currency === charge.currency)?.takenBackMinor ?? 0n;
  if (look.state === 'paid' || takenBackMinor === 0n) return [charge];
  return [charge, { ...charge, kind: 'reversal', amountMinor: takenBackMinor, feesOnTopMinor: 0n }];
}

async function compareUnseenRefunds(context: RunContext, slice: Slice, refuted: () => void): Promise<void> {
  const { db, runId, rules } = context;
  for (let after: Cursor | undefined = FROM_THE_START; after;) {
    const page: Unseen<OurRefundRow> = await findUnseenRefunds(db, runId, {
      ...slice,
      after,
      limit: PAGE_ROWS,
    });
    after = page.next;
    if (page.unseen.length === 0) continue;
    await keepVerdicts(context, 'gateway', async () => {
      const verdicts: Dated[] = [];
      for (const refund of page.unseen) {
        let verdict = compareRefund(refund, undefined, rules);
        if (verdict.differences.length > 0) {
          const line = await askForRefund(context, refund);
          if (line) refuted();
          verdict = compareRefund(refund, line, rules);
        }
        verdicts.push(verdictAt(verdict, [refund.askedAt ?? slice.from]));
      }
      return verdicts;
    });
  }
}

async function askForRefund({ gateway }: RunContext, ours: OurRefundRow): Promise<GatewayLine | undefined> {
  const { reference } = ours;
  for (const refundKey of ours.gatewayKeys) {
    const look = answered('the gateway', await gateway.findRefund({ reference, refundKey }));
    if (look?.state !== 'done') continue;
    return {
      kind: 'refund',
      reference,
      gatewayId: look.refundId,
      currency: look.amount.currency,
      amountMinor: look.amount.amountMinor,
      feesMinor: null,
      feesOnTopMinor: 0n,
      at: ours.lastMovedAt,
    };
  }
  return undefined;
}

/** A question that is not answered leaves the run unfinished: nobody may take that for nothing being there. */
function answered<T>(whom: string, outcome: GatewayOutcome<T>): T {
  if (outcome.outcome === 'done') return outcome.value;
  throw new Error(`${whom} did not answer: ${outcome.detail}`);
}

/** Compares every dispute that either side knows of. */
export async function compareAllDisputes(context: RunContext): Promise<void> {
  const { db, own, slices, gateway } = context;
  const listed = new Set<string>();
  for (const slice of slices) {
    throwIfAborted(context);
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
    throwIfAborted(context);
    const found = await context.gateway.findDisputes(payment.reference);
    if (found.outcome !== 'done')
      throw new Error(`the gateway did not answer about disputes of ${payment.reference}: ${found.detail}`);
    for (const verdict of compareDisputes(payment, payment.disputes, found.value, context.rules)) {
      const at = found.value.flatMap(({ openedAt }) => (openedAt === null ? [] : [openedAt]));
      verdicts.push(verdictAt(verdict, at.length === 0 ? [payment.openedAt] : at));
    }
  }
  return verdicts;
}
