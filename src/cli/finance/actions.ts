/**
 * The commands that change something: operator actions, their approval by a second person, replay and
 * dismiss.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { dataOf, type Ops } from 'simway-client';
import type { components } from 'simway-client/generated/ops.ts';
import { z } from 'zod';
import {
  actionSpec,
  OPERATOR_ACTIONS,
  type ActionField,
  type OperatorAction,
} from '../../accounts/operators/action-table.ts';
import { BATCH_REPAIR_ACTIONS, outcomeOfReplay } from '../../operations/batch-repair-rules.ts';
import { DISPUTE_OUTCOMES } from '../../payments/rules.ts';
import { formatMinor } from '../../domain/money.ts';
import { defined, option, OperatorMistake, toggle, UsageMistake } from '../../platform/command.ts';
import { amount, DRY_RUN, REASON, text, YES } from '../values.ts';
import { financeCommand, type AddCommand } from './group.ts';
import { moment, money, allPages, notConfirmed, type Output } from './output.ts';
import { waitingPricing } from './pricing.ts';
import {
  applyToTargets,
  confirmPreview,
  FILTER,
  findStuck,
  lineOf,
  refusedOr,
  showProgress,
  type Preview,
  type Result,
} from './targets.ts';

type Schemas = components['schemas'];

const optional = <Schema extends z.ZodType>(schema: Schema) =>
  option(schema.optional(), schema.meta()?.description ?? '', 'text');

const COMMON = {
  ...FILTER,
  reason: REASON,
  evidence: option(text(500).optional(), 'where it can be seen: a statement, a ticket', 'where'),
  key: option(text(200).optional(), 'the same key acts once', 'text'),
  dryRun: DRY_RUN,
  yes: YES,
};
const FIELD_OPTIONS = {
  amount: {
    amount: option(amount.optional(), 'such as 12.50, with --currency; everything by default', 'amount'),
  },
  goodwill: { goodwill: toggle('also where the package was delivered') },
  packageCode: { package: option(text(100).optional(), 'the package to deliver', 'code') },
  outcome: {
    outcome: option(z.enum(DISPUTE_OUTCOMES, 'must be won or lost').optional(), 'how it ended', 'won|lost'),
  },
  disputeId: { dispute: option(text(100).optional(), 'which one, where several are open', 'id') },
  override: { override: toggle("against the gateway's word") },
} as const satisfies Record<ActionField, Record<string, z.ZodType>>;

type FieldOptions = typeof FIELD_OPTIONS;
type ActionOptions = z.output<z.ZodObject<typeof COMMON>> &
  Partial<{
    [Field in ActionField as keyof FieldOptions[Field]]: z.output<
      FieldOptions[Field][keyof FieldOptions[Field]] & z.ZodType
    >;
  }>;

function toBody(action: OperatorAction, options: ActionOptions): Schemas['ActionRequest'] {
  const { amount: amountMinor, currency, reason, evidence, outcome, key, goodwill, override } = options;
  return {
    action,
    reason,
    ...defined({ evidence, outcome, actionKey: key, packageCode: options.package }),
    ...defined({ disputeId: options.dispute }),
    ...(amountMinor === undefined || currency === undefined
      ? {}
      : { amount: Number(formatMinor(amountMinor)), currency }),
    ...(goodwill ? { goodwill } : {}),
    ...(override ? { override } : {}),
  };
}

type Made = Schemas['ActionDone']['data'] | Schemas['ActionWaits']['data'];

function toResult(transactionId: string, made: Made): Result & { readonly actionId: string } {
  const { outcome, actionId } = made;
  if (made.outcome === 'done') {
    const again = made.again ? ' (done before; nothing was done now. A second one needs its own --key)' : '';
    return { transactionId, outcome, actionId, detail: `${made.did}${again}` };
  }
  const detail = `a second person must approve it until ${made.expiresAt}: npm run finance -- approve ${actionId}`;
  return { transactionId, outcome, actionId, detail };
}

async function toPreview(
  ops: Ops,
  transactionId: string,
  preview: Schemas['ActionEffect']['data'],
): Promise<Preview> {
  const { outcome, what, refusal } = preview;
  if (outcome === 'would-do') {
    const lines = [...(await accountOf(ops, transactionId)), ...effectsOf(preview)];
    return { transactionId, outcome, detail: what, lines, preview };
  }
  if (outcome !== 'refused') {
    const detail = outcome === 'done' ? what : `awaits approval: ${what}`;
    return { transactionId, outcome: 'nothing-to-do', detail, lines: [] };
  }
  return { transactionId, outcome, detail: `${refusal ?? ''}: ${what}`, lines: [], preview };
}

/** Nothing where the action's id alone is known. */
async function accountOf(ops: Ops, transactionId: string): Promise<string[]> {
  if (transactionId.startsWith('action-')) return [];
  const path = { transactionId };
  const { accountId } = await dataOf(ops.GET('/ops/purchases/{transactionId}', { params: { path } }));
  return [`Account:  ${accountId ?? ''}`];
}

