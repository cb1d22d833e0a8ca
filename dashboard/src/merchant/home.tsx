import { CloseButton, Group, List, SimpleGrid, Stack, Text, ThemeIcon } from '@mantine/core';
import { IconAlertTriangle, IconCheck, IconInfoCircle } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { readApi } from '../api/client.ts';
import { useCurrentUser } from '../app/session.ts';
import { ChartValues, TimeChart } from '../ui/chart.tsx';
import {
  DAY_MS,
  dayOf,
  formatAmount,
  formatBytes,
  formatDay,
  formatMoment,
  formatTick,
} from '../ui/format.ts';
import {
  Empty,
  Figure,
  LinkButton,
  Moment,
  Page,
  PageLink,
  QuerySection,
  QueryView,
  Section,
} from '../ui/parts.tsx';
import { Rows } from '../ui/rows.tsx';
import { joined } from '../ui/use-reading.ts';
import { BalanceFigure, readWallet } from './balance.tsx';
import { ItemLink } from './item-link.tsx';
import { useMembership, useReads, useRead } from './place.ts';
import { TransactionRows } from './purchases.tsx';
import { balancePoints, ENDING_SOON_DAYS, todosOf, type BalancePoint, type Todo } from './todo.ts';

const RECENT = 5;
const ENDPOINTS_EVERY_MS = 60_000;
/** How far back the charts go. */
const CHART_DAYS = 30;
const ENDING_DAYS = '7';
const ENDING_READ = 50;
const ENDING_SHOWN = 5;
/** As many as an answer has. */
const MAX_ENTRIES = 100;
const HOUR_MS = 3_600_000;
/** In this browser. */
const HINT_CLOSED = 'simway-second-factor-hint-closed';

const useWallet = () => useReads(['wallet', 'balance'], readWallet);

const useSales = () =>
  useRead('/api/esim/spending', {
    query: { from: dayOf(Date.now() - (CHART_DAYS - 1) * DAY_MS), to: dayOf(Date.now()) },
  });

/** What ends within a week, the soonest first. The same in all parts of the page. */
function useEnding() {
  const [hour] = useState(() => Math.ceil(Date.now() / HOUR_MS) * HOUR_MS);
  const expiresBefore = new Date(hour + Number(ENDING_DAYS) * DAY_MS).toISOString();
  return useRead('/api/esim/my-esims', { query: { expiresBefore, limit: ENDING_READ } });
}

export function HomePage() {
  const { membership, may } = useMembership();
  return (
    <Page
      title={membership?.accountName ?? 'Home'}
      extra={
        <Group>
          {may('keys') && (
            <LinkButton variant="default" to="/m/$accountId/$environment/developers/keys">
              Create an API key
            </LinkButton>
          )}
          {may('purchase') && <LinkButton to="/m/$accountId/$environment/catalogue">Buy an eSIM</LinkButton>}
        </Group>
      }
    >
      <ToDo />
      <Charts />
      <Recent />
    </Page>
  );
}

function ToDo() {
  const { may } = useMembership();
  const { data: user } = useCurrentUser();
  const [isClosed, setClosed] = useState(() => localStorage.getItem(HINT_CLOSED) === 'true');
  const query = joined({
    endpoints: useRead('/api/webhooks/endpoints', {}, { everyMs: () => ENDPOINTS_EVERY_MS }),
    wallet: useWallet(),
    sales: useSales(),
    ending: useEnding(),
    open: useReads(['home', 'open'], readOpen),
  });
  const closeHint = () => {
    localStorage.setItem(HINT_CLOSED, 'true');
    setClosed(true);
  };
  return (
    <QuerySection title="To do" query={query} rows={2}>
      {({ endpoints, wallet, sales, ending, open }) => {
        const soon = Date.now() + ENDING_SOON_DAYS * DAY_MS;
        const endingSoon = ending.esims.filter(({ expiredTime }) => Date.parse(expiredTime) <= soon).length;
        const todos = todosOf({
          ...open,
          endpoints: may('webhooks') ? endpoints.items : [],
          wallet,
          spentByDay: sales.days.map(({ spent }) => spent),
          mayFund: may('fund'),
          endingSoon,
          endingIsMinimum: endingSoon === ENDING_READ,
          needsSecondFactor: may('members') && user?.user.hasSecondFactor === false && !isClosed,
        });
        if (todos.length === 0)
          return (
            <Group gap="sm" wrap="nowrap">
              <ThemeIcon variant="light" color="green" aria-hidden>
                <IconCheck size={18} />
              </ThemeIcon>
              <Text size="sm">Nothing waits for you.</Text>
            </Group>
          );
        return (
          <Stack component="ul" gap={0} m={0} p={0}>
            {todos.map((todo) => (
              <TodoLine
                key={todo.key}
                of={todo}
                onClose={todo.key === 'second-factor' ? closeHint : undefined}
              />
            ))}
          </Stack>
        );
      }}
    </QuerySection>
  );
}

