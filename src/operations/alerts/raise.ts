/** Opens and closes alerts by what the rows say, and writes what is sent about it in the same transaction. */
import type { AlertMessage } from '../../domain/alerts.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { lockByName } from '../../platform/database/transactions.ts';
import type { Events } from '../../platform/telemetry/events.ts';
import {
  closeAlert,
  endAlert,
  keepAlert,
  listChannels,
  markTold,
  openAlert,
  readOpenAlerts,
  writeMessages,
} from '../store/alerts.ts';
import { planAlerts, wants, type Condition } from './alert-rules.ts';
import { readConditions, type ConditionLimits } from './conditions.ts';

interface RaiseDeps {
  readonly db: WorldDb;
  readonly alertLimits: ConditionLimits;
  readonly clock: { now(): Date };
  readonly events: Pick<Events, 'alertOpened' | 'alertClosed'>;
}

/** One run at a time; a run that is repeated finds its alerts open. How many were opened and closed. */
export async function raiseAlerts({ db, alertLimits, clock, events }: RaiseDeps) {
  const plan = await db.transaction().execute(async (trx) => {
    await lockByName(trx, 'alerts for operators');
    const open = await readOpenAlerts(trx);
    const made = planAlerts(open, await readConditions(trx, alertLimits, open), clock.now());
    const channels = await listChannels(trx);
    const tell = (alertId: bigint, what: AlertMessage, about: Condition) => {
      const wanting = channels.filter((channel) => wants(channel, about.kind)).map(({ id }) => id);
      return writeMessages(trx, wanting, { alertId, what, about });
    };
    for (const alert of made.goesOn) await keepAlert(trx, alert);
    for (const condition of made.opens) await tell(await openAlert(trx, condition), 'opened', condition);
    for (const alert of made.reminds) {
      await markTold(trx, alert.id);
      await tell(alert.id, 'reminder', alert);
    }
    for (const { id } of made.ends) await endAlert(trx, id);
    for (const alert of made.closes) {
      await closeAlert(trx, alert.id);
      await tell(alert.id, 'resolved', alert);
    }
    return made;
  });
  for (const { kind, subject: about } of plan.opens) events.alertOpened({ kind, about });
  for (const { kind, subject: about } of plan.closes) events.alertClosed({ kind, about });
  return { opened: plan.opens.length, closed: plan.closes.length };
}
