import { Alert, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { readApi } from '../api/client.ts';
import { Amount, Figure, PageLink } from '../ui/parts.tsx';
import { useMembership } from './place.ts';

/** The balance, and the amount below which the merchant calls it low; `null` for none. */
export async function readWallet() {
  const [wallet, { amount: lowBelow }] = await Promise.all([
    readApi('/api/wallet/balance', {}),
    readApi('/api/wallet/low-balance', {}),
  ]);
  return { ...wallet, lowBelow };
}

type Wallet = Awaited<ReturnType<typeof readWallet>>;

interface BalanceProps {
  readonly of: Wallet;
  readonly children?: ReactNode;
}

export const BalanceFigure = ({ of, children }: BalanceProps) => (
  <>
    <Figure name="Available" value={<Amount of={of.balance} currency={of.currency} />} size="xl" />
    <Text size="sm" c="dimmed">
      On hold for open purchases: <Amount of={of.onHold} currency={of.currency} />
      {children}
    </Text>
  </>
);

export function Balance({ of, children }: BalanceProps) {
  return (
    <>
      <BalanceFigure of={of}>{children}</BalanceFigure>
      <OwedAlert of={of} />
      <LowBalanceAlert of={of} />
    </>
  );
}

function OwedAlert({ of: { owed, currency } }: { readonly of: Wallet }) {
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

function LowBalanceAlert({ of: { balance, lowBelow, currency } }: { readonly of: Wallet }) {
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