/** What is open, but for what the other parts of the page read. */
async function readOpen() {
  const [payments, returns, replacements, batches] = await Promise.all([
    readApi('/api/esim/transactions', { query: { status: 'PENDING', limit: 1 } }),
    readApi('/api/esim/returns', { query: { state: 'NEEDS_REVIEW', limit: 1 } }),
    readApi('/api/esim/replacements', { query: { state: 'NEEDS_REVIEW', limit: 1 } }),
    readApi('/api/esim/orders/batch', { query: { limit: 20 } }),
  ]);
  return {
    openPayments: payments.pagination.totalItems,
    returnsInReview: returns.pagination.totalItems,
    replacementsInReview: replacements.pagination.totalItems,
    scheduledBatches: batches.items.filter(({ status }) => status === 'SCHEDULED'),
  };
}

function TodoLine({
  of: { color, title, about, to, label },
  onClose,
}: {
  readonly of: Todo;
  readonly onClose: (() => void) | undefined;
}) {
  const Picture = color === 'blue' ? IconInfoCircle : IconAlertTriangle;
  return (
    <li className="todo">
      <ThemeIcon variant="light" color={color} aria-hidden>
        <Picture size={18} />
      </ThemeIcon>
      <div className="todo-text">
        <Text size="sm" fw={600}>
          {title}
        </Text>
        <Text size="sm" c="dimmed" className="breakable">
          {about}
        </Text>
      </div>
      <Group gap="xs" wrap="nowrap">
        <LinkButton variant="default" size="compact-sm" {...to}>
          {label}
        </LinkButton>
        {onClose && <CloseButton aria-label="Close the hint" onClick={onClose} />}
      </Group>
    </li>
  );
}

/** The first steps stay in their place until an eSIM was delivered: a payment that is open is none. */
function Charts() {
  const query = joined({ sales: useSales(), wallet: useWallet() });
  return (
    <QueryView query={query} rows={8}>
      {({ sales, wallet }) => (
        <>
          <SimpleGrid cols={{ base: 1, md: 2 }}>
            <Section
              title="Wallet"
              extra={
                <PageLink size="sm" to="/m/$accountId/$environment/wallet">
                  All changes
                </PageLink>
              }
            >
              <BalanceFigure of={wallet} />
              <BalanceChart balance={wallet.balance} currency={wallet.currency} />
            </Section>
            {sales.total.purchases === 0 ? (
              <Section title="First steps">
                <FirstSteps />
              </Section>
            ) : (
              <SalesSection of={sales} />
            )}
          </SimpleGrid>
          {sales.total.purchases > 0 && <Ending />}
        </>
      )}
    </QueryView>
  );
}

function BalanceChart({ balance, currency }: { readonly balance: number; readonly currency: string }) {
  const [now] = useState(() => Date.now());
  const from = new Date(now - CHART_DAYS * DAY_MS).toISOString();
  const query = useRead('/api/wallet/entries', { query: { from, limit: MAX_ENTRIES } });
  const { data } = query;
  const shown = useMemo(() => {
    if (!data) return undefined;
    // Of more changes only the latest are shown, from the time of the oldest of them on.
    const start = data.nextCursor ? (data.items.at(-1)?.at ?? from) : from;
    return { start, points: balancePoints(data.items, balance, start) };
  }, [data, balance, from]);
  const money = (value: number) => formatAmount(value, currency);
  return (
    <QueryView query={query} rows={6}>
      {() =>
        shown &&
        (shown.points.length === 1 && balance === 0 ? (
          <Empty action={<ToFunding />}>
            No changes yet. Fund the wallet: purchases can be paid from it.
          </Empty>
        ) : (
          <>
            <TimeChart<BalancePoint>
              label="Balance over time"
              kind="steps"
              fromZero
              rows={shown.points}
              range={[Date.parse(shown.start) / 1_000, now / 1_000]}
              at={({ at }) => at}
              lines={[{ name: 'Balance', color: 'blue', of: (point) => point.balance }]}
              formatAt={formatMoment}
              formatValue={money}
              formatTick={formatTick}
            />
            <ChartValues
              label="Balance over time"
              titles={['From', `Balance, ${currency}`]}
              rows={shown.points.toReversed().map((point) => [formatMoment(point.at), money(point.balance)])}
            />
          </>
        ))
      }
    </QueryView>
  );
}

