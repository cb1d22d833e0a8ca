/** POST /esim/cancel, suspend, unsuspend, revoke and sendSms. A change that the eSIM's state does not allow is 200002. */
import type { Outcome, SupplierContext } from '../context.ts';
import { SupplierError, UNSEEN_CODE } from '../errors.ts';
import type { FoundEsim } from '../esim-state.ts';
import { mandatoryText, type Params } from '../params.ts';
import type { EsimRow } from '../storage/tables.ts';
import { requireEsim } from './find-esim.ts';
import { activationMs } from './order.ts';

const LONGEST_SMS = 500;
const ENDED: ReadonlySet<string> = new Set([
  'CANCEL',
  'REVOKE',
  'UNUSED_EXPIRED',
  'USED_EXPIRED',
  'GETTING_RESOURCE',
]);

/** Writes an eSIM's new state; `refund` goes back to the balance in the same transaction. */
function write(context: SupplierContext, before: EsimRow, after: EsimRow, refund = 0): Outcome {
  context.database.transact(() => {
    context.orders.updateEsim(after);
    if (refund > 0) context.account.setBalance(context.account.balance() + refund);
    context.webhooks.esimChanged(before, after);
  });
  return { obj: {}, loseAnswer: context.faults.hits('loseAnswer') };
}

/** What happened on the phone stays so, whatever the network does to the eSIM. */
const ON_THE_PHONE: ReadonlySet<string | null> = new Set(['DOWNLOAD', 'INSTALLATION', 'DISABLED', 'DELETED']);

/** An eSIM that is stopped before its first use does not start by itself. */
function stopped(esim: FoundEsim, forcedStatus: string): EsimRow {
  const activatesAtMs = esim.state.activatedAtMs;
  const forcedSmdp = ON_THE_PHONE.has(esim.row.forcedSmdp) ? esim.row.forcedSmdp : null;
  return { ...esim.row, activatesAtMs, forcedStatus, forcedSmdp };
}

/** `/esim/cancel`: only while unused and not downloaded; what was paid goes back. */
export function cancelEsim(context: SupplierContext, params: Params): Outcome {
  if (context.faults.hits('cancelUnseen')) throw new SupplierError(UNSEEN_CODE);
  const esim = requireEsim(context, params);
  if (esim.state.esimStatus !== 'GOT_RESOURCE' || esim.state.smdpStatus !== 'RELEASED') {
    throw new SupplierError('200002');
  }
  return write(context, esim.row, stopped(esim, 'CANCEL'), esim.row.paid);
}

/** The eSIM with its service paused, or 200002. */
export function suspended(esim: FoundEsim): EsimRow {
  const { esimStatus } = esim.state;
  if (esimStatus === 'SUSPENDED' || ENDED.has(esimStatus)) throw new SupplierError('200002');
  return stopped(esim, 'SUSPENDED');
}

/** `/esim/suspend`: pauses service. */
export function suspendEsim(context: SupplierContext, params: Params): Outcome {
  const esim = requireEsim(context, params);
  return write(context, esim.row, suspended(esim));
}

/** The eSIM with its service going on, or 200002. One that no device has starts its wait for first use again. */
export function resumed(context: SupplierContext, { row, state, plan }: FoundEsim): EsimRow {
  if (state.esimStatus !== 'SUSPENDED') throw new SupplierError('200002');
  const activatesAtMs =
    state.activatedAtMs ?? (state.isOnDevice ? null : activationMs(context, plan.packageCode, context.now()));
  return { ...row, forcedStatus: null, activatesAtMs };
}

/** `/esim/unsuspend`: service goes on. */
export function unsuspendEsim(context: SupplierContext, params: Params): Outcome {
  const esim = requireEsim(context, params);
  return write(context, esim.row, resumed(context, esim));
}

/** `/esim/revoke`: takes the profile away for good, without a refund. */
export function revokeEsim(context: SupplierContext, params: Params): Outcome {
  const esim = requireEsim(context, params);
  if (ENDED.has(esim.state.esimStatus)) throw new SupplierError('200002');
  return write(context, esim.row, stopped(esim, 'REVOKE'));
}

/** `/esim/sendSms`: free, to installed eSIMs whose plan has SMS. */
export function sendSms(context: SupplierContext, params: Params): Outcome {
  const esim = requireEsim(context, params);
  mandatoryText(params, 'message', LONGEST_SMS);
  if (esim.plan.smsStatus === 0) throw new SupplierError('200008', 'the eSIM has no SMS');
  if (esim.state.activatedAtMs === null || ENDED.has(esim.state.esimStatus))
    throw new SupplierError('200002');
  return { obj: {} };
}
