/** The commands that change something: operator actions, their approval by a second person, replay and dismiss. */
import { z } from 'zod';
import {
  actionSpec,
  OPERATOR_ACTIONS,
  type ActionField,
  type OperatorAction,
} from '../../accounts/operators/action-table.ts';
import type { ActionInput, ActionRecord } from '../../operations/actions.ts';
import { dismiss, outcomeOfReplay, replay, type Replayed } from '../../operations/replay.ts';
import type { ActionOutcome, ActionRefusal } from '../../operations/rules.ts';
import type { EffectPreview } from '../../operations/store/actions.ts';
import type { WouldDo } from '../../operations/store/would-do.ts';
import { findStuck } from '../../operations/stuck.ts';
import { DISPUTE_OUTCOMES } from '../../payments/rules.ts';
import type { FinanceWorld } from '../../app/composition/finance.ts';
import { defined, option, OperatorMistake, toggle, UsageMistake } from '../../platform/command.ts';
import { amount, BY, DRY_RUN, REASON, text, WHO, YES } from '../values.ts';
import { addFinanceCommand, type FinanceGroup } from './group.ts';
import { moment, money, notConfirmed } from './output.ts';
import { applyToTargets, confirmPreview, FILTER, lineOf, type Preview, type Result } from './targets.ts';

const COMMON = {
  ...FILTER,
  ...WHO,
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
  package: { package: option(text(100).optional(), 'the package to deliver', 'code') },
  outcome: {
    outcome: option(z.enum(DISPUTE_OUTCOMES, 'must be won or lost').optional(), 'how it ended', 'won|lost'),
  },
  dispute: { dispute: option(text(100).optional(), 'which one, where several are open', 'id') },
  override: { override: toggle("against the gateway's word") },
} as const satisfies Record<ActionField, Record<string, z.ZodType>>;

type FieldOptions = typeof FIELD_OPTIONS;
type ActionOptions = z.output<z.ZodObject<typeof COMMON>> &
  Partial<{
    [Field in ActionField as keyof FieldOptions[Field]]: z.output<
      FieldOptions[Field][keyof FieldOptions[Field]] & z.ZodType
    >;
  }>;

export function addActionCommands(group: FinanceGroup): void {
  for (const action of OPERATOR_ACTIONS) {
    const spec = actionSpec(action);
    if (spec.command === null) continue;
    const fields = Object.assign({}, ...spec.fields.map((field) => FIELD_OPTIONS[field])) as object;
    addFinanceCommand(group, {
      syntax: `${spec.command} [transactionId]`,
      summary: spec.summary,
      help: `${spec.help ?? spec.summary}
Takes one id, or --class for everything of that class on the stuck list.${spec.needsEvidence ? ' --evidence is required.' : ''}`,
      options: z.object({ ...COMMON, ...fields }),
      needsTemporal: true,
      run: (request) => {
        const options = request.options as ActionOptions;
        const { amount: amountMinor, currency: code, package: packageCode, dispute, key } = options;
        const forOneId = [amountMinor, packageCode, dispute, key];
        if (request.args[0] === undefined && forOneId.some((value) => value !== undefined))
          throw new UsageMistake('--amount, --package, --dispute and --key need one id');
        if (amountMinor !== undefined && code === undefined)
          throw new UsageMistake('--amount needs --currency');
        const { actions } = request.world;
        const requestFor = (transactionId: string) => toRequest(action, transactionId, options);
        // Beside an amount, the currency is the amount's and no filter.
        const currency = amountMinor === undefined ? code : undefined;
        return applyToTargets({
          request: { ...request, options: { ...options, currency } },
          verb: `Apply ${action} to`,
          preview: async (id) => toPreview(id, await actions.previewEffect(requestFor(id))),
          act: async (id) => toResult(id, await actions.perform(requestFor(id))),
        });
      },
    });
  }
}

function toRequest(action: OperatorAction, transactionId: string, options: ActionOptions): ActionInput {
  const { amount: amountMinor, currency: code, by, reason, evidence, outcome } = options;
  return defined({
    transactionId,
    action,
    by,
    reason,
    evidence,
    outcome,
    actionKey: options.key,
    packageCode: options.package,
    disputeId: options.dispute,
    amount: amountMinor === undefined || code === undefined ? undefined : { amountMinor, currency: code },
    goodwill: options.goodwill ? true : undefined,
    overrides: options.override ? true : undefined,
  });
}

type ActionResult = Result & {
  readonly actionId?: string;
  readonly code?: ActionRefusal;
  readonly fits?: readonly OperatorAction[];
};

