/** How the shop looks to its travellers, with a picture of it that follows what is typed. */
import {
  Button,
  Card,
  ColorInput,
  FileButton,
  Group,
  Image,
  isLightColor,
  SimpleGrid,
  Stack,
  Switch,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, type ApiSchemas } from '../api/client.ts';
import { NumberField } from '../ui/number-field.tsx';
import { Facts, Failed, Page, QueryView, Section } from '../ui/parts.tsx';
import { SendForm, useSending } from '../ui/send-form.tsx';
import { useMembership, useRead } from './place.ts';

type Brand = ApiSchemas['Brand']['data'];

const DEFAULT_ACCENT = '#0b57d0';
/** As bright as this or brighter, black is easier to read on a colour than white. */
const BRIGHT = 0.179;

export function BrandPage() {
  const query = useRead('/account/brand', {});
  return (
    <Page title="Brand" about="How your shop looks on the page that installs an eSIM, and after a checkout.">
      <QueryView query={query} rows={14}>
        {(brand) => <Look brand={brand} />}
      </QueryView>
    </Page>
  );
}

const valuesOf = ({ autoTopUp, ...brand }: Brand) => ({
  shopName: brand.shopName ?? '',
  accentColor: brand.accentColor ?? '',
  supportEmail: brand.supportEmail ?? '',
  supportUrl: brand.supportUrl ?? '',
  supportPhone: brand.supportPhone ?? '',
  autoTopUp: {
    isOn: autoTopUp !== null,
    priceText: autoTopUp?.priceText ?? '',
    maxTopUps: String(autoTopUp?.maxTopUps ?? 5),
  },
});
type Values = ReturnType<typeof valuesOf>;

/** An empty field is not set. */
const bodyOfValues = ({ autoTopUp: { isOn, priceText, maxTopUps }, ...texts }: Values) => ({
  ...Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== '')),
  ...(isOn ? { autoTopUp: { priceText, maxTopUps: Number(maxTopUps) } } : {}),
});

function Look({ brand }: { readonly brand: Brand }) {
  const { may } = useMembership();
  const form = useForm<Values>({ initialValues: valuesOf(brand) });
  const sending = useSending(
    form,
    (values) => api.PUT('/account/brand', { body: bodyOfValues(values) }),
    () => notifications.show({ message: 'Saved.' }),
  );
  const values = form.getValues();
  const preview = <Preview values={values} logoPath={brand.logoPath} />;
  if (!may('webhooks'))
    return (
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Section title="The look">
          <Facts of={factsOf(brand)} />
        </Section>
        {preview}
      </SimpleGrid>
    );
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <Stack>
        <Section title="Logo">
          <Logo logoPath={brand.logoPath} />
        </Section>
        <Section title="The look">
          <SendForm sending={sending} label="Save" at="flex-start">
            <TextInput
              label="Name of the shop"
              description="Empty: the install page shows no name; the page after a checkout shows the name of the account"
              maxLength={60}
              {...form.getInputProps('shopName')}
            />
            <ColorInput
              label="Colour of buttons"
              description="The text on it is black or white, whichever is easier to read"
              placeholder={DEFAULT_ACCENT}
              withEyeDropper={false}
              {...form.getInputProps('accentColor')}
            />
            <TextInput label="E-mail for help" type="email" {...form.getInputProps('supportEmail')} />
            <TextInput
              label="Page for help"
              type="url"
              placeholder="https://"
              {...form.getInputProps('supportUrl')}
            />
            <TextInput
              label="Phone for help"
              description="With its country code, such as +44 20 7946 0018"
              type="tel"
              {...form.getInputProps('supportPhone')}
            />
            <Switch
              label="Offer automatic top-ups"
              description="Travellers may turn them on, within a limit. Your wallet pays each one. You decide what your traveller pays you"
              {...form.getInputProps('autoTopUp.isOn', { type: 'checkbox' })}
            />
            {values.autoTopUp.isOn && (
              <>
                <Textarea
                  label="What a traveller pays"
                  description="In your words. The price that your wallet pays is never shown"
                  placeholder="€4.50 for each top-up, charged to your card"
                  autosize
                  required
                  maxLength={120}
                  {...form.getInputProps('autoTopUp.priceText')}
                  error={form.errors['autoTopUp']}
                />
                <NumberField
                  label="Top-ups for one eSIM"
                  description="The most that one eSIM gets, over all agreements"
                  rules={{ decimals: 0, min: 1, max: 20, required: true }}
                  {...form.getInputProps('autoTopUp.maxTopUps')}
                />
              </>
            )}
          </SendForm>
        </Section>
      </Stack>
      {preview}
    </SimpleGrid>
  );
}

