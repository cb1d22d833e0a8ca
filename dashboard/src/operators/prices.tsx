import { Alert, Button, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import {
  pricePreviewDataTotalsAccountType as accountTypes,
  pricePreviewDataTotalsCurrency as currencies,
} from 'simway-client/generated/ops-lists.ts';
import { ops, dataOf } from '../api/client.ts';
import type { Environment } from '../ui/address.ts';
import { formatAmount, formatPercent, formatRate } from '../ui/format.ts';
import { NumberField } from '../ui/number-field.tsx';
import { numberText, readNumber } from '../ui/numbers.ts';
import { Amount, QueryView, Empty, Moment, Pages, Section, Page } from '../ui/parts.tsx';
import { Rows, PagedRows } from '../ui/rows.tsx';
import {
  inPath,
  type HeldPrice,
  type PricePreview,
  type Prices,
  type PriceTerms,
  useEnvironment,
  useOperator,
  useOps,
} from './place.ts';
import { DecideProposal, DeclineProposal, ReasonDialog, type Dialog } from './form-dialog.tsx';
import { PriceRules } from './price-rules.tsx';
import { OnSaleSection, COST, PACKAGE } from './on-sale.tsx';

type Settings = Prices['items'][number];
type Price = PricePreview['items'][number]['prices'][number];

const SELLERS: Record<Price['accountType'], string> = { USER: 'Consumers', MERCHANT: 'Merchants' };

const useMarkups = (page: number) => useOps('/ops/prices', { query: { page } }, { keepsOld: true });

export function PricesPage() {
  const current = useMarkups(1);
  // The version of an open preview: what is typed stays when another person saves other markups.
  const [previewed, setPreviewed] = useState<string | null>(null);
  return (
    <Page
      title="Prices"
      about="A price is our cost plus a markup, or what a rule says. In NGN it is converted at the current rate and raised by the increment."
    >
      <QueryView query={current}>
        {({ items: [present] }) =>
          present ? (
            <Edit
              key={previewed ?? present.version}
              present={present}
              onPreview={(isOpen) => setPreviewed(isOpen ? present.version : null)}
            />
          ) : (
            <Empty>No markups are set.</Empty>
          )
        }
      </QueryView>
      {current.data && <Waiting of={current.data.waiting} />}
      <PriceRules />
      <HeldPrices />
      <History />
      <OnSaleSection />
    </Page>
  );
}

const MAX_PERCENT = 1000;

type Fields = Record<keyof PriceTerms, string>;

const PERCENT = { max: MAX_PERCENT, required: true };

const percentFault = (typed: string) => readNumber(typed, PERCENT).fault;
const percentOf = (typed: string): number => readNumber(typed, PERCENT).value ?? 0;

const TERMS = {
  userMarkupPercent: 'Markup for consumers',
  merchantMarkupPercent: 'Markup for merchants',
  ngnIncrementPercent: 'Increment in NGN',
} as const satisfies Record<keyof PriceTerms, string>;
const TERM_NAMES = Object.keys(TERMS) as (keyof PriceTerms)[];

const termsOf = (fields: Fields): PriceTerms => ({
  userMarkupPercent: percentOf(fields.userMarkupPercent),
  merchantMarkupPercent: percentOf(fields.merchantMarkupPercent),
  ngnIncrementPercent: percentOf(fields.ngnIncrementPercent),
});

const termColumns = () =>
  Object.fromEntries(
    TERM_NAMES.map((name) => [TERMS[name], { number: (item: PriceTerms) => formatPercent(item[name]) }]),
  );

function Edit({
  present,
  onPreview,
}: {
  readonly present: Settings;
  readonly onPreview: (isOpen: boolean) => void;
}) {
  const [previewed, setPreviewed] = useState<PriceTerms | null>(null);
  const preview = (terms: PriceTerms | null) => {
    setPreviewed(terms);
    onPreview(terms !== null);
  };
  const form = useForm<Fields>({
    initialValues: {
      userMarkupPercent: numberText(present.userMarkupPercent),
      merchantMarkupPercent: numberText(present.merchantMarkupPercent),
      ngnIncrementPercent: numberText(present.ngnIncrementPercent),
    },
    validate: {
      userMarkupPercent: percentFault,
      merchantMarkupPercent: percentFault,
      ngnIncrementPercent: percentFault,
    },
    onValuesChange: () => preview(null),
  });
  return (
    <>
      <Section title="Current markups">
        <form onSubmit={form.onSubmit((fields) => preview(termsOf(fields)))} noValidate>
          <Stack>
            <SimpleGrid cols={{ base: 1, sm: 3 }}>
              {TERM_NAMES.map((name) => (
                <NumberField
                  key={name}
                  label={TERMS[name]}
                  rightSection="%"
                  rules={PERCENT}
                  {...form.getInputProps(name)}
                />
              ))}
            </SimpleGrid>
            <Group justify="space-between">
              <Text size="sm">
                Since <Moment at={present.validFrom} />, by {present.by}: {present.reason}
              </Text>
              <Group>
                <Button variant="default" onClick={() => form.reset()} disabled={!form.isDirty()}>
                  Reset
                </Button>
                <Button type="submit" disabled={!form.isDirty()}>
                  Preview
                </Button>
              </Group>
            </Group>
          </Stack>
        </form>
      </Section>
      {previewed && <Preview terms={previewed} onSaved={() => preview(null)} />}
    </>
  );
}

const previewOf = (environment: Environment, terms: PriceTerms, page: number) => ({
  queryKey: ['ops', environment, 'prices', 'preview', terms, page],
  queryFn: () =>
    dataOf(ops.POST('/ops/prices/preview', { params: { query: { environment, page } }, body: terms })),
  // A preview is about this moment.
  ...{ staleTime: 0, gcTime: 0 },
});

const WhatChanges = ({ of }: { readonly of: PricePreview['totals'] }) => (
  <Rows
    label="What changes"
    rows={of}
    columns={{
      For: ({ accountType, currency }) => `${SELLERS[accountType]}, ${currency}`,
      'More expensive': count('dearer'),
      Cheaper: count('cheaper'),
      Unchanged: count('unchanged'),
      Unsellable: count('unsellable'),
      'Below cost': count('belowCost'),
      'Largest increase': percent('largestRisePercent'),
      'Largest decrease': percent('largestFallPercent'),
      'Lowest margin': percent('lowestMarginPercent'),
    }}
  />
);

function Preview({ terms, onSaved }: { readonly terms: PriceTerms; readonly onSaved: () => void }) {
  const environment = useEnvironment();
  const [page, setPage] = useState(1);
  const preview = useQuery({ ...previewOf(environment, terms, page), placeholderData: keepPreviousData });
  const [saving, setSaving] = useState<PricePreview | null>(null);
  return (
    <Section
      title="Preview"
      extra={
        preview.data && (
          <Button
            onClick={() => setSaving(preview.data)}
            loading={preview.isFetching}
            disabled={preview.data.outcome === 'below-cost'}
          >
            Save these prices
          </Button>
        )
      }
    >
      <QueryView query={preview} rows={8}>
        {(found) => (
          <Stack>
            <Text size="sm">
              {found.packages.toLocaleString()} packages and {found.topUps.toLocaleString()} top-ups are on
              sale. Nothing is saved yet.{' '}
              {found.nairaRate !== null && `One US dollar is ${formatRate(found.nairaRate)} NGN.`}
            </Text>
            {found.outcome !== 'set' && (
              <Alert color={OUTCOMES[found.outcome].color}>{OUTCOMES[found.outcome].text}</Alert>
            )}
            {found.nairaRate === null && (
              <Alert color="red">There is no current NGN rate: nothing can be sold in NGN.</Alert>
            )}
            <WhatChanges of={found.totals} />
            <Rows
              label="Packages and top-ups that change most"
              rows={found.items}
              empty="No price changes."
              columns={{
                ...PACKAGE,
                ...COST,
                ...Object.fromEntries(
                  accountTypes.flatMap((accountType) =>
                    currencies.map((currency) => [
                      `${SELLERS[accountType]}, ${currency}`,
                      {
                        number: ({ prices }: PricePreview['items'][number]) => (
                          <Change
                            of={prices.find(
                              (one) => one.accountType === accountType && one.currency === currency,
                            )}
                          />
                        ),
                      },
                    ]),
                  ),
                ),
              }}
            />
            <Pages of={found.pagination} onChange={setPage} />
          </Stack>
        )}
      </QueryView>
      {saving && <SaveDialog preview={saving} onClose={() => setSaving(null)} onSaved={onSaved} />}
    </Section>
  );
}

const OUTCOMES: Record<Exclude<PricePreview['outcome'], 'set'>, { color: string; text: string }> = {
  waits: {
    color: 'yellow',
    text: 'A price moves far from the one that two people agreed on: another person must confirm these markups.',
  },
  'below-cost': {
    color: 'red',
    text: 'Cannot be saved: packages or top-ups would be sold below cost at the agreed exchange rate.',
  },
};

type Proposal = Prices['waiting'][number];

function Waiting({ of }: { readonly of: readonly Proposal[] }) {
  const { email } = useOperator();
  const [chosen, setChosen] = useState<(Proposal & { readonly decision: 'confirm' | 'decline' }) | null>(
    null,
  );
  const environment = useEnvironment();
  if (of.length === 0) return null;
  const submit = (reason: string) =>
    ops.POST(`/ops/prices/{proposalId}/${chosen?.decision ?? 'decline'}`, {
      ...inPath(environment, { proposalId: chosen?.proposalId ?? '' }),
      body: { reason },
    });
  return (
    <Section title="Markups awaiting confirmation">
      <Rows
        label="Markups awaiting confirmation"
        keyOf={({ proposalId }) => proposalId}
        rows={of}
        columns={{
          ...termColumns(),
          By: ({ proposedBy }) => <span className="breakable">{proposedBy}</span>,
          Reason: ({ reason }) => <span className="breakable">{reason}</span>,
          Since: ({ proposedAt }) => <Moment at={proposedAt} />,
          Decide: (proposal) => (
            <DecideProposal
              isOwn={proposal.proposedBy === email}
              yours="Yours: another person confirms them"
              name={`the markups of ${proposal.proposedBy}`}
              onChoose={(decision) => setChosen({ ...proposal, decision })}
            />
          ),
        }}
      />
      {chosen?.decision === 'decline' && (
        <DeclineProposal
          isOwn={chosen.proposedBy === email}
          what="these markups"
          submit={submit}
          onClose={() => setChosen(null)}
        />
      )}
      {chosen?.decision === 'confirm' && (
        <ReasonDialog
          done="Confirmed. Prices use them within a second"
          title="Confirm these markups"
          size="lg"
          onClose={() => setChosen(null)}
          submit={submit}
          label="Confirm and apply"
        >
          <ConfirmEffect of={chosen} />
        </ReasonDialog>
      )}
    </Section>
  );
}

/** What a person confirms: the markups beside the present ones, and what they do to prices. */
function ConfirmEffect({ of }: { readonly of: PriceTerms }) {
  const environment = useEnvironment();
  const { userMarkupPercent, merchantMarkupPercent, ngnIncrementPercent } = of;
  const terms = { userMarkupPercent, merchantMarkupPercent, ngnIncrementPercent };
  const preview = useQuery(previewOf(environment, terms, 1));
  return (
    <QueryView query={preview} rows={4}>
      {({ before, totals }) => (
        <>
          <Alert color="yellow">
            {TERM_NAMES.map((name) => (
              <Text size="sm" key={name}>
                {TERMS[name]}: {formatPercent(before[name])} → {formatPercent(of[name])}
              </Text>
            ))}
          </Alert>
          <WhatChanges of={totals} />
        </>
      )}
    </QueryView>
  );
}

const usd4 = (value: number) => <Amount of={value} currency="USD4" />;

/** Prices of the supplier that a person has to see before they are sold. */
function HeldPrices() {
  const held = useOps('/ops/supplier-prices', {});
  const environment = useEnvironment();
  const [chosen, setChosen] = useState<HeldPrice | null>(null);
  if (!held.data || held.data.items.length === 0) return null;
  const submit = (reason: string) =>
    ops.POST('/ops/supplier-prices/{holdId}/confirm', {
      ...inPath(environment, { holdId: chosen?.holdId ?? '' }),
      body: { reason },
    });
  return (
    <Section title="Supplier prices awaiting confirmation">
      <Text size="sm" mb="xs">
        The supplier lists prices far from the last ones. Until you confirm one, the last price counts.
      </Text>
      <Rows
        label="Supplier prices awaiting confirmation"
        keyOf={({ holdId }) => holdId}
        rows={held.data.items}
        columns={{
          ...PACKAGE,
          'Last cost': { amount: ({ costUsd }) => usd4(costUsd) },
          'New cost': { amount: ({ heldCostUsd }) => usd4(heldCostUsd) },
          Change: { number: ({ changePercent }) => percentOr(changePercent) },
          Since: ({ since }) => <Moment at={since} />,
          Confirm: (one) => (
            <Button
              size="compact-sm"
              variant="default"
              onClick={() => setChosen(one)}
              aria-label={`Confirm the cost of ${one.packageCode}`}
            >
              Confirm
            </Button>
          ),
        }}
      />
      {chosen && (
        <ReasonDialog
          done="Confirmed. Prices use it within a second"
          title="Confirm the cost"
          onClose={() => setChosen(null)}
          submit={submit}
          label="Confirm the cost"
        >
          <Alert color="yellow">
            {chosen.packageCode}: {usd4(chosen.costUsd)} → {usd4(chosen.heldCostUsd)}. The package is sold at
            the new cost within a second.
          </Alert>
        </ReasonDialog>
      )}
    </Section>
  );
}

const percentOr = (value: number | null): string => (value === null ? '–' : formatPercent(value));

type Total = PricePreview['totals'][number];

const count = (name: 'dearer' | 'cheaper' | 'unchanged' | 'unsellable' | 'belowCost') => ({
  number: (total: Total) => total[name].toLocaleString(),
});
const percent = (name: 'largestRisePercent' | 'largestFallPercent' | 'lowestMarginPercent') => ({
  number: (total: Total) => percentOr(total[name]),
});

function Change({ of }: { readonly of: Price | undefined }) {
  if (!of || of.after === null) return <span>–</span>;
  if (of.before === null || of.before === of.after) return <Amount of={of.after} currency={of.currency} />;
  return (
    <>
      <Text size="sm" className="amount">
        {formatAmount(of.before, of.currency)} →
      </Text>
      <Amount of={of.after} currency={of.currency} />
      <Text size="sm">{percentOr(of.changePercent)}</Text>
    </>
  );
}

function SaveDialog({
  preview,
  onClose,
  onSaved,
}: Dialog & { readonly preview: PricePreview; readonly onSaved: () => void }) {
  const environment = useEnvironment();
  const { version, before, after, totals } = preview;
  const waiting = useMarkups(1).data?.waiting.length ?? 0;
  const submit = async (reason: string) => {
    const body = { version, ...after, reason };
    await ops.POST('/ops/prices', { params: { query: { environment } }, body });
    onSaved();
  };
  const worst = totals.filter(({ belowCost, unsellable }) => belowCost + unsellable > 0);
  return (
    <ReasonDialog
      done={
        preview.outcome === 'waits'
          ? 'Another person must confirm them'
          : 'Saved. Prices use it within a second'
      }
      title="Save these prices"
      onClose={onClose}
      submit={submit}
      label={preview.outcome === 'waits' ? 'Ask for confirmation' : 'Save and apply'}
    >
      <Alert color="yellow">
        {TERM_NAMES.filter((name) => before[name] !== after[name]).map((name) => (
          <Text size="sm" key={name}>
            {TERMS[name]}: {formatPercent(before[name])} → {formatPercent(after[name])}
          </Text>
        ))}
        <Text size="sm">
          {preview.outcome === 'waits'
            ? OUTCOMES.waits.text
            : 'All packages and top-ups have the new prices within a second. Open purchases keep theirs.'}
        </Text>
        {preview.outcome === 'set' && waiting > 0 && (
          <Text size="sm">Markups that await confirmation end with it: {waiting.toLocaleString()}.</Text>
        )}
      </Alert>
      {worst.map(({ accountType, currency, belowCost, unsellable }) => (
        <Alert color="red" key={`${accountType} ${currency}`}>
          {SELLERS[accountType]}, {currency}: {belowCost.toLocaleString()} below cost,{' '}
          {unsellable.toLocaleString()} unsellable.
        </Alert>
      ))}
    </ReasonDialog>
  );
}

function History() {
  const [page, setPage] = useState(1);
  const history = useMarkups(page);
  return (
    <Section title="History">
      <PagedRows
        countsNone
        query={history}
        onPage={setPage}
        label="Markups, newest first"
        empty="No markups are set."
        columns={{
          From: ({ validFrom }) => <Moment at={validFrom} />,
          ...termColumns(),
          By: ({ by }) => <span className="breakable">{by}</span>,
          Reason: ({ reason }) => <span className="breakable">{reason}</span>,
          'Confirmed by': ({ confirmedBy }) => (
            <span className="breakable">{confirmedBy ?? 'Not needed'}</span>
          ),
        }}
      />
    </Section>
  );
}