function toResult(transactionId: string, made: ActionOutcome): ActionResult {
  const { outcome } = made;
  switch (outcome) {
    case 'done': {
      const again = made.again ? ' (done before; nothing was done now)' : '';
      return { transactionId, outcome, actionId: made.actionId, detail: `${made.did}${again}` };
    }
    case 'waits-for-approval': {
      const { actionId, expiresAt } = made;
      const detail = `a second person must approve it until ${expiresAt}: approve ${actionId} --by <person>`;
      return { transactionId, outcome, actionId, detail };
    }
    case 'refused': {
      const { code, fits } = made;
      return { transactionId, outcome, code, fits, detail: `${code}: ${made.detail}; ${availableOf(fits)}` };
    }
    case 'unknown':
      return { transactionId, outcome, detail: made.detail };
  }
}

const availableOf = (fits: readonly OperatorAction[]): string =>
  fits.length === 0 ? 'no action is available' : `available actions: ${fits.join(', ')}`;

/** Before these refusals the gateway is asked again, since its last answer may be old. */
const GATEWAY_IS_ASKED_AGAIN = ['DISPUTE_OPEN', 'OUTCOME_DIFFERS', 'GATEWAY_SILENT'];

function toPreview(transactionId: string, preview: EffectPreview): Preview {
  const { outcome } = preview;
  if (outcome === 'would-do')
    return { transactionId, outcome, detail: preview.did, lines: effectsOf(preview), preview };
  if (outcome === 'refused') {
    const { code, fits } = preview;
    const detail = `${code}: ${preview.detail}; ${availableOf(fits)}`;
    if (!GATEWAY_IS_ASKED_AGAIN.includes(code)) return { transactionId, outcome, detail, lines: [], preview };
    const lines = [
      `By the gateway's last answer it would be refused: ${code}: ${preview.detail}.`,
      'The gateway is asked again first.',
    ];
    return { transactionId, outcome: 'would-do', detail: 'asks the gateway again', lines, preview };
  }
  const detail = outcome === 'done' ? `done before: ${preview.did}` : `awaits approval: ${preview.actionId}`;
  return { transactionId, outcome: 'nothing-to-do', detail, lines: [] };
}

function effectsOf(effect: WouldDo): string[] {
  const { amount: total, email } = effect;
  return [
    `Amount:   ${total === null ? 'none' : money(total.amountMinor, total.currency)}`,
    `Account:  ${effect.accountId}${email === null ? '' : ` (${email})`}`,
    `Effect:   ${effect.did}`,
    ...effect.refunds.map(
      (refund) => `Refund:   ${money(refund.amountMinor, refund.currency)}, through the gateway`,
    ),
    ...effect.entries.map(({ account, currency: code, debitMinor, creditMinor }) => {
      const isDebit = debitMinor > 0n;
      return `Ledger:   ${account} ${isDebit ? 'debit' : 'credit'} ${money(isDebit ? debitMinor : creditMinor, code)}`;
    }),
    ...(effect.needsSecondPerson ? ['A second person must approve it first.'] : []),
  ];
}

export function addApprovalCommands(group: FinanceGroup): void {
  addFinanceCommand(group, {
    syntax: 'approvals',
    summary: 'Lists actions awaiting second approval',
    options: z.object({}),
    run: async ({ world, out }) => {
      const pending = await world.actions.pendingApprovals();
      out.json(pending);
      if (pending.length === 0) out.line('no action awaits approval');
      else
        out.table(
          ['ID', 'TRANSACTION', 'ACTION', 'AMOUNT', 'BY', 'REASON', 'UNTIL'],
          pending.map((action) => [
            action.actionId,
            action.transactionId,
            action.action,
            money(action.amount?.amountMinor, action.amount?.currency),
            action.by,
            action.reason,
            moment(action.expiresAt),
          ]),
        );
      return 0;
    },
  });
  addSecondPerson(group, 'approve', 'Approves a pending action and does it; you must be another person');
  addSecondPerson(group, 'decline', 'Rejects a pending action');
}

function addSecondPerson(group: FinanceGroup, name: 'approve' | 'decline', summary: string): void {
  addFinanceCommand(group, {
    syntax: `${name} <id>`,
    summary,
    help: `${summary}. Takes the action's id, or the transaction's where one action is pending.`,
    options: z.object({ by: BY, reason: optional(REASON), dryRun: DRY_RUN, yes: YES }),
    needsTemporal: name === 'approve',
    run: async ({ args: [id = ''], options: { by, reason, dryRun: isDryRun, yes }, world, out }) => {
      const verb = name === 'approve' ? 'Approve' : 'Decline';
      if (!isDryRun && !yes && !out.isTerminal) notConfirmed(`${verb} ${id}?`);
      const pending = await findPending(world, id);
      if (isDryRun || !yes) {
        const preview = await previewSecond(world, name, pending);
        const question = `${verb} ${pending.actionId}?`;
        const ended = await confirmPreview(out, preview, { isDryRun, question });
        if (ended !== undefined) return ended;
      }
      const decided = await world.actions[name](pending.actionId, by, reason);
      const result = toResult(pending.transactionId, decided);
      out.json(result);
      out.line(lineOf(result));
      return result.outcome === 'done' ? 0 : 1;
    },
  });
}

