import type { Principal } from '../domain/account.ts';
import type { EsimStatus } from '../domain/states.ts';
import { requireOwnEsim } from '../esims/read-esims.ts';
import { KEEP_EVENTS_MS } from '../platform/database/retention.ts';
import type { PurchaseDeps } from './deps.ts';
import {
  expiringLine,
  linkLine,
  messageLine,
  purchaseLine,
  statusLine,
  usageLine,
  type EsimTimelineLine,
} from './esim-timeline-rules.ts';
import { readEsimTimeline, type LifeEventRow } from './store/esim-timeline.ts';

/**
 * What happened to an account's own eSIM, oldest first. `isComplete`: it is not older than the events that
 * are kept. Throws ESIM_NOT_FOUND and NOT_YOUR_ESIM.
 */
export async function getEsimTimeline(
  deps: Pick<PurchaseDeps, 'db' | 'clock'>,
  principal: Principal,
  esimId: string,
) {
  const esim = await requireOwnEsim(deps, principal, esimId);
  const rows = await readEsimTimeline(deps.db, esim);
  const life = rows.life.flatMap((event) => lifeLine(event) ?? []);
  const isListed = (what: string) => life.some((line) => line.what === what);
  // What the eSIM itself still knows when its events are gone.
  const inUse = esim.activate_time && !isListed('in-use') && statusLine(esim.activate_time, null, 'ACTIVE');
  const isOver = esim.status === 'EXPIRED' && esim.expired_time && !isListed('expired');
  const expired = isOver && esim.expired_time && statusLine(esim.expired_time, null, 'EXPIRED');
  const lines = [
    ...rows.purchases.flatMap((event) => purchaseLine(event) ?? []),
    ...(rows.linkMadeAt ? [linkLine(rows.linkMadeAt)] : []),
    ...(inUse ? [inUse] : []),
    ...life,
    ...(expired ? [expired] : []),
    ...rows.messages.map(messageLine),
  ].toSorted((a, b) => a.at.getTime() - b.at.getTime());
  const keptSinceMs = deps.clock.now().getTime() - KEEP_EVENTS_MS;
  return { esimId, lines, isComplete: esim.created_at.getTime() > keptSinceMs };
}

/** `esim.expired` says the same as the change of the status. */
function lifeLine({ at, event, data }: LifeEventRow): EsimTimelineLine | undefined {
  switch (event) {
    case 'esim.status_changed':
      return statusLine(at, data['from'] as EsimStatus, data['to'] as EsimStatus);
    case 'esim.usage_threshold':
      return usageLine(at, Number(data['thresholdPercent']));
    case 'esim.expiring':
      return expiringLine(at, Number(data['daysBefore']));
  }
}
