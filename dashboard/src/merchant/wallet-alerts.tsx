import { Alert, Text } from '@mantine/core';
import { readApi } from '../api/client.ts';
import { PageLink } from '../ui/page-link.tsx';
import { Amount } from '../ui/parts.tsx';
import { useMembership } from './place.ts';

/** The balance, and the amount below which the merchant calls it low; `null` for none. */
export async function readWallet() {
  const [wallet, { amount: lowBelow }] = await Promise.all([
    readApi('/api/wallet/balance'),
    readApi('/api/wallet/low-balance'),
  ]);
  return { ...wallet, lowBelow };
}

/** Nothing while the account owes nothing. */
export function OwedAlert({
  of: { owed, currency },
}: {
  readonly of: { readonly owed: number; readonly currency: string };
}) {
  if (owed === 0) return null;
  return (
    <Alert color="red" title="The account owes money" mt="sm">
      <Text size="sm">
        A bank took back a payment. <Amount of={owed} currency={currency} /> of it was spent already, and the
        account owes it. The next payments into the wallet pay this first.
      </Text>
    </Alert>
  );
}

/** Nothing while the balance is at the threshold or above it. */
export function LowBalanceAlert({
  of: { balance, lowBelow, currency },
}: {
  readonly of: { readonly balance: number; readonly lowBelow: number | null; readonly currency: string };
}) {
  const { may } = useMembership();
  if (lowBelow === null || balance >= lowBelow) return null;
  return (
    <Alert color="yellow" title="The balance is low" mt="sm">
      <Text size="sm">
        It is below <Amount of={lowBelow} currency={currency} />.{' '}
        {may('fund') ? (
          <PageLink c="inherit" underline="always" to="/m/$accountId/$environment/wallet" hash="fund">
            Fund the wallet
          </PageLink>
        ) : (
          'Ask an owner or finance to fund the wallet.'
        )}
      </Text>
    </Alert>
  );
}
