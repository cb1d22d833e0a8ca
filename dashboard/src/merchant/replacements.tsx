import { Group, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { listReplacementsState } from 'simway-client/generated/api-lists.ts';
import { api, dataOf, type ApiSchemas } from '../api/client.ts';
import { ConfirmButton } from '../ui/dialogs.tsx';
import { ChoiceField } from '../ui/filters.tsx';
import { formatAmount } from '../ui/format.ts';
import { Facts, Moment, Page, QuerySection, ShortId, Status } from '../ui/parts.tsx';
import { amount, PagedRows } from '../ui/rows.tsx';
import { useOnce } from '../ui/use-once.ts';
import { ItemLink } from './item-link.tsx';
import { useMembership, useRead } from './place.ts';

type Terms = ApiSchemas['ReplacementTerms']['data'];
type ReplacementState = ApiSchemas['Replacement']['state'];

const REFUSALS: Readonly<Record<NonNullable<Terms['refusal']>, string>> = {
  NOT_ALLOWED: 'Your account cannot have eSIMs replaced, or who asked may not buy any more',
  NOT_DELIVERED: 'It is not delivered',
  WINDOW_OVER: 'The time for replacements is over',
  TOO_MANY: 'It was replaced as often as is allowed',
  IN_PROGRESS: 'A replacement of it is open',
  ALREADY_REPLACED: 'It was replaced before',
  RETURNED: 'It was returned, or a return of it is open',
  UNUSED: 'It is unused. Install it again, or return it',
  USED_UP: 'Its data is used up',
  EXPIRED: 'It has expired',
  CANCELLED: 'It is cancelled',
  PAYMENT_DISPUTED: 'A bank disputes its payment, or has taken it back',
  REFUNDED: 'Its price was given back',
  TOP_UP_OPEN: 'A top-up of it is open: ask again once that has ended',
  TOO_OFTEN: 'It was refused 5 times within an hour: ask again later',
  PURCHASE_FAILED: 'The new eSIM could not be bought',
  REFUSED_BY_OPERATOR: 'We have refused it',
};

/** These end without a person. */
const MOVING: ReadonlySet<ReplacementState> = new Set(['PENDING', 'ORDERING', 'RETIRING']);
const MOVING_EVERY_MS = 3_000;

const NEWS: Readonly<Record<ReplacementState, string>> = {
  PENDING: 'The supplier is asked. See Replacements for how it ends.',
  NEEDS_REVIEW:
    'The supplier does not say that the eSIM was deleted. We decide. See Replacements for how it ends.',
  ORDERING: 'The new eSIM is being bought. See Replacements for how it ends.',
  RETIRING: 'The new eSIM is delivered. The old one is being revoked.',
  REPLACED: 'Replaced: the new eSIM is delivered.',
  REFUSED: 'Refused: nothing was changed.',
};

const STATES: Readonly<Record<ReplacementState, { readonly label: string; readonly color: string }>> = {
  PENDING: { label: 'Supplier is asked', color: 'yellow' },
  NEEDS_REVIEW: { label: 'We look at it', color: 'orange' },
  ORDERING: { label: 'New eSIM is bought', color: 'blue' },
  RETIRING: { label: 'Old eSIM is being revoked', color: 'blue' },
  REPLACED: { label: 'Replaced', color: 'green' },
  REFUSED: { label: 'Refused', color: 'red' },
};

const EsimLink = ({ id }: { readonly id: string }) => (
  <ItemLink kind="esim" id={id}>
    <ShortId>{id}</ShortId>
  </ItemLink>
);

export function ReplacementsPage() {
  const [page, setPage] = useState(1);
  const [state, setState] = useState<ReplacementState | null>(null);
  const query = useRead(
    '/api/esim/replacements',
    { query: { page, limit: 20, ...(state && { state }) } },
    {
      everyMs: (found) =>
        found?.items.some(({ state: stands }) => MOVING.has(stands)) === true && MOVING_EVERY_MS,
      keepsOld: true,
    },
  );
  return (
    <Page
      title="Replacements"
      about="Deleted or broken eSIMs, and the new ones in their place. Ask for one on the page of its eSIM."
    >
      <Group className="filters">
        <ChoiceField
          label="State"
          data={listReplacementsState}
          value={state ?? undefined}
          onChange={(next) => {
            setPage(1);
            setState(listReplacementsState.find((one) => one === next) ?? null);
          }}
        />
      </Group>
      <PagedRows
        label="Replacements"
        query={query}
        onPage={setPage}
        empty={state ? 'No results.' : 'No replacements yet.'}
        columns={{
          When: ({ createdAt }) => <Moment at={createdAt} />,
          'Old eSIM': ({ esimId }) => <EsimLink id={esimId} />,
          'New eSIM': ({ replacedBy }) => (replacedBy === null ? '–' : <EsimLink id={replacedBy} />),
          State: ({ state: stands }) => <Status color={STATES[stands].color}>{STATES[stands].label}</Status>,
          'You pay': amount('price'),
          Note: ({ refusal, reason }) => (refusal === null ? (reason ?? '–') : REFUSALS[refusal]),
        }}
      />
    </Page>
  );
}

/** On the page of an eSIM: what a replacement costs, until when, and the button. */
export function ReplacementSection({
  esimId,
  replacedBy,
}: {
  readonly esimId: string;
  readonly replacedBy: string | undefined;
}) {
  const query = useRead('/api/esim/{esimId}/replacement-terms', { path: { esimId } });
  return (
    <QuerySection title="Replacement" query={query} rows={2}>
      {(terms) =>
        terms.replaceable ? (
          <Offer {...terms} />
        ) : replacedBy !== undefined ? (
          <Text>
            Replaced by <ItemLink kind="esim" id={replacedBy} />.
          </Text>
        ) : (
          <Text c="dimmed">Cannot be replaced: {terms.refusal === null ? '' : REFUSALS[terms.refusal]}.</Text>
        )
      }
    </QuerySection>
  );
}

function Offer({ esimId, price, fullPrice, currency, replaceableUntil }: Terms) {
  const { may } = useMembership();
  const once = useOnce<object>();
  const replace = async () => {
    const { state } = await once.send({}, (key, body) =>
      dataOf(
        api.POST('/api/esim/{esimId}/replacements', {
          params: { path: { esimId }, header: { 'Idempotency-Key': key } },
          body,
        }),
      ),
    );
    notifications.show({ message: NEWS[state], color: state === 'REPLACED' ? 'green' : 'blue' });
  };
  const paid = price === 0 ? 'Nothing' : `${formatAmount(price, currency)}, from your wallet`;
  return (
    <Stack>
      <Facts
        of={{
          'You pay': paid,
          'Paid at first': formatAmount(fullPrice, currency),
          'Can be replaced until': replaceableUntil !== null && <Moment at={replaceableUntil} />,
        }}
      />
      {may('purchase') && (
        <Group>
          <ConfirmButton
            label="Replace this eSIM"
            title="Replace this eSIM"
            confirmLabel="Replace it"
            act={replace}
          >
            <Text size="sm">
              The supplier says whether it was deleted from its phone. Then the same package is bought again,
              and the old eSIM is revoked. You pay: {paid}. If the eSIM is still on a phone and does not work,
              we decide. This cannot be undone.
            </Text>
          </ConfirmButton>
        </Group>
      )}
    </Stack>
  );
}
