import type { SupplierContext } from '../context.ts';
import { SupplierError } from '../errors.ts';
import { withState, type FoundEsim } from '../esim-state.ts';
import { optionalText, type Params } from '../params.ts';

/** The eSIM of `esimTranNo` or `iccid`, or 310403; undefined when the request has neither. */
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

/** As findEsim; 000105 when the request names none. */
export function requireEsim(context: SupplierContext, params: Params): FoundEsim {
  const found = findEsim(context, params);
  if (found === undefined) throw new SupplierError('000105', 'one of esimTranNo and iccid is needed');
  return found;
}
