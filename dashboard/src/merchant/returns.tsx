import { FileInput, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { listReturnsState } from 'simway-client/generated/api-lists.ts';
import { WIDTHS } from '../app/theme.ts';
import { api, dataOf, type ApiSchemas } from '../api/client.ts';
import { ConfirmButton } from '../ui/dialogs.tsx';
import { ChoiceField } from '../ui/filters.tsx';
import { formatAmount } from '../ui/format.ts';
import {
  Empty,
  Facts,
  LinkButton,
  Moment,
  Page,
  QuerySection,
  Section,
  ShortId,
  Status,
} from '../ui/parts.tsx';
import { amount, PagedRows, Rows } from '../ui/rows.tsx';
import { decodeFile } from '../ui/spreadsheet.ts';
import { useOnce } from '../ui/use-once.ts';
import { ItemLink } from './item-link.tsx';
import { useMembership, useRead } from './place.ts';

type ReturnState = ApiSchemas['Return']['state'];
type Refusal = NonNullable<ApiSchemas['ReturnLine']['refusal']>;

const STATES: Readonly<Record<ReturnState, { readonly label: string; readonly color: string }>> = {
  PENDING: { label: 'Supplier is asked', color: 'yellow' },
  NEEDS_REVIEW: { label: 'We look at it', color: 'orange' },
  REFUNDING: { label: 'Money on its way', color: 'blue' },
  RETURNED: { label: 'Returned', color: 'green' },
  REFUSED: { label: 'Refused', color: 'red' },
};

const REFUSALS: Readonly<Record<Refusal, string>> = {
  NOT_ALLOWED: 'Your account cannot return eSIMs',
  NOT_DELIVERED: 'It is not delivered',
  WINDOW_OVER: 'The time for returns is over',
  IN_PROGRESS: 'A return of it is open',
  ALREADY_RETURNED: 'It was returned before',
  REPLACED: 'It was replaced, or a replacement of it is open',
  NOT_UNUSED: 'It is installed, or was',
  EXPIRED: 'It has expired',
  CANCELLED: 'It is cancelled',
  HAS_TOP_UPS: 'It was topped up',
  PAYMENT_DISPUTED: 'A bank disputes its payment, or has taken it back',
  TOO_OFTEN: 'It was refused 5 times within an hour: ask again later',
  SUPPLIER_REFUSED: 'The supplier does not take it back',
  REFUSED_BY_OPERATOR: 'We have refused it',
  NOT_FOUND: 'It is not an eSIM of yours',
};

const ASKED_EVERY_MS = 3_000;

const TO = { SOURCE: 'to where it was paid from', WALLET: 'into your wallet' } as const;

const State = ({ children }: { readonly children: ReturnState }) => (
  <Status color={STATES[children].color}>{STATES[children].label}</Status>
);

/** On the page of an eSIM: what a return gives back, until when, and the button. */
export function ReturnSection({ esimId }: { readonly esimId: string }) {
  const query = useRead('/api/esim/{esimId}/return-terms', { path: { esimId } });
  const { may } = useMembership();
  const once = useOnce<object>();
  const giveBack = () =>
    once.send({}, (key, body) =>
      dataOf(
        api.POST('/api/esim/{esimId}/returns', {
          params: { path: { esimId }, header: { 'Idempotency-Key': key } },
          body,
        }),
      ),
    );
  return (
    <QuerySection title="Return" query={query} rows={2}>
      {({ returnable, refusal, returnableUntil, amount: back, fee, currency, refundTo }) =>
        returnable ? (
          <Stack>
            <Facts
              of={{
                'You get back': `${formatAmount(back, currency)}, ${TO[refundTo]}`,
                Fee: formatAmount(fee, currency),
                'Can be returned until': returnableUntil !== null && <Moment at={returnableUntil} />,
              }}
            />
            {may('purchase') && (
              <Group>
                <ConfirmButton
                  label="Return this eSIM"
                  title="Return this eSIM"
                  confirmLabel="Return it"
                  act={giveBack}
                >
                  <Text size="sm">
                    The supplier cancels the eSIM if it is unused. Nobody can install it then. You get{' '}
                    {formatAmount(back, currency)} back. This cannot be undone.
                  </Text>
                </ConfirmButton>
              </Group>
            )}
          </Stack>
        ) : (
          <Text c="dimmed">Cannot be returned: {refusal === null ? '' : REFUSALS[refusal]}.</Text>
        )
      }
    </QuerySection>
  );
}

const ToEsims = () => (
  <LinkButton variant="default" to="/m/$accountId/$environment/esims">
    Show the eSIMs
  </LinkButton>
);

export function ReturnsPage() {
  const { may } = useMembership();
  const [page, setPage] = useState(1);
  const [state, setState] = useState<ReturnState | null>(null);
  const query = useRead(
    '/api/esim/returns',
    { query: { page, limit: 20, ...(state && { state }) } },
    { everyMs: (found) => found?.items.some(isAsked) === true && ASKED_EVERY_MS, keepsOld: true },
  );
  return (
    <Page
      title="Returns"
      about="Unused eSIMs that you give back. The supplier is asked at that moment, and cancels them; then their money goes back."
    >
      {may('purchase') && <FromFile />}
      <Section title="All returns">
        <Stack>
          <Group className="filters">
            <ChoiceField
              label="State"
              data={listReturnsState}
              value={state ?? undefined}
              onChange={(next) => {
                setPage(1);
                setState(listReturnsState.find((one) => one === next) ?? null);
              }}
            />
          </Group>
          <PagedRows
            label="Returns"
            query={query}
            onPage={setPage}
            empty={
              state
                ? 'No results.'
                : 'No returns yet. An unused eSIM is returned on its own page, or with others from a file.'
            }
            emptyAction={!state && <ToEsims />}
            columns={{
              When: ({ createdAt }) => <Moment at={createdAt} />,
              eSIM: ({ esimId }) => (
                <ItemLink kind="esim" id={esimId}>
                  <ShortId>{esimId}</ShortId>
                </ItemLink>
              ),
              State: ({ state: stands }) => <State>{stands}</State>,
              'Back to you': amount('amount'),
              Fee: amount('fee'),
              Note: ({ refusal, reason }) => (refusal === null ? (reason ?? '–') : REFUSALS[refusal]),
            }}
          />
        </Stack>
      </Section>
    </Page>
  );
}

const isAsked = ({ state }: { readonly state: ReturnState | null }): boolean => state === 'PENDING';

/** How each eSIM of a file stands, read again while the supplier is asked about one. */
function Lines({ of: lines }: { readonly of: readonly ApiSchemas['ReturnLine'][] }) {
  const { data } = useRead(
    '/api/esim/returns',
    { query: { page: 1, limit: MAX_AT_ONCE } },
    { everyMs: (found) => lines.some(isAsked) && found?.items.some(isAsked) !== false && ASKED_EVERY_MS },
  );
  const states = new Map(data?.items.map(({ returnId, state, refusal }) => [returnId, { state, refusal }]));
  return (
    <Rows
      label="What became of each"
      rows={lines.map((line) => ({ ...line, ...states.get(line.returnId ?? '') }))}
      keyOf={({ esimId }) => esimId}
      empty="Nothing was returned."
      columns={{
        eSIM: ({ esimId }) => (
          <ItemLink kind="esim" id={esimId}>
            <ShortId>{esimId}</ShortId>
          </ItemLink>
        ),
        State: ({ state, refusal }) =>
          state === null ? refusal === null ? '–' : REFUSALS[refusal] : <State>{state}</State>,
      }}
    />
  );
}

const ESIM_ID = /\besim-[0-9a-f]{32}\b/g;
/** As the API takes them. */
const MAX_AT_ONCE = 100;

/** Any file that names eSIMs, such as the CSV of a batch: each id is found, once. */
function FromFile() {
  const [esimIds, setEsimIds] = useState<readonly string[] | undefined>();
  const [lines, setLines] = useState<ApiSchemas['ReturnLine'][] | undefined>();
  const once = useOnce<ApiSchemas['ReturnsRequest']>();
  const read = async (file: File | null) => {
    const text = file && decodeFile(new Uint8Array(await file.arrayBuffer()));
    setLines(undefined);
    setEsimIds(text == null ? undefined : [...new Set(text.match(ESIM_ID))]);
  };
  const giveBack = async (ids: readonly string[]) => {
    const { items } = await once.send({ esimIds: [...ids] }, (key, body) =>
      dataOf(api.POST('/api/esim/returns', { params: { header: { 'Idempotency-Key': key } }, body })),
    );
    setLines(items);
  };
  return (
    <Section title="Return many from a file">
      <Stack>
        <FileInput
          label="CSV file"
          description={`Any file with eSIM ids (esim-…), such as the CSV of a batch: at most ${String(MAX_AT_ONCE)} of them.`}
          placeholder="Choose a file"
          accept=".csv,text/csv"
          maw={WIDTHS.form}
          onChange={(file) => void read(file)}
          clearable
        />
        {esimIds !== undefined && lines === undefined && <Preview ids={esimIds} giveBack={giveBack} />}
        {lines !== undefined && <Lines of={lines} />}
      </Stack>
    </Section>
  );
}

function Preview({
  ids,
  giveBack,
}: {
  readonly ids: readonly string[];
  readonly giveBack: (ids: readonly string[]) => Promise<void>;
}) {
  if (ids.length === 0)
    return (
      <Empty>
        No eSIM id is in this file. It begins with esim- and is on the page of each eSIM; an ICCID is none.
      </Empty>
    );
  if (ids.length > MAX_AT_ONCE)
    return (
      <Empty>
        {ids.length} eSIMs are in this file: at most {MAX_AT_ONCE} at once.
      </Empty>
    );
  const what = ids.length === 1 ? '1 eSIM' : `${String(ids.length)} eSIMs`;
  return (
    <Stack>
      <Rows
        label="eSIMs in this file"
        rows={ids}
        keyOf={(id) => id}
        empty=""
        columns={{ eSIM: (id) => <ItemLink kind="esim" id={id} /> }}
      />
      <Group>
        <ConfirmButton
          label={`Return ${what}`}
          title={`Return ${what}`}
          confirmLabel={`Return ${what}`}
          act={() => giveBack(ids)}
        >
          <Text size="sm">
            Each that is unused is cancelled, and its money goes back. The others stay as they are. This
            cannot be undone.
          </Text>
        </ConfirmButton>
      </Group>
    </Stack>
  );
}
