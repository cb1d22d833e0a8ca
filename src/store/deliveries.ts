/** What the delivery step reads and keeps: enough to order again under the same id after any crash, and the outcome once known. */
import { sql, type Selectable } from 'kysely';
import type { PackageType, PurchaseStatus } from '../domain/states.ts';
import type { EsimsTable, PurchasesTable, WorldDb } from './tables.ts';

export interface Delivery {
  readonly transactionId: string;
  /** What the order or top-up has at the supplier: our own id, or a replacement's. */
  readonly supplierId: string;
  readonly packageType: PackageType;
  readonly packageCode: string;
  readonly costUsdE4: bigint;
  readonly status: PurchaseStatus;
  readonly esimId: string;
  readonly esimTranNo: string;
  readonly iccid: string;
  readonly orderNo: string | null;
  /** The supplier's answer is already kept; only settling is left. */
  readonly delivered: boolean;
  /** The supplier was asked before by a run whose end is not known from here: its answer may have been lost. */
  readonly askedBefore: boolean;
  /** The supplier was asked at all. */
  readonly wasAsked: boolean;
  readonly createdAt: Date;
}

/** Reads a delivery without asking for it. */
export function loadDelivery(db: WorldDb, transactionId: string): Promise<Delivery> {
  return db
    .selectFrom('purchases')
    .innerJoin('esims', 'esims.id', 'purchases.esim_id')
    .select(DELIVERY_COLUMNS)
    .where('purchases.transaction_id', '=', transactionId)
    .executeTakeFirstOrThrow()
    .then((row) => toDelivery(transactionId, row));
}

/** Reads a delivery and counts this ask, before it is made: whoever asks next knows that one may be out. */
export function beginAsking(db: WorldDb, transactionId: string): Promise<Delivery> {
  return db
    .updateTable('purchases')
    .from('esims')
    .set((eb) => ({ supplier_asks: eb('purchases.supplier_asks', '+', 1) }))
    .whereRef('esims.id', '=', 'purchases.esim_id')
    .where('purchases.transaction_id', '=', transactionId)
    .returning(DELIVERY_COLUMNS)
    .executeTakeFirstOrThrow()
    .then((row) => toDelivery(transactionId, row));
}

const DELIVERY_COLUMNS = [
  'purchases.package_type',
  'purchases.package_code',
  'purchases.cost_usd_e4',
  'purchases.status',
  'purchases.esim_id',
  'purchases.supplier_asks',
  'purchases.supplier_order_no',
  'purchases.supplier_transaction_id',
  'purchases.top_up_total_volume_bytes',
  'purchases.created_at',
  'esims.esim_tran_no',
  'esims.iccid',
] as const;

type DeliveryRow = Pick<
  Selectable<PurchasesTable>,
  | 'package_type'
  | 'package_code'
  | 'cost_usd_e4'
  | 'status'
  | 'esim_id'
  | 'supplier_asks'
  | 'supplier_order_no'
  | 'supplier_transaction_id'
  | 'top_up_total_volume_bytes'
  | 'created_at'
> &
  Pick<Selectable<EsimsTable>, 'esim_tran_no' | 'iccid'>;

function toDelivery(transactionId: string, row: DeliveryRow): Delivery {
  return {
    transactionId,
    supplierId: row.supplier_transaction_id ?? transactionId,
    packageType: row.package_type,
    packageCode: row.package_code,
    costUsdE4: row.cost_usd_e4,
    status: row.status,
    esimId: row.esim_id,
    esimTranNo: row.esim_tran_no,
    iccid: row.iccid,
    orderNo: row.supplier_order_no,
    delivered: row.package_type === 'BASE' ? row.iccid !== '' : row.top_up_total_volume_bytes !== null,
    askedBefore: row.supplier_asks > 1,
    wasAsked: row.supplier_asks > 0,
    createdAt: row.created_at,
  };
}

/** Keeps the supplier's order number as soon as it is known, where the profile is not there yet. */
export async function keepOrderNo(db: WorldDb, transactionId: string, orderNo: string): Promise<void> {
  await sql`
    with kept as (
      update purchases set supplier_order_no = ${orderNo}, updated_at = now()
       where transaction_id = ${transactionId} and supplier_order_no is null returning transaction_id
    )
    insert into purchase_events (transaction_id, what, detail)
    select transaction_id, 'ordered-at-supplier', ${orderNo}::text from kept`.execute(db);
}
