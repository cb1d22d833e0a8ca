/** The balance at the supplier, and alerts for operators: once a minute. Each may run twice. */
import { raiseAlerts } from '../../src/operations/alerts/raise.ts';
import { sendAlerts } from '../../src/operations/alerts/send.ts';
import { checkBalance, type BalanceCheckOutcome } from '../../src/operations/supplier/balance.ts';
import type { OpsActivities } from '../../workflows/contract.ts';
import type { ActivityDeps } from '../deps.ts';

const LINES: Readonly<Record<BalanceCheckOutcome, string>> = {
  read: 'balance read',
  'not-due': 'balance not due',
  unread: 'the supplier did not tell the balance',
};

/** Within the activity's two minutes. The next run continues. */
const SENDS_FOR_MS = 45_000;

export function createAlertActivities(
  deps: ActivityDeps,
): Pick<OpsActivities, 'checkBalance' | 'raiseAlerts' | 'sendAlerts'> {
  const { db, clock, backgroundSupplier } = deps;
  return {
    checkBalance: async () => LINES[await checkBalance({ db, supplier: backgroundSupplier })],
    raiseAlerts: async () => {
      const { opened, closed } = await raiseAlerts(deps);
      return `${opened} alerts opened, ${closed} closed`;
    },
    sendAlerts: async () => {
      const endsAtMs = clock.now().getTime() + SENDS_FOR_MS;
      const { sent, left } = await sendAlerts(deps, () => clock.now().getTime() > endsAtMs);
      return `${sent} sent, ${left} not`;
    },
  };
}
