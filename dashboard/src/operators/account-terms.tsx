/** What was agreed with an account about returns and replacements. */
import { Button, Checkbox, Group, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { dataOf, ops } from '../api/client.ts';
import { NumberField } from '../ui/number-field.tsx';
import { numberText, readNumber } from '../ui/numbers.ts';
import { Facts, Section } from '../ui/parts.tsx';
import { useSending } from '../ui/send-form.tsx';
import { FormDialog, reasonError, ReasonField, type Dialog } from './form-dialog.tsx';
import { inPath, useEnvironment, useOperator, type AccountOverview } from './place.ts';

const DAYS = { decimals: 0, min: 0, max: 365, required: true };
const PERCENT = { min: 0, max: 100, required: true };
const TIMES = { decimals: 0, min: 1, max: 100, required: true };
const AS_INSTALLED = 'As the settings say';

const times = (count: number): string => (count === 1 ? 'once' : `${String(count)} times`);

export function AccountTerms({ of }: { readonly of: AccountOverview }) {
  const { may } = useOperator();
  const [isOpen, setIsOpen] = useState(false);
  const { returns, replacements } = of;
  return (
    <Section
      title="Returns and replacements"
      extra={
        may('accounts') && (
          <Button size="compact-sm" variant="default" onClick={() => setIsOpen(true)}>
            Change the terms
          </Button>
        )
      }
    >
      <Facts
        of={{
          Returns:
            returns === null
              ? AS_INSTALLED
              : returns.allowed
                ? `Within ${String(returns.windowDays)} days, fee ${String(returns.feePercent)} %`
                : 'Not allowed',
          Replacements:
            replacements === null
              ? AS_INSTALLED
              : replacements.allowed
                ? `Within ${String(replacements.windowDays)} days, the account pays ${String(replacements.sharePercent)} %, each purchase replaced at most ${times(replacements.maxCount)}`
                : 'Not allowed',
        }}
      />
      {isOpen && <TermsDialog of={of} onClose={() => setIsOpen(false)} />}
    </Section>
  );
}

const number = (typed: string, rules: typeof PERCENT): number => readNumber(typed, rules).value ?? 0;

function TermsDialog({ of, onClose }: Dialog & { readonly of: AccountOverview }) {
  const environment = useEnvironment();
  const { returns, replacements } = of;
  const form = useForm({
    initialValues: {
      ownReturns: returns !== null,
      returnsAllowed: returns?.allowed ?? true,
      returnDays: numberText(returns?.windowDays ?? 30),
      fee: numberText(returns?.feePercent ?? 0),
      ownReplacements: replacements !== null,
      replacementsAllowed: replacements?.allowed ?? true,
      replacementDays: numberText(replacements?.windowDays ?? 30),
      share: numberText(replacements?.sharePercent ?? 100),
      times: numberText(replacements?.maxCount ?? 1),
      reason: '',
    },
    validate: {
      returnDays: (typed, { ownReturns }) => (ownReturns ? readNumber(typed, DAYS).fault : null),
      fee: (typed, { ownReturns }) => (ownReturns ? readNumber(typed, PERCENT).fault : null),
      replacementDays: (typed, { ownReplacements }) =>
        ownReplacements ? readNumber(typed, DAYS).fault : null,
      share: (typed, { ownReplacements }) => (ownReplacements ? readNumber(typed, PERCENT).fault : null),
      times: (typed, { ownReplacements }) => (ownReplacements ? readNumber(typed, TIMES).fault : null),
      reason: reasonError,
    },
  });
  const { ownReturns, ownReplacements } = form.values;
  // Two people may change one each: a change of one must not undo that of the other.
  const isChanged = (...names: string[]): boolean => names.some((name) => form.isDirty(name));
  const sending = useSending(
    form,
    (typed) =>
      dataOf(
        ops.PATCH('/ops/accounts/{accountId}', {
          ...inPath(environment, { accountId: of.accountId }),
          body: {
            reason: typed.reason,
            ...(isChanged('ownReturns', 'returnsAllowed', 'returnDays', 'fee') && {
              returns: typed.ownReturns
                ? {
                    allowed: typed.returnsAllowed,
                    windowDays: number(typed.returnDays, DAYS),
                    feePercent: number(typed.fee, PERCENT),
                  }
                : null,
            }),
            ...(isChanged('ownReplacements', 'replacementsAllowed', 'replacementDays', 'share', 'times') && {
              replacements: typed.ownReplacements
                ? {
                    allowed: typed.replacementsAllowed,
                    windowDays: number(typed.replacementDays, DAYS),
                    sharePercent: number(typed.share, PERCENT),
                    maxCount: number(typed.times, TIMES),
                  }
                : null,
            }),
          },
        }),
      ),
    () => {
      onClose();
      notifications.show({ message: `${of.name}: changed`, color: 'green' });
    },
  );
  const checkbox = (name: 'ownReturns' | 'returnsAllowed' | 'ownReplacements' | 'replacementsAllowed') =>
    form.getInputProps(name, { type: 'checkbox' });
  return (
    <FormDialog title={`Terms of ${of.name}`} onClose={onClose} sending={sending} label="Change the terms">
      <Text size="sm">Applies in both environments to what is asked for from now on.</Text>
      <Checkbox label="Own terms for returns" {...checkbox('ownReturns')} />
      {ownReturns && (
        <>
          <Checkbox label="May return unused eSIMs" {...checkbox('returnsAllowed')} />
          <Group grow align="start">
            <NumberField label="Days for a return" rules={DAYS} {...form.getInputProps('returnDays')} />
            <NumberField label="Fee, %" rules={PERCENT} {...form.getInputProps('fee')} />
          </Group>
        </>
      )}
      <Checkbox label="Own terms for replacements" {...checkbox('ownReplacements')} />
      {ownReplacements && (
        <>
          <Checkbox label="May have eSIMs replaced" {...checkbox('replacementsAllowed')} />
          <Group grow align="end">
            <NumberField
              label="Days for a replacement"
              rules={DAYS}
              {...form.getInputProps('replacementDays')}
            />
            <NumberField label="The account pays, %" rules={PERCENT} {...form.getInputProps('share')} />
            <NumberField
              label="Replacements of one purchase"
              rules={TIMES}
              {...form.getInputProps('times')}
            />
          </Group>
        </>
      )}
      <ReasonField {...form.getInputProps('reason')} />
    </FormDialog>
  );
}