function ToFunding() {
  const { may } = useMembership();
  return may('fund') ? (
    <LinkButton to="/m/$accountId/$environment/wallet" hash="fund">
      Fund the wallet
    </LinkButton>
  ) : null;
}

type Sales = NonNullable<ReturnType<typeof useSales>['data']>;

function SalesSection({ of: { total, days, currency } }: { readonly of: Sales }) {
  const money = (value: number) => formatAmount(value, currency);
  return (
    <Section
      title="Spent in the last 30 days"
      extra={
        <PageLink size="sm" to="/m/$accountId/$environment/figures">
          All figures
        </PageLink>
      }
    >
      <Figure name="Spent on eSIMs" value={money(total.spent)} size="xl" />
      <Text size="sm" c="dimmed">
        {`${total.purchases.toLocaleString()} delivered ${total.purchases === 1 ? 'purchase' : 'purchases'}`},
        top-ups included
      </Text>
      <TimeChart
        label="Spent per day"
        kind="bars"
        rows={days}
        at={({ day }) => day}
        timeZone="UTC"
        lines={[{ name: 'Spent', color: 'teal', of: ({ spent }) => spent }]}
        formatAt={formatDay}
        formatValue={money}
        formatTick={formatTick}
      />
      <ChartValues
        label="Spent per day"
        titles={['Day (UTC)', 'Spent', 'Purchases']}
        rows={days
          .toReversed()
          .map(({ day, spent, purchases }) => [formatDay(day), money(spent), purchases.toLocaleString()])}
      />
    </Section>
  );
}

function Ending() {
  const query = useEnding();
  return (
    <QuerySection
      title="Ending within 7 days"
      query={query}
      rows={2}
      extra={
        <PageLink size="sm" to="/m/$accountId/$environment/esims" search={{ ends: ENDING_DAYS }}>
          Show all
        </PageLink>
      }
    >
      {({ esims }) => (
        <Rows
          label="eSIMs that end soon"
          rows={esims.slice(0, ENDING_SHOWN)}
          empty="No eSIM ends within 7 days."
          columns={{
            eSIM: ({ _id: esimId, packageName }) => (
              <ItemLink kind="esim" id={esimId}>
                {packageName}
              </ItemLink>
            ),
            Expires: ({ expiredTime }) => <Moment at={expiredTime} />,
            'Data left': {
              number: (one) => `${formatBytes(one.data_usage_remain)} of ${formatBytes(one.totalVolume)}`,
            },
          }}
        />
      )}
    </QuerySection>
  );
}

function Recent() {
  const query = useRead('/api/esim/transactions', { query: { limit: RECENT } });
  return (
    <QuerySection
      title="Latest purchases and fundings"
      query={query}
      rows={RECENT}
      extra={
        <PageLink size="sm" to="/m/$accountId/$environment/purchases">
          Show all
        </PageLink>
      }
    >
      {({ items }) => <TransactionRows rows={items} />}
    </QuerySection>
  );
}

function FirstSteps() {
  const { may } = useMembership();
  return (
    <List type="ordered">
      {may('fund') && (
        <List.Item>
          <PageLink underline="always" to="/m/$accountId/$environment/wallet">
            Fund the wallet
          </PageLink>
          : purchases can be paid from it.
        </List.Item>
      )}
      <List.Item>
        <PageLink underline="always" to="/m/$accountId/$environment/catalogue">
          Choose an eSIM in the catalogue
        </PageLink>
        : with your prices.
      </List.Item>
      {may('keys') && (
        <List.Item>
          <PageLink underline="always" to="/m/$accountId/$environment/developers/keys">
            Create a key for your servers
          </PageLink>
          : they buy with it, or you buy here.
        </List.Item>
      )}
    </List>
  );
}
