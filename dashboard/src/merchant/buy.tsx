import { Alert, Anchor, Button, Group, Image, Radio, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { api, type ApiSchemas, bodyOf } from '../api/client.ts';
import { ConfirmDialog } from '../ui/dialogs.tsx';
import { formatAmount, formatBytes } from '../ui/format.ts';
import {
  LinkButton,
  PageLink,
  Amount,
  Id,
  QueryView,
  Failed,
  PageHead,
  Section,
  Status,
  Facts,
  QuerySection,
  Copy,
} from '../ui/parts.tsx';
import { useOnce } from '../ui/use-once.ts';
import { isTopUpCode, METHOD_CHOICES } from './filters.ts';
import { PAYMENT_METHODS, type PaymentMethod } from '../ui/words.ts';
import { ItemLink } from './item-link.tsx';
import { useMembership, usePlace, useRead } from './place.ts';
import { esimIn, PayHere, useTransaction } from './purchases.tsx';

export function BuyPage() {
  const { packageCode } = useParams({ from: '/m/$accountId/$environment/catalogue/$packageCode' });
  const { currency } = useMembership();
  const query = useRead('/api/esim/packages/{packageCode}', { path: { packageCode }, query: { currency } });
  return (
    <Stack>
      <QueryView query={query}>
        {(one) => (
          <>
            <PageHead title={one.name} about={one.description === one.name ? undefined : one.description} />
            <Section title="Package">
              <Facts
                of={{
                  Code: <Id>{packageCode}</Id>,
                  Price: <Amount of={one.price} currency={one.currencyCode} />,
                  Data: formatBytes(one.volume),
                  'Valid for': `${String(one.duration)} ${one.durationUnit.toLowerCase()}s from first use`,
                  'First use within': `${String(one.unusedValidTime)} days`,
                  Speed: one.speed,
                  'Works in': one.locationNetworkList.map(({ locationName }) => locationName).join(', '),
                }}
              />
            </Section>
            {isTopUpCode(packageCode) ? (
              <Text size="sm">
                This is a top-up. Buy it on the page of an eSIM in use:{' '}
                <PageLink to="/m/$accountId/$environment/esims">eSIMs</PageLink>
              </Text>
            ) : (
              <Purchase
                packageCode={packageCode}
                name={one.name}
                packageType="BASE"
                price={{ amount: one.price, currency: one.currencyCode }}
              />
            )}
          </>
        )}
      </QueryView>
    </Stack>
  );
}

/** Buys once, however often the button is pressed, and never above the price that is shown. */
export function Purchase({
  packageCode,
  name,
  packageType,
  price,
  esimId,
}: {
  readonly packageCode: string;
  readonly name: string;
  readonly packageType: 'BASE' | 'TOPUP';
  readonly price: { readonly amount: number; readonly currency: string };
  readonly esimId?: string;
}) {
  const { may } = useMembership();
  const { environment } = usePlace();
  const [isAsking, { open: askFirst, close }] = useDisclosure(false);
  const [method, setMethod] = useState<PaymentMethod>('WALLET');
  const once = useOnce<ApiSchemas['BuyRequest']>();
  const buying = useMutation({
    mutationFn: () =>
      once.send(
        {
          packageCode,
          packageType,
          paymentMethod: method,
          maxPrice: price.amount,
          maxPriceCurrency: price.currency,
          ...(esimId === undefined ? {} : { esimId }),
        },
        (key, body) =>
          bodyOf(api.POST('/api/esim/buy', { params: { header: { 'Idempotency-Key': key } }, body })),
      ),
  });
  const startAnew = () => {
    once.renew();
    buying.reset();
  };
  if (!may('purchase'))
    return <Text c="dimmed">Your role does not allow buying. Ask an owner or a developer.</Text>;
  if (buying.data)
    return (
      <>
        <Bought transactionId={buying.data.transactionId} words={AFTERWARDS[packageType]} />
        <Group>
          <Button variant="default" onClick={startAnew}>
            {AFTERWARDS[packageType].again}
          </Button>
        </Group>
      </>
    );
  const verb = packageType === 'BASE' ? 'Buy the eSIM' : 'Top up';
  const shownPrice = formatAmount(price.amount, price.currency);
  return (
    <Section title={packageType === 'BASE' ? 'Buy' : 'Top up'}>
      <Stack>
        <Radio.Group
          label="Pay by"
          value={method}
          onChange={(next) => {
            setMethod(next);
            startAnew();
          }}
        >
          <Group mt="xs">
            {METHOD_CHOICES.map(([value, label]) => (
              <Radio key={value} value={value} label={label} />
            ))}
          </Group>
        </Radio.Group>
        {method === 'WALLET' && <InTheWallet />}
        {buying.error && !isAsking && <Failed error={buying.error} />}
        <Group>
          <Button
            onClick={environment === 'live' ? askFirst : () => buying.mutate()}
            loading={buying.isPending}
          >
            {verb} for {shownPrice}
          </Button>
        </Group>
        <ConfirmDialog
          opened={isAsking}
          onClose={close}
          title={verb}
          confirmLabel={`${verb} for ${shownPrice}`}
          color="blue"
          act={() => buying.mutateAsync()}
        >
          <Text size="sm">
            {name} for {shownPrice}, real money. Paid by: {PAYMENT_METHODS[method]}. A purchase cannot be
            undone.
          </Text>
        </ConfirmDialog>
      </Stack>
    </Section>
  );
}

function InTheWallet() {
  const { data } = useRead('/api/wallet/balance', {});
  if (!data) return null;
  return (
    <Text size="sm" c="dimmed">
      In the wallet: <Amount of={data.balance} currency={data.currency} />
    </Text>
  );
}

/** By the type of the package, once it is ordered. */
const AFTERWARDS = {
  BASE: {
    title: 'Your purchase',
    again: 'Buy another',
    paid: 'Paid. The eSIM is being prepared.',
    delivered: undefined,
    failed: 'The purchase failed. Anything that was paid is refunded.',
  },
  TOPUP: {
    title: 'Your top-up',
    again: 'Top up again',
    paid: 'Paid. The data is being added to the eSIM.',
    delivered: 'The data was added to the eSIM.',
    failed: 'The top-up failed. Anything that was paid is refunded.',
  },
} as const;

function Bought({
  transactionId,
  words,
}: {
  readonly transactionId: string;
  readonly words: (typeof AFTERWARDS)['BASE' | 'TOPUP'];
}) {
  const query = useTransaction(transactionId);
  const esim = query.data && esimIn(query.data);
  return (
    <QuerySection title={words.title} query={query}>
      {(found) => (
        <Stack>
          <Facts
            of={{
              Status: <Status>{found.status}</Status>,
              Reason: found.reason,
              Purchase: <ItemLink kind="purchase" id={transactionId} />,
            }}
          />
          {found.status === 'PENDING' && <PayHere of={found} />}
          {found.status === 'PROCESSING' && (
            <Text size="sm" role="status">
              {words.paid}
            </Text>
          )}
          {found.status === 'SUCCESS' && words.delivered !== undefined && (
            <Text size="sm" role="status">
              {words.delivered}
            </Text>
          )}
          {found.status === 'FAILED' && <Alert color="red">{words.failed}</Alert>}
          {found.status === 'SUCCESS' && esim && (
            <Install esimId={esim.esimId}>
              <LinkButton
                variant="default"
                to="/m/$accountId/$environment/esims/$esimId"
                params={{ esimId: esim.esimId }}
              >
                Open the eSIM
              </LinkButton>
            </Install>
          )}
        </Stack>
      )}
    </QuerySection>
  );
}

interface InstallProps {
  readonly esimId: string;
  readonly children?: ReactNode;
}

export function Install(props: InstallProps) {
  const { may } = useMembership();
  if (may('install')) return <InstallDetails {...props} />;
  return (
    <Stack gap="xs" align="flex-start">
      <NoInstallDetails />
      {props.children}
    </Stack>
  );
}

/** Where install details would be. */
export const NoInstallDetails = () => <Text size="sm">Your role does not read install details.</Text>;

function InstallDetails({ esimId, children }: InstallProps) {
  const query = useRead('/api/esim/{esimId}/install', { path: { esimId } });
  return (
    <QueryView query={query}>
      {({ qrCode, installUrl, installState }) => (
        <Group align="flex-start">
          {qrCode === '' ? (
            <Text size="sm">{STATE_WORDS[installState]}</Text>
          ) : (
            <Image
              src={qrCode}
              alt="QR code that installs the eSIM"
              w={220}
              h={220}
              bg="white"
              p={8}
              radius="md"
            />
          )}
          <Stack gap="xs" align="flex-start">
            {installUrl !== '' && (
              <>
                <Text size="sm">{PAGE_WORDS[installState]}</Text>
                <Group gap="xs">
                  <Text size="sm" className="breakable">
                    <Anchor href={installUrl} target="_blank" rel="noopener noreferrer" inherit>
                      {installUrl}
                    </Anchor>
                  </Text>
                  <Copy value={installUrl} label="Copy the link" />
                </Group>
              </>
            )}
            {children}
          </Stack>
        </Group>
      )}
    </QueryView>
  );
}

const STATE_WORDS = {
  NOT_DELIVERED: 'Not delivered yet.',
  READY: '',
  INSTALLED: 'Installed. A QR code works only once.',
  ENDED: 'It cannot be installed any more.',
} as const;

const PAGE_WORDS = {
  NOT_DELIVERED: 'The traveller’s page. It will have the QR code and the steps:',
  READY: 'Send this page to the traveller. It has the QR code and the steps:',
  INSTALLED: 'The traveller’s page. It shows what is left, and what to do if there is no internet:',
  ENDED: 'The traveller’s page. It says that the eSIM has ended:',
} as const;