const effectsOf = (effect: Schemas['ActionEffect']['data']): string[] => [
  `Amount:   ${effect.amount === null ? 'none' : money(effect.amount, effect.currency)}`,
  `Effect:   ${effect.what}`,
  ...effect.refunds.map(
    (refund) => `Refund:   ${money(refund.amount, refund.currency)}, through the gateway`,
  ),
  ...effect.entries.map(
    ({ account, currency, debit, credit }) =>
      `Ledger:   ${account} ${debit > 0 ? 'debit' : 'credit'} ${money(debit > 0 ? debit : credit, currency)}`,
  ),
  ...(effect.needsSecondPerson === true ? ['A second person must approve it first.'] : []),
];

type Verb = 'approve' | 'decline';

type Pending = Pick<Schemas['ActionRecord'], 'actionId' | 'transactionId'>;

async function decide(ops: Ops, name: Verb, { actionId, transactionId }: Pending, reason?: string) {
  const request = { params: { path: { actionId } }, body: defined({ reason }) };
  const answer = ops.POST(`/ops/actions/{actionId}/${name}`, request);
  return toResult(transactionId, await dataOf<Schemas['ActionDone'] | Schemas['ActionWaits']>(answer));
}

/** An id of an action is not checked here: approving or declining it says why it cannot be done. */
async function findPending(ops: Ops, id: string): Promise<Pending> {
  const { items } = await dataOf(ops.GET('/ops/actions/pending'));
  const pending = items.filter(({ actionId, transactionId }) => [actionId, transactionId].includes(id));
  const ids = pending.map((action) => action.actionId).join(', ');
  if (pending.length > 1) throw new OperatorMistake(`Several actions are pending: give one of ${ids}`);
  if (pending[0]) return pending[0];
  if (id.startsWith('action-')) return { actionId: id, transactionId: id };
  throw new OperatorMistake(`No action on ${id} awaits approval`);
}

const NOTHING_MOVES = ['The action is not done; no money moves.'];

async function previewSecond(ops: Ops, name: Verb, { actionId, transactionId }: Pending): Promise<Preview> {
  if (name === 'decline') return { transactionId, outcome: 'would-do', detail: '', lines: NOTHING_MOVES };
  const path = { actionId };
  const effect = await dataOf(ops.GET('/ops/actions/{actionId}/preview', { params: { path } }));
  return toPreview(ops, transactionId, effect);
}

const readRepair = (ops: Ops, repairId: string) =>
  dataOf(ops.GET('/ops/batch-repairs/{repairId}', { params: { path: { repairId } } }));

async function previewRepair(ops: Ops, name: Verb, repairId: string): Promise<Preview> {
  const { action, items, totals } = await readRepair(ops, repairId);
  if (name === 'decline') {
    const detail = `declines ${action} on ${items.length} items`;
    return { transactionId: repairId, outcome: 'would-do', detail, lines: NOTHING_MOVES };
  }
  const moved = plannedOf(totals);
  const lines = items.map(({ transactionId, preview }) => `${transactionId}  ${preview}`);
  const detail = `${action} on ${items.length} items${moved === '' ? '' : `, ${moved}`}`;
  return { transactionId: repairId, outcome: 'would-do', detail, lines };
}

const plannedOf = (totals: Schemas['BatchRepair']['totals']): string =>
  totals.map(({ amount: total, currency }) => money(total, currency)).join(', ');

const REPAIR_POLL_MS = 500;

