/** What became of each attempt at a message, for its owner to read. Written with the message's state in webhook-deliveries.ts. */
import type { WorldDb } from '../../platform/database/tables.ts';

export interface Attempt {
  readonly attempt: number;
  readonly at: Date;
  readonly ms: number;
  /** `answered`, or why there was no whole answer. */
  readonly outcome: string;
  readonly status: number | null;
  /** The first kibibyte of the answer. */
  readonly answerStart: string;
}

/** One page of a message's attempts, oldest first, and how many there are in all. Whose message it is, the caller has checked. */
export async function listAttempts(
  db: WorldDb,
  messageId: string,
  { page, limit }: { readonly page: number; readonly limit: number },
): Promise<{ items: Attempt[]; total: number }> {
  const matching = db.selectFrom('webhook_attempts').where('message_id', '=', messageId);
  const [rows, counted] = await Promise.all([
    matching
      .select(['attempt', 'at', 'ms', 'outcome', 'status', 'answer_start'])
      .orderBy('attempt')
      .limit(limit)
      .offset((page - 1) * limit)
      .execute(),
    matching.select((eb) => eb.fn.countAll<bigint>().as('total')).executeTakeFirstOrThrow(),
  ]);
  const items = rows.map(({ answer_start: answerStart, ...attempt }) => ({ ...attempt, answerStart }));
  return { items, total: Number(counted.total) };
}
