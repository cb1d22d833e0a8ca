import { Text, TextInput, type TextInputProps } from '@mantine/core';
import { useState } from 'react';
import { formatAmount } from './format.ts';
import { readNumber, type NumberRules } from './numbers.ts';

/**
 * The field of every number, amounts of money above all. Its value is the text as it was typed, which
 * `readNumber` reads under the same rules. What has no clear meaning is refused beside the field once it is
 * left. With a currency, the amount is repeated in full.
 */
export function NumberField({
  rules = {},
  currency,
  value = '',
  onChange,
  onBlur,
  error,
  ...field
}: Omit<TextInputProps, 'value' | 'onChange'> & {
  readonly rules?: NumberRules;
  readonly currency?: string | undefined;
  readonly value?: string;
  readonly onChange: (typed: string) => void;
}) {
  const [isLeft, setIsLeft] = useState(false);
  const read = readNumber(value, { ...rules, required: false });
  return (
    <div>
      <TextInput
        inputMode={rules.decimals === 0 ? 'numeric' : 'decimal'}
        autoComplete="off"
        {...field}
        required={rules.required}
        value={value}
        error={error ?? (isLeft && read.fault)}
        onChange={({ currentTarget }) => {
          setIsLeft(false);
          onChange(currentTarget.value);
        }}
        onBlur={(event) => {
          setIsLeft(true);
          onBlur?.(event);
        }}
      />
      {currency !== undefined && read.value !== undefined && (
        <Text size="sm" role="status" mt={4}>
          {formatAmount(read.value, currency)}
        </Text>
      )}
    </div>
  );
}
