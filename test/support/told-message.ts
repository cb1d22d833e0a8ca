// Messages that wait at an endpoint as if a change had written them, for tests that need no change.
import { addSample } from '../../src/webhooks/store/messages.ts';
import type { WorldDb } from '../../src/platform/database/tables.ts';

/** Answers its id. */
export async function addMessage(db: WorldDb, message: Parameters<typeof addSample>[1]): Promise<string> {
  const id = await addSample(db, message);
  // No sample: those are left out where something else is recovered.
  await db
    .updateTable('webhook_messages')
    .set({ event_key: `a-test:${id}` })
    .where('id', '=', id)
    .execute();
  return id;
}
