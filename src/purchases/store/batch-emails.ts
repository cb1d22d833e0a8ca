/** E-mails to travellers, sent from the rows of their batches. Nothing else reads an address. */
import { sql } from 'kysely';
import type { WorldDb } from '../../platform/database/tables.ts';
import { inBatches } from '../../platform/database/retention.ts';
import type { Language } from '../../esims/install-texts/languages.ts';

export interface LeasedEmail {
  readonly batchId: string;
  readonly accountId: string;
  readonly rowNumber: number;
  readonly transactionId: string;
  readonly email: string;
  readonly language: Language;
  readonly sender: string;
  readonly packageName: string;
  readonly reference: string;
  readonly esimId: string;
  /** The eSIM cannot be installed any more. */
  readonly isOver: boolean;
  readonly dueAt: Date;
  /** Including this one. */
  readonly attempts: number;
}

/**
 * Leases the e-mail that has been due longest for `leaseMs`. A sender that dies after sending causes a second
 * one with the same id. undefined: none is due.
 */
export async function leaseEmail(db: WorldDb, now: Date, leaseMs: number): Promise<LeasedEmail | undefined> {
  const { rows } = await sql<LeasedEmail>`
    with leased as (
      update job_rows set email_attempts = email_attempts + 1, email_next_at = ${new Date(now.getTime() + leaseMs)}
       where (job_id, row_number) = (
         select job_id, row_number from job_rows where email_next_at <= ${now}
          order by email_next_at limit 1 for update skip locked)
      returning *
    )
    select leased.job_id as "batchId", jobs.account_id as "accountId", leased.row_number as "rowNumber", leased.transaction_id as "transactionId",
           leased.email, leased.language, leased.reference, coalesce(brands.shop_name, jobs.sender_name) as sender, esims.package_name as "packageName",
           esims.id as "esimId", esims.status in ('EXPIRED', 'CANCELLED', 'FAILED') as "isOver",
           leased.email_due_at as "dueAt", leased.email_attempts as attempts
      from leased
      join jobs on jobs.id = leased.job_id
      join esims on esims.transaction_id = leased.transaction_id
      left join brands on brands.account_id = jobs.account_id`.execute(db);
  return rows[0];
}

type RowKey = Pick<LeasedEmail, 'batchId' | 'rowNumber'>;

/** Once; the first end counts. */
export async function closeEmail(
  db: WorldDb,
  { batchId, rowNumber }: RowKey,
  status: 'SENT' | 'NOT_SENT' | 'FAILED',
  now: Date,
): Promise<void> {
  await sql`
    update job_rows set email_status = ${status}, email_next_at = null, email_closed_at = ${now}
     where job_id = ${batchId} and row_number = ${rowNumber} and email_status = 'WAITING'`.execute(db);
}

export async function postponeEmail(db: WorldDb, { batchId, rowNumber }: RowKey, until: Date): Promise<void> {
  await sql`
    update job_rows set email_next_at = ${until}
     where job_id = ${batchId} and row_number = ${rowNumber} and email_status = 'WAITING'`.execute(db);
}

/** Blanks the addresses of e-mails that ended before then; returns how many. */
export function forgetTravellerEmails(db: WorldDb, before: Date, isOver?: () => boolean): Promise<number> {
  return inBatches(async (limit) => {
    const result = await sql`
      with ended as (
        select job_id, row_number from job_rows where email is not null and email_closed_at < ${before}
         order by email_closed_at limit ${limit} for update skip locked
      )
      update job_rows set email = null from ended
       where job_rows.job_id = ended.job_id and job_rows.row_number = ended.row_number`.execute(db);
    return Number(result.numAffectedRows ?? 0);
  }, isOver);
}
