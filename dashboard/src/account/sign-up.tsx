import { Anchor, SegmentedControl, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Link } from '@tanstack/react-router';
import { api, type ApiSchemas, dataOf } from '../api/client.ts';
import { EmailField, PasswordField } from '../ui/login-fields.tsx';
import { SendForm, useSending } from '../ui/send-form.tsx';
import { CardPage } from './card-page.tsx';
import { SandboxMail } from './sandbox-mail.tsx';

type Currency = ApiSchemas['SignUpRequest']['currency'];

const CURRENCIES: Record<Currency, string> = { USD: 'US dollar', NGN: 'Naira' };

export function SignUp() {
  const form = useForm({
    initialValues: { companyName: '', name: '', email: '', password: '', currency: 'USD' as Currency },
  });
  const sending = useSending(form, (body) => dataOf(api.POST('/auth/users', { body })));
  if (sending.result)
    return (
      <CardPage
        title="Check your e-mail"
        about={`We sent a link to ${form.values.email}. It opens your account and is valid for 24 hours.`}
      >
        <SandboxMail mail={sending.result.sandboxMail} />
        <Anchor component="button" type="button" size="sm" onClick={sending.reset}>
          Correct the e-mail address
        </Anchor>
      </CardPage>
    );
  return (
    <CardPage title="Open an account" about="For merchants who sell eSIMs. Testing is free.">
      <SendForm sending={sending} label="Open the account">
        <TextInput
          label="Company"
          autoComplete="organization"
          required
          {...form.getInputProps('companyName')}
        />
        <TextInput label="Your name" autoComplete="name" required {...form.getInputProps('name')} />
        <EmailField {...form.getInputProps('email')} />
        <PasswordField isNew required {...form.getInputProps('password')} />
        <div>
          <Text size="sm" fw={500} id="currency">
            Currency of your wallet
          </Text>
          <SegmentedControl
            fullWidth
            aria-labelledby="currency"
            data={Object.entries(CURRENCIES).map(([value, name]) => ({
              value,
              label: `${name} (${value})`,
            }))}
            {...form.getInputProps('currency')}
          />
        </div>
      </SendForm>
      <Text size="sm">
        Already have an account?{' '}
        <Anchor component={Link} to="/sign-in" underline="always">
          Sign in
        </Anchor>
      </Text>
    </CardPage>
  );
}
