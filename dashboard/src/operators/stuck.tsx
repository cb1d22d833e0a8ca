import { Alert, Button, Checkbox, Code, Group, NativeSelect, Text } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { listedAccountCurrency } from 'simway-client/generated/ops-lists.ts';
import { ops } from '../api/client.ts';
import type { Search } from '../ui/address.ts';
import { formatAge, formatMoment } from '../ui/format.ts';
import { LinkButton, QueryView, Id, Pages, Page } from '../ui/parts.tsx';
import { Rows, amount } from '../ui/rows.tsx';
import { inPath, type ListedStuckItem, useOperator, useEnvironment, useOps, LIVE } from './place.ts';
import { ReasonDialog, ReplayDialog, type Dialog } from './form-dialog.tsx';
import { SubjectLink } from './links.tsx';
import { AGES, type StuckSearch, stuckSearch } from './search.ts';
import { IGNORE_EVENT, nextStep, REPLAY, STUCK_CLASSES } from './words.ts';

const FROM = '/operators/$environment/stuck';

export const CLASS_CHOICES = [
  { value: '', label: 'All kinds' },
  ...Object.entries(STUCK_CLASSES).map(([value, label]) => ({ value, label })),
];

export function StuckPage() {
  const search = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const stuck = useOps('/ops/stuck', { query: search }, { ...LIVE, keepsOld: true });
  // Not in the row, which goes once the item is repaired: the dialog keeps what was typed, or the result.
  const [chosen, setChosen] = useState<ListedStuckItem | null>(null);
  const [picked, setPicked] = useState<readonly string[]>([]);
  const isFiltered = [search.class, search.olderThanSeconds, search.currency].some(Boolean);
  const pick = (id: string, isPicked: boolean) =>
    setPicked((old) => [...old.filter((one) => one !== id), ...(isPicked ? [id] : [])]);
  return (
    <Page
      title="Stuck"
      about="Stuck purchases and payments, oldest first."
      extra={
        picked.length === 0 ? (
          <LinkButton
            variant="light"
            to="/operators/$environment/repairs/new"
            search={{ ...search, page: undefined }}
          >
            Repair many at once
          </LinkButton>
        ) : (
          <LinkButton
            to="/operators/$environment/repairs/new"
            search={{ class: search.class, ids: picked.join(',') }}
          >
            {`Repair ${String(picked.length)} chosen`}
          </LinkButton>
        )
      }
    >
      <Filters search={search} />
      <QueryView query={stuck}>
        {({ items, pagination, isCut, temporalAsked }) => (
          <>
            {!temporalAsked && (
              <Alert color="yellow">
                Temporal does not respond. Purchases without a workflow are missing from this list.
              </Alert>
            )}
            {isCut && <Alert color="yellow">The list is cut. Use a filter to see the rest.</Alert>}
            <Rows
              label="Stuck purchases and payments"
              empty={isFiltered ? 'Nothing stuck matches these filters.' : 'Nothing is stuck.'}
              rows={items}
              keyOf={({ transactionId, class: stuckClass }) => `${transactionId} ${stuckClass}`}
              columns={{
                Choose: ({ transactionId }) => (
                  <Checkbox
                    aria-label={`Choose ${transactionId}`}
                    checked={picked.includes(transactionId)}
                    onChange={({ currentTarget }) => pick(transactionId, currentTarget.checked)}
                  />
                ),
                Purchase: (item) => <ItemLink item={item} onChoose={setChosen} />,
                Kind: (item) => STUCK_CLASSES[item.class],
                Merchant: ({ account }) =>
                  account ? <SubjectLink id={account.accountId}>{account.name}</SubjectLink> : '–',
                Opened: { number: ({ openedAt }) => <Since at={openedAt} /> },
                Stuck: { number: (item) => formatAge(item.ageSeconds) },
                Amount: amount('amount'),
                Next: (item) => <Text size="sm">{nextStep(item.nextAction)}</Text>,
              }}
            />
            <Pages
              of={pagination}
              onChange={(page) => void navigate({ search: (old) => ({ ...old, page }) })}
            />
          </>
        )}
      </QueryView>
      {chosen && isUnmatched(chosen) && <IgnoreDialog of={chosen} onClose={() => setChosen(null)} />}
      {chosen && !isUnmatched(chosen) && (
        <ReplayDialog of={chosen.transactionId} onClose={() => setChosen(null)} />
      )}
    </Page>
  );
}

/** How long ago, with the time itself behind it. */
function Since({ at }: { readonly at: string | null }) {
  if (at === null) return '–';
  const seconds = Math.max(0, (Date.now() - new Date(at).getTime()) / 1_000);
  return (
    <time dateTime={at} title={formatMoment(at)}>
      {formatAge(seconds)} ago
    </time>
  );
}

function Filters({ search }: { readonly search: StuckSearch }) {
  const navigate = useNavigate({ from: FROM });
  const set = (change: Search) =>
    void navigate({ search: (old) => stuckSearch({ ...old, page: undefined, ...change }), replace: true });
  return (
    <Group role="search" aria-label="Filter the list">
      <NativeSelect
        label="Kind"
        data={CLASS_CHOICES}
        value={search.class ?? ''}
        onChange={({ currentTarget: { value } }) => set({ class: value })}
      />
      <NativeSelect
        label="Stuck for"
        data={[...AGES]}
        value={String(search.olderThanSeconds ?? 0)}
        onChange={({ currentTarget: { value } }) => set({ olderThanSeconds: value })}
      />
      <NativeSelect
        label="Currency"
        data={[{ value: '', label: 'All' }, ...listedAccountCurrency]}
        value={search.currency ?? ''}
        onChange={({ currentTarget: { value } }) => set({ currency: value })}
      />
    </Group>
  );
}

type OnChoose = (item: ListedStuckItem) => void;

/** Purchases have a page. Events and messages without a purchase are repaired here. */
function ItemLink({ item, onChoose }: { readonly item: ListedStuckItem; readonly onChoose: OnChoose }) {
  const { transactionId } = item;
  if (transactionId.startsWith('txn-')) return <SubjectLink id={transactionId} />;
  return (
    <Group gap="xs">
      <Id>{transactionId}</Id>
      <LooseItem item={item} onChoose={onChoose} />
    </Group>
  );
}

const isUnmatched = ({ class: stuckClass }: ListedStuckItem): boolean =>
  stuckClass === 'inbox-without-purchase';

function LooseItem({ item, onChoose }: { readonly item: ListedStuckItem; readonly onChoose: OnChoose }) {
  const { may } = useOperator();
  if (!may(isUnmatched(item) ? 'reconcile' : 'replay')) return null;
  return (
    <Button size="compact-xs" variant="light" onClick={() => onChoose(item)}>
      {isUnmatched(item) ? IGNORE_EVENT : REPLAY.label}
    </Button>
  );
}

function IgnoreDialog({
  of: { transactionId: eventId, reason: what },
  onClose,
}: Dialog & { readonly of: ListedStuckItem }) {
  const environment = useEnvironment();
  const submit = (reason: string) =>
    ops.POST('/ops/events/{eventId}/dismiss', { ...inPath(environment, { eventId }), body: { reason } });
  return (
    <ReasonDialog
      done="Event ignored"
      title={`${IGNORE_EVENT}: ${eventId}`}
      onClose={onClose}
      submit={submit}
      label={IGNORE_EVENT}
    >
      <Text size="sm">
        The gateway reported money that matches none of our payments. Ignore the event once you know what it
        was.
      </Text>
      <Code block>{what}</Code>
    </ReasonDialog>
  );
}
