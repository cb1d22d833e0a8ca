import {
  Alert,
  Button,
  Code,
  FileInput,
  Group,
  List,
  Modal,
  NativeSelect,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { batchRequestRowsLanguage } from 'simway-client/generated/api-lists.ts';
import { api, readApi, type ApiSchemas, Refusal, dataOf } from '../api/client.ts';
import { ConfirmButton } from '../ui/dialogs.tsx';
import { DownloadCsv, DownloadFile } from '../ui/download-csv.tsx';
import { formatAmount } from '../ui/format.ts';
import { JobProgress } from '../ui/job-progress.tsx';
import { Amount, Empty, QueryView, Id, Moment, Pages, Section, Status, Facts, Page } from '../ui/parts.tsx';
import { amount, Rows, PagedRows } from '../ui/rows.tsx';
import { SendForm, useSending } from '../ui/send-form.tsx';
import { useOnce } from '../ui/use-once.ts';
import { decodeFile } from '../ui/spreadsheet.ts';
import { FAILURES, wordOf } from '../ui/words.ts';
import {
  BATCH_COLUMNS,
  faultsOfRefusal,
  readBatchFile,
  withRow,
  type BatchRow,
  type LineFault,
  type ReadFile,
  type ReadRow,
} from './csv-rows.ts';
import { ItemLink } from './item-link.tsx';
import { useMembership, useRead, useReads } from './place.ts';

const MAX_FAULTS_SHOWN = 20;
const RUNNING_EVERY_MS = 1_000;
const SCHEDULED_EVERY_MS = 10_000;
const NO_EMAILS = 'this service sends no e-mails to travellers: leave the e-mail address empty';

export function BatchesPage() {
  const { may } = useMembership();
  const [page, setPage] = useState(1);
  const query = useRead('/api/esim/orders/batch', { query: { page, limit: 20 } }, { keepsOld: true });
  return (
    <Page
      title="Batches"
      about="Up to 500 eSIMs from one file. Each row of a batch is bought exactly once; the same file chosen again is another batch."
    >
      {may('purchase') ? <FromFile /> : <Empty>Your role cannot buy. Owners and developers can.</Empty>}
      <Section title="Earlier batches">
        <PagedRows
          label="Batches"
          query={query}
          onPage={setPage}
          empty="No batches yet. Choose a file above: the template has the columns."
          columns={{
            When: ({ createdAt }) => <Moment at={createdAt} />,
            Batch: ({ batchId, counts }) => (
              <ItemLink kind="batch" id={batchId}>
                {counts.rows} rows
              </ItemLink>
            ),
            Status: ({ status }) => <Status>{status}</Status>,
            Delivered: { number: ({ counts }) => counts.succeeded },
            Failed: { number: ({ counts }) => counts.failed },
            'Price of all rows': amount('totalPrice'),
          }}
        />
      </Section>
    </Page>
  );
}

function FromFile() {
  const [chosen, setChosen] = useState<ReadFile>();
  const [choices, setChoices] = useState(0);
  const choose = async (file: File | null) => {
    setChosen(file ? await readFile(file) : undefined);
    setChoices((before) => before + 1);
  };
  return (
    <Section
      title="Order from a file"
      extra={<DownloadCsv name="batch-template.csv" label="Download a template" read={template} />}
    >
      <Stack>
        <FileInput
          label="CSV file"
          description={
            <>
              The first line names the columns: <Code>reference</Code>, <Code>packageCode</Code>, and
              optionally <Code>email</Code>, <Code>sendAt</Code>, <Code>language</Code>
            </>
          }
          placeholder="Choose a file"
          accept=".csv,.tsv,.txt,text/csv"
          clearable
          clearButtonProps={{ 'aria-label': 'Remove the file' }}
          onChange={(file) => void choose(file)}
        />
        {chosen && <Priced key={choices} of={chosen} onChange={setChosen} />}
      </Stack>
    </Section>
  );
}

const template = () => Promise.resolve({ data: new Blob([`${BATCH_COLUMNS.join(',')}\r\n`]) });

async function readFile(file: File): Promise<ReadFile> {
  const text = decodeFile(new Uint8Array(await file.arrayBuffer()));
  if (text !== undefined) return readBatchFile(text, batchRequestRowsLanguage);
  return { rows: [], faults: [{ line: 1, text: 'this is a workbook: save it as “CSV UTF-8” first' }] };
}

function Faults({ of: faults }: { readonly of: readonly LineFault[] }) {
  return (
    <Alert
      color="red"
      title="Nothing was ordered. Correct these lines below, or in the file and choose it again:"
      role="alert"
    >
      <List size="sm">
        {faults.slice(0, MAX_FAULTS_SHOWN).map(({ line, text }) => (
          <List.Item key={`${String(line)} ${text}`}>
            Line {line}: {text}
          </List.Item>
        ))}
      </List>
      {faults.length > MAX_FAULTS_SHOWN && (
        <Text size="sm">and {faults.length - MAX_FAULTS_SHOWN} more, in the table below</Text>
      )}
    </Alert>
  );
}

interface FileOfRows {
  readonly of: ReadFile;
  readonly onChange: (changed: ReadFile) => void;
}

function Priced({ of: { rows, faults }, onChange }: FileOfRows) {
  const change = (line: number, row: ReadRow | undefined) =>
    onChange(withRow({ rows }, line, row, batchRequestRowsLanguage));
  if (rows.length === 0 && faults.length === 0)
    return <Empty>No rows are left. Choose the file again.</Empty>;
  return (
    <PricedRows {...{ rows, faults, change }} onFaults={(refused) => onChange({ rows, faults: refused })} />
  );
}

interface PricedProps {
  readonly rows: ReadFile['rows'];
  readonly faults: ReadFile['faults'];
  readonly change: (line: number, row: ReadRow | undefined) => void;
  readonly onFaults: (faults: readonly LineFault[]) => void;
}

function PricedRows({ rows, faults, change, onFaults }: PricedProps) {
  const { currency } = useMembership();
  const codes = [...new Set(rows.flatMap(({ row }) => row.packageCode ?? []))].toSorted();
  const query = useReads(['batch-prices', codes], async () => {
    const { sendsTravellerEmails } = await readApi('/account', {});
    const { balance } = await readApi('/api/wallet/balance', {});
    return { prices: await pricesOf(codes, currency), sendsTravellerEmails, balance };
  });
  return (
    <QueryView query={query} rows={1}>
      {({ prices, sendsTravellerEmails, balance }) => {
        const priceOf = ({ packageCode }: ReadRow) => prices[packageCode ?? ''];
        const unknown = rows
          .filter(({ row }) => row.packageCode !== undefined && priceOf(row) === undefined)
          .map(({ line, row }) => ({ line, text: `“${String(row.packageCode)}” is not on sale` }));
        const unsent = rows
          .filter(({ row }) => row.email !== undefined && !sendsTravellerEmails)
          .map(({ line }) => ({ line, text: NO_EMAILS }));
        const all = [...faults, ...unknown, ...unsent].toSorted((one, other) => one.line - other.line);
        const total = roundToCents(rows.reduce((sum, { row }) => sum + (priceOf(row) ?? 0), 0));
        return (
          <>
            {all.length > 0 && <Faults of={all} />}
            {rows.length > 0 && (
              <Rows
                label="Rows of the file"
                rows={rows}
                keyOf={({ line }) => String(line)}
                columns={{
                  Line: { number: ({ line }) => line },
                  Reference: ({ row }) => row.reference,
                  Package: ({ row }) => row.packageCode,
                  'E-mail': ({ row }) => row.email,
                  'Send at': ({ row }) => row.sendAt,
                  Language: ({ row }) => row.language,
                  Price: { amount: ({ row }) => <Amount of={priceOf(row) ?? null} currency={currency} /> },
                  'To correct': ({ line }) =>
                    all
                      .filter((fault) => fault.line === line)
                      .map(({ text }) => text)
                      .join('; '),
                  Change: ({ line, row }) => (
                    <Group gap="xs" wrap="nowrap">
                      <EditRow line={line} row={row} onSave={(edited) => change(line, edited)} />
                      <Button
                        size="compact-sm"
                        variant="subtle"
                        color="red"
                        aria-label={`Remove line ${String(line)}`}
                        onClick={() => change(line, undefined)}
                      >
                        Remove
                      </Button>
                    </Group>
                  ),
                }}
              />
            )}
            {all.length === 0 && (
              <Order
                rows={rows}
                onFaults={onFaults}
                totalPrice={{ amount: total, currency }}
                balance={balance}
              />
            )}
          </>
        );
      }}
    </QueryView>
  );
}

const roundToCents = (amount: number): number => Math.round(amount * 100) / 100;

/** By package code. What is not on sale is left out. */
async function pricesOf(
  codes: readonly string[],
  currency: string,
): Promise<Readonly<Record<string, number>>> {
  const prices: Record<string, number> = {};
  // One by one: a file seldom has more than a few packages, and a person's requests are limited.
  for (const packageCode of codes) {
    try {
      const params = { path: { packageCode }, query: { currency } };
      const { price } = await readApi('/api/esim/packages/{packageCode}', params);
      prices[packageCode] = price;
    } catch (error) {
      if (!(error instanceof Refusal && error.code === 'PACKAGE_NOT_FOUND')) throw error;
    }
  }
  return prices;
}

function EditRow({
  line,
  row,
  onSave,
}: {
  readonly line: number;
  readonly row: ReadRow;
  readonly onSave: (row: ReadRow) => void;
}) {
  const [isOpen, { open, close }] = useDisclosure(false);
  const save = (edited: ReadRow) => {
    close();
    onSave(edited);
  };
  return (
    <>
      <Button size="compact-sm" variant="subtle" aria-label={`Edit line ${String(line)}`} onClick={open}>
        Edit
      </Button>
      <Modal opened={isOpen} onClose={close} title={`Edit line ${String(line)}`}>
        <RowForm row={row} onSave={save} onBack={close} />
      </Modal>
    </>
  );
}

function RowForm({
  row,
  onSave,
  onBack,
}: {
  readonly row: ReadRow;
  readonly onSave: (row: ReadRow) => void;
  readonly onBack: () => void;
}) {
  const empty = { reference: '', packageCode: '', email: '', sendAt: '', language: '' };
  const form = useForm({ initialValues: { ...empty, ...row } });
  const sending = useSending(form, (fields) => Promise.resolve(rowOf(fields)), onSave);
  return (
    <SendForm sending={sending} label="Save" at="flex-end" onBack={onBack}>
      <TextInput label="Reference" data-autofocus {...form.getInputProps('reference')} />
      <TextInput label="Package code" {...form.getInputProps('packageCode')} />
      <TextInput label="E-mail" {...form.getInputProps('email')} />
      <TextInput
        label="Send at"
        description="Such as 2026-01-31T09:30:00Z; empty: at delivery"
        {...form.getInputProps('sendAt')}
      />
      <NativeSelect
        label="Language"
        data={[{ value: '', label: '–' }, ...batchRequestRowsLanguage]}
        {...form.getInputProps('language')}
      />
    </SendForm>
  );
}

/** Without what is empty. */
const rowOf = (fields: Readonly<Record<string, string>>): ReadRow =>
  Object.fromEntries(
    Object.entries(fields)
      .map(([name, text]) => [name, text.trim()])
      .filter(([, text]) => text !== ''),
  ) as ReadRow;

function Order({
  rows,
  onFaults,
  totalPrice,
  balance,
}: Pick<PricedProps, 'rows' | 'onFaults'> & {
  readonly totalPrice: NonNullable<ApiSchemas['BatchRequest']['maxTotalPrice']>;
  readonly balance: number;
}) {
  const isPayable = totalPrice.amount <= balance;
  const navigate = useNavigate({ from: '/m/$accountId/$environment' });
  const once = useOnce<ApiSchemas['BatchRequest']>();
  const [startAt, setStartAt] = useState('');
  const isLater = startAt !== '';
  const what = rows.length === 1 ? '1 eSIM' : `${String(rows.length)} eSIMs`;
  const price = formatAmount(totalPrice.amount, totalPrice.currency);
  const order = async () => {
    try {
      const { batchId } = await once.send(
        {
          rows: rows.map(({ row }) => row as BatchRow),
          maxTotalPrice: totalPrice,
          ...(isLater && { startAt: new Date(startAt).toISOString() }),
        },
        (key, body) =>
          dataOf(
            api.POST('/api/esim/orders/batch', { params: { header: { 'Idempotency-Key': key } }, body }),
          ),
      );
      await navigate({ to: '/m/$accountId/$environment/batches/$batchId', params: { batchId } });
    } catch (error) {
      const faults = error instanceof Refusal ? faultsOfRefusal(error.byField(), rows) : [];
      if (faults.length === 0) throw error;
      onFaults(faults);
    }
  };
  return (
    <Group align="flex-end">
      <TextInput
        type="datetime-local"
        label="Buy at"
        description="Empty: now. Your time zone"
        value={startAt}
        onChange={({ currentTarget }) => setStartAt(currentTarget.value)}
      />
      {!isLater && !isPayable && (
        <Alert color="red" title="Fund the wallet first, or buy later." role="alert">
          The rows cost {price}, the wallet has {formatAmount(balance, totalPrice.currency)}.
        </Alert>
      )}
      <ConfirmButton
        label={isLater ? `Schedule ${what} for up to ${price}` : `Order ${what} for ${price}`}
        buttonProps={{ size: 'sm', variant: 'filled', color: 'blue', disabled: !isLater && !isPayable }}
        title={isLater ? `Schedule ${what}` : `Order ${what}`}
        confirmLabel={isLater ? 'Schedule' : `Pay ${price} from the wallet`}
        color="blue"
        act={order}
      >
        <Text size="sm">
          {isLater
            ? `All ${what} together cost ${price} today. They are bought at the prices of that time. If they cost more than today, or more than the wallet has then, nothing is bought.`
            : `All ${what} together cost ${price}.`}
        </Text>
      </ConfirmButton>
    </Group>
  );
}

export function BatchPage() {
  const { batchId } = useParams({ from: '/m/$accountId/$environment/batches/$batchId' });
  const { may } = useMembership();
  const [page, setPage] = useState(1);
  const query = useRead(
    '/api/esim/orders/batch/{batchId}',
    { path: { batchId }, query: { page, limit: 50 } },
    {
      keepsOld: true,
      everyMs: (batch) =>
        (batch?.status === 'PROCESSING' && RUNNING_EVERY_MS) ||
        (batch?.status === 'SCHEDULED' && SCHEDULED_EVERY_MS),
    },
  );
  return (
    <Page
      title="Batch"
      extra={
        <Group gap="xs">
          {may('install') && (
            <DownloadFile
              name={`${batchId}.html`}
              label="Download sheets to print"
              read={() => readSheets(batchId)}
            />
          )}
          <DownloadCsv name={`${batchId}.csv`} read={() => readCsv(batchId)} />
        </Group>
      }
    >
      <QueryView query={query}>
        {({ status, cancelReason, startAt, counts, totalPrice, currency, items, pagination }) => (
          <>
            <Section
              title="Progress"
              extra={status === 'SCHEDULED' && may('purchase') && <CancelBatch batchId={batchId} />}
            >
              <JobProgress
                rows={counts.rows}
                parts={[
                  { count: counts.succeeded, color: 'green' },
                  { count: counts.failed, color: 'red' },
                ]}
                line={`${String(counts.succeeded + counts.failed)} of ${String(counts.rows)} rows are finished`}
              />
              <Facts
                of={{
                  Batch: <Id>{batchId}</Id>,
                  Status: <Status>{status}</Status>,
                  'Cancelled because': cancelReason !== '' && CANCEL_REASONS[cancelReason],
                  [status === 'SCHEDULED' ? 'Will be bought at' : 'Bought at']: startAt !== '' && (
                    <Moment at={startAt} />
                  ),
                  Rows: String(counts.rows),
                  Delivered: String(counts.succeeded),
                  Failed: String(counts.failed),
                  Open: String(counts.queued + counts.processing),
                  'Price of all rows': <Amount of={totalPrice} currency={currency} />,
                }}
              />
            </Section>
            <Rows
              label="Rows of the batch"
              rows={items}
              columns={{
                // As people count, and as the CSV does.
                Row: { number: ({ row }) => row + 1 },
                Reference: ({ reference }) => reference,
                Package: ({ packageCode }) => packageCode,
                Status: (row) => <Status>{row.status}</Status>,
                ICCID: ({ iccid }) => (iccid === '' ? '–' : <Id>{iccid}</Id>),
                Reason: ({ reason }) => wordOf(FAILURES, reason),
                eSIM: ({ esimId }) =>
                  esimId === '' ? (
                    '–'
                  ) : (
                    <ItemLink kind="esim" id={esimId}>
                      Open
                    </ItemLink>
                  ),
                'E-mail': ({ email, emailStatus }) => [email, emailStatus].join(' ').trim(),
              }}
            />
            <Pages of={pagination} onChange={setPage} />
          </>
        )}
      </QueryView>
    </Page>
  );
}

const CANCEL_REASONS: Record<Exclude<ApiSchemas['Batch']['cancelReason'], ''>, string> = {
  CANCELLED: 'Somebody cancelled it',
  CALLER_NOT_ALLOWED: 'Who ordered it may not buy any more',
  INSUFFICIENT_BALANCE: 'The wallet had less than the rows cost',
  PRICE_ABOVE_MAX: 'The rows cost more than the limit of the order',
  KEY_BUDGET_EXCEEDED: 'The rows cost more than the key may spend',
  NOT_STARTED_IN_TIME: 'It could not be priced for a day',
};

function CancelBatch({ batchId }: { readonly batchId: string }) {
  return (
    <ConfirmButton
      label="Cancel the batch"
      title="Cancel the batch"
      confirmLabel="Cancel it"
      act={() =>
        dataOf(api.POST('/api/esim/orders/batch/{batchId}/cancel', { params: { path: { batchId } } }))
      }
    >
      <Text size="sm">Nothing of it is bought. To change it, order the changed rows as another batch.</Text>
    </ConfirmButton>
  );
}

const readSheets = (batchId: string) =>
  api.GET('/api/esim/orders/batch/{batchId}/sheets', { params: { path: { batchId } }, parseAs: 'blob' });

const readCsv = (batchId: string) =>
  api.GET('/api/esim/orders/batch/{batchId}/csv', { params: { path: { batchId } }, parseAs: 'blob' });