/** Waits until an approved batch repair has ended. */
async function decideRepair(
  { ops, out }: { readonly ops: Ops; readonly out: Output },
  name: Verb,
  repairId: string,
  reason: string,
): Promise<Result & { readonly items: Schemas['BatchRepairDetails']['data']['items'] }> {
  const request = { params: { path: { repairId } }, body: { reason } };
  let repair = await dataOf(ops.POST(`/ops/batch-repairs/{repairId}/${name}`, request));
  while (repair.status === 'RUNNING') {
    await sleep(REPAIR_POLL_MS);
    repair = await readRepair(ops, repairId);
    showProgress(out, repair.items.length - repair.counts.waiting, repair.items.length);
  }
  const { items, counts } = repair;
  for (const item of items.filter(({ status }) => status !== 'DONE'))
    out.line(`${item.transactionId}  ${item.status.toLowerCase()}  ${item.detail ?? ''}`.trimEnd());
  const detail = Object.entries(counts).flatMap(([status, count]) =>
    count === 0 ? [] : [`${count} ${status}`],
  );
  const isWhole = name === 'decline' || counts.done === items.length;
  if (repair.result !== null) detail.unshift(repair.result.replaceAll('-', ' '));
  return { transactionId: repairId, outcome: isWhole ? 'done' : 'refused', detail: detail.join(', '), items };
}

const NOT_UNMATCHED = 'not an unmatched gateway event, or dismissed before';

async function previewDismiss(ops: Ops, transactionId: string): Promise<Preview> {
  const { items } = await findStuck(ops, { class: ['inbox-without-purchase'] });
  const isListed = items.some((item) => item.transactionId === transactionId);
  return isListed
    ? { transactionId, outcome: 'would-do', detail: 'it leaves the list', lines: [] }
    : { transactionId, outcome: 'refused', detail: NOT_UNMATCHED, lines: [] };
}

function secondPerson(name: Verb, summary: string): AddCommand {
  return financeCommand({
    syntax: `${name} <id>`,
    summary,
    help: `${summary}. Takes the action's id, the transaction's where one action is pending, or that of a batch repair, which needs --reason.`,
    options: z.object({ reason: optional(REASON), dryRun: DRY_RUN, yes: YES }),
    run: async ({ args: [id = ''], options: { reason, dryRun: isDryRun, yes }, ops, out }) => {
      const isRepair = id.startsWith('repair-');
      if (isRepair && !isDryRun && reason === undefined)
        throw new UsageMistake('--reason is required (why, for the record)');
      const question = `${name === 'approve' ? 'Approve' : 'Decline'} ${id}?`;
      if (!isDryRun && !yes && !out.isTerminal) notConfirmed(question);
      const { actionId, transactionId } = isRepair
        ? { actionId: id, transactionId: id }
        : await findPending(ops, id);
      if (isDryRun || !yes) {
        const preview = await (isRepair
          ? previewRepair(ops, name, id)
          : previewSecond(ops, name, { actionId, transactionId }));
        const ended = await confirmPreview(out, preview, { isDryRun, question });
        if (ended !== undefined) return ended;
      }
      const result = await refusedOr<Result>(transactionId, () =>
        isRepair
          ? decideRepair({ ops, out }, name, id, reason ?? '')
          : decide(ops, name, { actionId, transactionId }, reason),
      );
      out.json(result);
      out.line(lineOf(result));
      return result.outcome === 'done' ? 0 : 1;
    },
  });
}

export const ACTIONS = OPERATOR_ACTIONS.flatMap((action) => {
  const spec = actionSpec(action);
  if (spec.command === null) return [];
  const fields = Object.assign({}, ...spec.fields.map((field) => FIELD_OPTIONS[field])) as object;
  return [
    financeCommand({
      syntax: `${spec.command} [transactionId]`,
      summary: spec.summary,
      help: `${spec.help ?? spec.summary}
Takes one id, or --class for everything of that class on the stuck list.${spec.needsEvidence ? ' --evidence is required.' : ''}`,
      options: z.object({ ...COMMON, ...fields }),
      run: (request) => {
        const { args, ops } = request;
        const options = request.options as ActionOptions;
        const { amount: total, currency: code, package: packageCode, dispute, key, goodwill } = options;
        const repairAction = BATCH_REPAIR_ACTIONS.find((one) => one === action);
        const forOneId = [total, packageCode, dispute, key, (repairAction && goodwill) || undefined];
        if (args[0] === undefined && forOneId.some((value) => value !== undefined))
          throw new UsageMistake('--amount, --package, --dispute, --key and --goodwill need one id');
        if (total !== undefined && code === undefined) throw new UsageMistake('--amount needs --currency');
        const body = toBody(action, options);
        const about = (transactionId: string) => ({ params: { path: { transactionId } }, body });
        return applyToTargets({
          // Beside an amount, the currency is the amount's and no filter.
          request: { ...request, options: { ...options, currency: total === undefined ? code : undefined } },
          verb: `Apply ${action} to`,
          preview: async (id) =>
            toPreview(
              ops,
              id,
              await dataOf(ops.POST('/ops/purchases/{transactionId}/actions/preview', about(id))),
            ),
          act: async (id) =>
            toResult(id, await dataOf(ops.POST('/ops/purchases/{transactionId}/actions', about(id)))),
          repair: repairAction && { action: repairAction, reason: body.reason, evidence: body.evidence },
        });
      },
    }),
  ];
});

