import type { Money } from '../domain/money.ts';

export interface WalletView {
  readonly balance: Money;
  readonly updatedAt: Date;
}