const factsOf = ({ autoTopUp, ...brand }: Brand) => ({
  'Name of the shop': brand.shopName ?? 'None',
  'Colour of buttons': brand.accentColor ?? 'Ours',
  'E-mail for help': brand.supportEmail ?? 'None',
  'Page for help': brand.supportUrl ?? 'None',
  'Phone for help': brand.supportPhone ?? 'None',
  'Automatic top-ups': autoTopUp?.priceText ?? 'Not offered',
});

async function base64Of(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  return btoa(Array.from(bytes, (byte) => String.fromCodePoint(byte)).join(''));
}

function Logo({ logoPath }: { readonly logoPath: string | null }) {
  const queries = useQueryClient();
  const changing = useMutation({
    mutationFn: async (file: File | null) =>
      file
        ? api.PUT('/account/brand/logo', { body: { image: await base64Of(file) } })
        : api.DELETE('/account/brand/logo', {}),
    onSuccess: () => queries.invalidateQueries(),
  });
  return (
    <Stack gap="xs" align="flex-start">
      <Text size="sm" c="dimmed">
        A PNG, JPEG or WebP picture of at most 128 KB, and of at most 1,024 pixels each way.
      </Text>
      <Group>
        <FileButton
          accept="image/png,image/jpeg,image/webp"
          onChange={(file) => file && changing.mutate(file)}
        >
          {(props) => (
            <Button variant="default" loading={changing.isPending} {...props}>
              {logoPath === null ? 'Choose a picture' : 'Choose another picture'}
            </Button>
          )}
        </FileButton>
        {logoPath !== null && (
          <Button variant="subtle" color="red" onClick={() => changing.mutate(null)}>
            Remove the logo
          </Button>
        )}
      </Group>
      {changing.error && <Failed error={changing.error} />}
    </Stack>
  );
}

const isColor = (text: string): boolean => /^#[0-9a-f]{6}$/i.test(text);

/** The parts of the page for travellers that the brand changes. */
function Preview({ values, logoPath }: { readonly values: Values; readonly logoPath: string | null }) {
  const { shopName, supportEmail, supportUrl, supportPhone, autoTopUp } = values;
  const accent = isColor(values.accentColor) ? values.accentColor : DEFAULT_ACCENT;
  const contacts = [supportUrl, supportEmail, supportPhone].filter((text) => text !== '');
  return (
    <Section title="What a traveller sees">
      <Stack gap="sm">
        <Group gap="sm" mih={40}>
          {logoPath !== null && <Image src={logoPath} alt="" h={40} w="auto" maw={160} fit="contain" />}
          <Text fw={650} className="breakable">
            {shopName}
          </Text>
        </Group>
        <Text fw={700} size="xl">
          Install your eSIM
        </Text>
        <Card
          radius="md"
          p="sm"
          style={{ background: accent, color: isLightColor(accent, BRIGHT) ? '#000' : '#fff' }}
        >
          <Text fw={650} c="inherit">
            Install on iPhone
          </Text>
        </Card>
        {autoTopUp.isOn && (
          <Card withBorder radius="md" p="sm">
            <Text fw={650}>Automatic top-up</Text>
            <Text size="sm" className="breakable">
              {autoTopUp.priceText}
            </Text>
          </Card>
        )}
        {contacts.length > 0 && (
          <Card withBorder radius="md" p="sm">
            <Text fw={650}>Questions? Ask the shop</Text>
            {contacts.map((text) => (
              <Text key={text} size="sm" className="breakable">
                {text}
              </Text>
            ))}
          </Card>
        )}
      </Stack>
    </Section>
  );
}