/** An id of an action is not checked here: approving or declining it says why it cannot be done. */
async function findPending({ actions }: FinanceWorld, id: string) {
  if (id.startsWith('action-')) {
    const pending = (await actions.pendingApprovals()).find((action) => action.actionId === id);
    return { actionId: id, transactionId: pending?.transactionId ?? id };
  }
  const pending = (await actions.listFor(id)).filter((action) => action.status === 'WAITS_FOR_APPROVAL');
  const [only] = pending;
  if (!only) throw new OperatorMistake(`No action on ${id} awaits approval`);
  const ids = pending.map((action) => action.actionId).join(', ');
  if (pending.length > 1) throw new OperatorMistake(`Several actions are pending: give one of ${ids}`);
  return only;
}

async function previewSecond(
  { actions }: FinanceWorld,
  name: 'approve' | 'decline',
  { actionId, transactionId }: Pick<ActionRecord, 'actionId' | 'transactionId'>,
): Promise<Preview> {
  const lines = ['The action is not done; no money moves.'];
  if (name === 'decline') return { transactionId, outcome: 'would-do', detail: '', lines };
  const preview = await actions.previewApproval(actionId);
  if (preview) return toPreview(transactionId, preview);
  return { transactionId, outcome: 'refused', detail: `${actionId} does not await approval`, lines: [] };
}

export function addReplay(group: FinanceGroup): void {
  addFinanceCommand(group, {
    syntax: 'replay [id]',
    summary: 'Retries every step that can be retried',
    help: `Retries every step that can be retried now, and prints what it did: it applies kept gateway events, sends webhook
messages again, checks the gateway, then the supplier, then retries the delivery. Takes one id, or --class. --dry-run needs
neither --by nor --reason.`,
    options: z.object({ ...FILTER, by: optional(BY), reason: optional(REASON), dryRun: DRY_RUN, yes: YES }),
    needsTemporal: true,
    run: (request) => {
      const { by = '', reason = '', dryRun } = request.options;
      if (!dryRun && (by === '' || reason === ''))
        throw new UsageMistake('--by and --reason are required (your name, and why)');
      const replayOne = async (id: string, isDryRun: boolean) =>
        toReplayResult(id, await replay(request.world.replayDeps, id, { by, reason, isDryRun }));
      const preview = async (id: string) => {
        const seen = await replayOne(id, true);
        return { ...seen, lines: [`Steps:    ${seen.steps.map(({ step }) => step).join(', ')}`] };
      };
      const act = (id: string) => replayOne(id, dryRun);
      return applyToTargets({ request, verb: 'Replay', act, ...(!dryRun && { preview }) });
    },
  });
}

const optional = <Schema extends z.ZodType>(schema: Schema) =>
  option(schema.optional(), schema.meta()?.description ?? '', 'text');

function toReplayResult(transactionId: string, replayed: Replayed | undefined): Result & Replayed {
  if (!replayed) {
    const detail = 'No purchase found with this id';
    return { transactionId, outcome: 'refused', detail, before: null, after: null, steps: [] };
  }
  return { ...replayed, transactionId, ...outcomeOfReplay(replayed) };
}

const NOT_UNMATCHED = 'not an unmatched gateway event, or dismissed before';

export function addDismiss(group: FinanceGroup): void {
  addFinanceCommand(group, {
    syntax: 'dismiss [eventId]',
    summary: 'Ignores an unmatched gateway event',
    help: `Ignores a gateway event that belongs to none of our payments, and takes it off the list. Takes event-<number>, or --class.`,
    options: z.object({ ...FILTER, ...WHO, dryRun: DRY_RUN, yes: YES }),
    run: (request) => {
      const { options, world } = request;
      const { by, reason } = options;
      return applyToTargets({
        request,
        verb: 'Dismiss',
        ...(options.dryRun && { preview: (id: string) => previewDismiss(world, id) }),
        act: async (id) =>
          (await dismiss(world.replayDeps, id, { by, reason }))
            ? { transactionId: id, outcome: 'done', detail: 'dismissed' }
            : { transactionId: id, outcome: 'refused', detail: NOT_UNMATCHED },
      });
    },
  });
}

async function previewDismiss({ stuck }: FinanceWorld, transactionId: string): Promise<Preview> {
  const { items } = await findStuck(stuck, { classes: ['inbox-without-purchase'] });
  const isListed = items.some((item) => item.transactionId === transactionId);
  return isListed
    ? { transactionId, outcome: 'would-do', detail: 'it leaves the list', lines: [] }
    : { transactionId, outcome: 'refused', detail: NOT_UNMATCHED, lines: [] };
}