export const APPROVALS = [
  financeCommand({
    syntax: 'approvals',
    summary: 'Lists actions, batch repairs, rates and markups awaiting a second person',
    options: z.object({}),
    run: async ({ ops, out }) => {
      const [{ items: pending }, { items: repairs }, pricing] = await Promise.all([
        dataOf(ops.GET('/ops/actions/pending')),
        allPages((page) =>
          dataOf(ops.GET('/ops/batch-repairs', { params: { query: { ...page, open: 'true' } } })),
        ),
        waitingPricing(ops),
      ]);
      const waiting = repairs.filter(({ status }) => status === 'WAITS_FOR_APPROVAL');
      const all = [...pending, ...waiting, ...pricing.items];
      out.json(all);
      if (all.length === 0) out.line('nothing awaits approval');
      else
        out.table(
          ['ID', 'TRANSACTION', 'ACTION', 'AMOUNT', 'BY', 'REASON', 'UNTIL'],
          [
            ...pending.map((one) => [
              ...[one.actionId, one.transactionId, one.action, money(one.amount, one.currency)],
              ...[one.by, one.reason, moment(one.expiresAt)],
            ]),
            ...waiting.map((one) => [
              ...[one.repairId, `${one.counts.waiting} items`, one.action, plannedOf(one.totals)],
              ...[one.by, one.reason, moment(one.expiresAt)],
            ]),
            ...pricing.rows,
          ],
        );
    },
  }),
  secondPerson('approve', 'Approves a pending action and does it; you must be another person'),
  secondPerson('decline', 'Rejects a pending action'),
];

export const REPLAY = financeCommand({
  syntax: 'replay [id]',
  summary: 'Retries every step that can be retried',
  help: `Retries every step that can be retried now, and prints what it did: it applies kept gateway events, sends webhook
messages again, checks the gateway, then the supplier, then retries the delivery. Takes one id, or --class, which asks for
a batch repair that a second person approves. --dry-run needs no --reason.`,
  options: z.object({ ...FILTER, reason: optional(REASON), dryRun: DRY_RUN, yes: YES }),
  run: (request) => {
    const { reason, dryRun } = request.options;
    if (!dryRun && reason === undefined) throw new UsageMistake('--reason is required (why, for the record)');
    const replayOne = async (transactionId: string, isDryRun: boolean) => {
      const body = { reason: reason ?? 'a dry run', dryRun: isDryRun };
      const answer = request.ops.POST('/ops/purchases/{transactionId}/replay', {
        params: { path: { transactionId } },
        body,
      });
      const replayed = await dataOf(answer);
      return { ...replayed, transactionId, ...outcomeOfReplay(replayed) };
    };
    const preview = async (id: string) => {
      const seen = await replayOne(id, true);
      return { ...seen, lines: [`Steps:    ${seen.steps.map(({ step }) => step).join(', ')}`] };
    };
    const act = (id: string) => replayOne(id, dryRun);
    const repair = { action: 'replay' as const, reason };
    return applyToTargets({ request, verb: 'Replay', act, repair, ...(!dryRun && { preview }) });
  },
});

export const DISMISS = financeCommand({
  syntax: 'dismiss [eventId]',
  summary: 'Ignores an unmatched gateway event',
  help: `Ignores a gateway event that belongs to none of our payments, and takes it off the list. Takes event-<number>, or --class.`,
  options: z.object({ ...FILTER, reason: REASON, dryRun: DRY_RUN, yes: YES }),
  run: (request) => {
    const { options, ops } = request;
    const { reason } = options;
    return applyToTargets({
      request,
      verb: 'Dismiss',
      ...(options.dryRun && { preview: (id: string) => previewDismiss(ops, id) }),
      act: async (eventId) => {
        const about = { params: { path: { eventId } }, body: { reason } };
        await ops.POST('/ops/events/{eventId}/dismiss', about);
        return { transactionId: eventId, outcome: 'done', detail: 'dismissed' };
      },
    });
  },
});
