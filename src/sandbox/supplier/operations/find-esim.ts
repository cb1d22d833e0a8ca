/**
 * Finding the eSIM a request names, and its plan and state now. Guarantee: 000105 when it names none, 310403 when there is no such
 * eSIM.
 */
import type { SupplierContext } from '../context.ts';
import { SupplierError } from '../errors.ts';
import { planOf, stateOf, type EsimState } from '../lifecycle.ts';
import { optionalText, type Params } from '../params.ts';
import type { EsimRow, PlanSnapshot } from '../storage/rows.ts';

export interface FoundEsim {
  row: EsimRow;
  plan: PlanSnapshot;
  state: EsimState;
}

/** An eSIM row with its plan and its state at `nowMs`. */
export function withState(row: EsimRow, nowMs: number): FoundEsim {
  const plan = planOf(row);
  return { row, plan, state: stateOf(row, plan.unusedValidTime, nowMs) };
}

/** The eSIM of `esimTranNo` or `iccid`; undefined when the request has neither. */
export function findEsim(context: SupplierContext, params: Params): FoundEsim | undefined {
  const tranNo = optionalText(params, 'esimTranNo');
  const iccid = optionalText(params, 'iccid');
  if (tranNo === undefined && iccid === undefined) return undefined;
  const row =
    tranNo === undefined ? context.orders.esimByIccid(iccid ?? '') : context.orders.esimByTranNo(tranNo);
  if (row === undefined || (iccid !== undefined && row.iccid !== iccid)) {
    throw new SupplierError('310403', 'no eSIM with this esimTranNo or iccid');
  }
  return withState(row, context.now());
}

/** As findEsim, but naming an eSIM is mandatory. */
export function requireEsim(context: SupplierContext, params: Params): FoundEsim {
  const found = findEsim(context, params);
  if (found === undefined) throw new SupplierError('000105', 'one of esimTranNo and iccid is needed');
  return found;
}
