import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { QuerySection } from '../ui/parts.tsx';
import { ActionDialog } from './action-dialog.tsx';
import { type Action, type PurchaseActions, type PurchaseTimeline, useOperator, useOps } from './place.ts';
import { ReplayDialog } from './form-dialog.tsx';
import { ACTIONS, REPLAY } from './words.ts';

export function ActionsSection({
  transactionId,
  timeline,
}: {
  readonly transactionId: string;
  readonly timeline: PurchaseTimeline;
}) {
  const actions = useOps('/ops/purchases/{transactionId}/actions', { path: { transactionId } });
  return (
    <QuerySection title="Actions" query={actions} rows={3}>
      {(of) => <Choices of={of} timeline={timeline} />}
    </QuerySection>
  );
}

function Choices({ of, timeline }: { readonly of: PurchaseActions; readonly timeline: PurchaseTimeline }) {
  const { may } = useOperator();
  const [chosen, setChosen] = useState<Action | 'replay' | null>(null);
  const others = of.fits.filter((action) => !of.yours.includes(action));
  const close = () => setChosen(null);
  return (
    <Stack gap="sm">
      {may('replay') && of.replay.length > 0 && (
        <Choice {...REPLAY} onClick={() => setChosen('replay')} isFirst />
      )}
      {of.yours.map((action) => (
        <Choice
          key={action}
          label={ACTIONS[action].label}
          does={ACTIONS[action].does}
          onClick={() => setChosen(action)}
          isDanger={action === 'cancel'}
        />
      ))}
      {of.yours.length === 0 && <Text c="dimmed">No actions for your role now.</Text>}
      {others.length > 0 && (
        <Text size="sm" c="dimmed">
          For other roles: {others.map((action) => ACTIONS[action].label.toLowerCase()).join(', ')}.
        </Text>
      )}
      {chosen === 'replay' && <ReplayDialog of={of.transactionId} onClose={close} />}
      {chosen !== null && chosen !== 'replay' && (
        <ActionDialog action={chosen} timeline={timeline} onClose={close} />
      )}
    </Stack>
  );
}

function Choice({
  label,
  does,
  onClick,
  isFirst = false,
  isDanger = false,
}: {
  readonly label: string;
  readonly does: string;
  readonly onClick: () => void;
  readonly isFirst?: boolean;
  readonly isDanger?: boolean;
}) {
  return (
    <Group gap="sm" align="center">
      <Button
        variant={isFirst ? 'filled' : isDanger ? 'light' : 'default'}
        color={isDanger ? 'red' : 'blue'}
        size="xs"
        onClick={onClick}
      >
        {label}
      </Button>
      <Text size="sm" c="dimmed" flex={{ base: '1 1 100%', sm: '1 1 12rem' }}>
        {does}
      </Text>
    </Group>
  );
}
