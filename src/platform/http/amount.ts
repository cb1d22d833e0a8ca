/** Amounts for people who look at the books: two decimals, four of the supplier's unit. Made from text, so that nothing is rounded. */
import { formatAmount, type Money } from '../../domain/money.ts';
import { decimalJson, type JsonNumber } from './json.ts';

export function amountJson(amount: Money): JsonNumber {
  return decimalJson(formatAmount(amount));
}
